/* SPDX-License-Identifier: MIT */
/* What one copy has made of the objects of HDF5 files, found again when another link leads to
   them. */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_IMPORTED_H
#define ZARRBRIDGE_HDF5_VOL_COPY_IMPORTED_H

#include "hdf5/library.h"
#include "tree/map.h"

/* Those of one file. HDF5 numbers a file anew when it opens it again, as happens between two
   external links, so that files are known by their paths. Only a few are kept open: a file of links
   may lead to more files than a process can open. */
typedef struct vol_imported_file {
    struct vol_imported_file *next;
    unsigned long number; /* H5O_info2_t.fileno: the last one */
    char *path;           /* the real one, where there is one */
    vol_map by_address;   /* the vol_copied (walk.h) of its objects, by their addresses there */
} vol_imported_file;

typedef struct vol_imported {
    h5_lib *lib;
    vol_imported_file *first;
    hid_t kept; /* an object of the file that was opened last, which keeps it open; 0: none */
} vol_imported;

/* The name of the file that holds an object, as it was opened; malloc'ed, or NULL. */
char *vol_filename_of(h5_lib *lib, hid_t object);

/* Those of the file with that number, which an object in it has told; NULL, with an error pushed,
   when its path is not to be had. */
vol_imported_file *vol_imported_in(vol_imported *all, hid_t object, unsigned long number);

void vol_imported_clear(vol_imported *all);

#endif
