/* SPDX-License-Identifier: MIT */
/* What one copy has made of the objects of HDF5 files, found again when another link leads to
   them. */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_IMPORTED_H
#define ZARRBRIDGE_HDF5_VOL_COPY_IMPORTED_H

#include "hdf5/library.h"
#include "model/map.h"
#include "model/node.h"

/* Those of one file. The first one is the caller's, with the number of the source's file. */
typedef struct vol_imported {
    struct vol_imported *next; /* of another file, which an expanded external link leads to */
    unsigned long file;        /* its number */
    vol_map by_address;        /* from addresses there to nodes */
} vol_imported;

/* NULL when nothing has been made of the object. */
vol_node *vol_imported_get(const vol_imported *first, const H5O_info2_t *info);

/* False when memory runs out. */
bool vol_imported_set(vol_imported *first, const H5O_info2_t *info, vol_node *node);

/* Frees all but the first. */
void vol_imported_clear(vol_imported *first);

#endif
