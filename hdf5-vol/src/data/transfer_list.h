/* SPDX-License-Identifier: MIT */
/*
 * The requests of a data transfer property list. docs/hdf5.md has the table of all its properties:
 * each one acts, or is refused.
 *
 * With any list but a default one, HDF5 itself moves the elements between the program's type and
 * the stored one, by a dataset in memory (vol_dxpl_convert): so transforms, callbacks, buffers and
 * properties that we have never heard of do what they do for HDF5's own files. Only properties that
 * concern the storage are left to be refused.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_DATA_TRANSFER_LIST_H
#define ZARRBRIDGE_HDF5_VOL_DATA_TRANSFER_LIST_H

#include "tree/tree.h"

typedef struct vol_dxpl {
    hid_t id;  /* borrowed, or `own` */
    hid_t own; /* a copy without what is of HDF5's own files alone; 0: none */
    bool custom;
    bool is_collective;   /* H5FD_MPIO_COLLECTIVE: all ranks of the file make the call */
    bool skips_checksums; /* H5Pset_edc_check */
    bool sees_filters;    /* H5Pset_filter_callback */
} vol_dxpl;

/* Pushes an error and returns -1 where there is no memory; else to be cleared. */
herr_t vol_dxpl_make(h5_lib *lib, hid_t id, vol_dxpl *out);
void vol_dxpl_clear(h5_lib *lib, vol_dxpl *list);

/* Refuses likewise requests that this dataset cannot serve. */
herr_t vol_dxpl_check(const vol_dxpl *list, const vol_node *dataset, bool writing);

/* Converts `count` elements of `data` in place, from `memory` to `stored` when writing, else back.
   background: the elements that are where they go, for compounds of which only some members are
   moved; may be NULL when writing. Pushes no error of its own. */
herr_t vol_dxpl_convert(h5_lib *lib, const vol_dxpl *list, hid_t memory, hid_t stored, bool writing,
                        size_t count, void *data, const void *background);

/* A file of HDF5's own in memory, for conversions and filters by HDF5 itself; -1 on failure. */
hid_t vol_scratch_file(h5_lib *lib);

#endif
