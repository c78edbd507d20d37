/* SPDX-License-Identifier: MIT */
/* Property lists that programs pass. HDF5 hands their ids to connectors unchecked. */
#ifndef ZARRBRIDGE_HDF5_VOL_HDF5_PROPERTY_LISTS_H
#define ZARRBRIDGE_HDF5_VOL_HDF5_PROPERTY_LISTS_H

#include "hdf5/library.h"

/* Whether an id is a property list of the class, or stands for the default one. Pushes an error and
   returns false otherwise. */
bool vol_list_check(h5_lib *lib, hid_t list, hid_t class);

/* ---- Lists of files ---- */

/*
 * The creation and access property lists of files. docs/hdf5.md has the table of all properties:
 * each one acts, changes no data, or is refused here.
 */

/* The place where the file driver of an access list keeps a file. */
enum vol_driver {
    VOL_DRIVER_FILE,   /* at its path */
    VOL_DRIVER_IMAGE,  /* in an image that the program has passed: H5Pset_file_image */
    VOL_DRIVER_MEMORY, /* in memory, and nowhere else: H5Pset_fapl_core without a backing store */
    VOL_DRIVER_OTHER   /* in several files, on a server, where the program's own driver likes it */
};

enum vol_driver vol_fapl_driver(h5_lib *lib, hid_t fapl);

/* Whether its driver is sec2, whose handle is a descriptor. */
bool vol_fapl_is_sec2(h5_lib *lib, hid_t fapl);

/* Refuse what a store cannot do: they push an error and return false. `writable` tells whether the
   file is going to be changed. */
bool vol_fapl_check(h5_lib *lib, hid_t fapl, bool writable);
bool vol_fcpl_check(h5_lib *lib, hid_t fcpl);

/* The properties that act for as long as a file is open. */
typedef struct vol_manners {
    hid_t list;                      /* a copy of the access list; 0 for the default one. Owned */
    H5F_close_degree_t close_degree; /* never H5F_CLOSE_DEFAULT */
    H5F_flush_cb_t flushed;          /* called after an object was flushed; NULL for none */
    void *flushed_context;           /* the program's */
    bool is_netcdf;                  /* vol_fapl_is_netcdf; set by who opens the file */
} vol_manners;

/* Does the access list come from netCDF-C? Its library is in the process then, and states HDF5's
   usual way of closing, of which other programs say nothing, or another one (h5py). */
bool vol_fapl_is_netcdf(h5_lib *lib, hid_t fapl);

/* False without memory. Cleared by vol_manners_clear. */
bool vol_fapl_read(h5_lib *lib, hid_t fapl, vol_manners *out);
bool vol_manners_copy(h5_lib *lib, const vol_manners *from, vol_manners *out);
void vol_manners_clear(h5_lib *lib, vol_manners *manners);

/* A new access list: that with which the file was opened, which also tells the properties that
   change nothing for a store; -1 on failure. */
hid_t vol_fapl_new(h5_lib *lib, const vol_manners *manners);

/* Refuses what a store cannot do with a dataset's access list. */
bool vol_dapl_check(h5_lib *lib, hid_t dapl);

#endif
