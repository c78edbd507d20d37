/* SPDX-License-Identifier: MIT */
/* Codecs as HDF5's filters: the way back from filters_to_codecs.c. */
#ifndef ZARRBRIDGE_HDF5_VOL_CREATE_CODECS_TO_FILTERS_H
#define ZARRBRIDGE_HDF5_VOL_CREATE_CODECS_TO_FILTERS_H

#include "hdf5/library.h"

#include "zarrbridge/zarrbridge.h"

#include <stddef.h>

/* Filters of HDF5's registry that codecs stand for. */
#define VOL_FILTER_BZIP2 307
#define VOL_FILTER_BLOSC 32001
#define VOL_FILTER_LZ4 32004
#define VOL_FILTER_BITSHUFFLE 32008
#define VOL_FILTER_ZSTD 32015
#define VOL_FILTER_BLOSC2 32026

/* Adds the filters that stand for the codecs of the innermost chunks: HDF5 sees no chunk on which
   those around a shard work. Only those that the library has: with one that it lacks, h5repack and
   h5diff skip the dataset. */
void vol_filters_add(h5_lib *lib, hid_t dcpl, const zb_array_info *info);

/* True if the filters of the list are those that vol_filters_add adds. */
bool vol_filters_are_of(h5_lib *lib, hid_t dcpl, const zb_array_info *info);

/* The filters of the list with the values that they have in a dataset of HDF5's own: when one is
   made, a plug-in's filter may put into its values what it knows of the dataset (blosc: the bytes
   of elements and chunks), and programs look there. A new list, of filters alone; -1 where the list
   has no filter of a plug-in, or HDF5 makes no such dataset. */
hid_t vol_filters_of_made(h5_lib *lib, hid_t type, hid_t dcpl);

/* A filter of a list, with the first of its values. */
#define VOL_FILTER_VALUES 16

typedef struct vol_filter {
    H5Z_filter_t id;
    unsigned flags; /* H5Z_FLAG_... */
    bool is_cut;    /* it has more values */
    size_t count;
    unsigned values[VOL_FILTER_VALUES];
} vol_filter;

vol_filter vol_filter_at(h5_lib *lib, hid_t dcpl, unsigned number);

/* ---- The size of a chunk ---- */

/*
 * A filter that changes no bytes and counts them. HDF5 believes the filters of a chunk: where they
 * give less than the chunk's elements, it reads on in memory behind them, in H5Z_pipeline's
 * callers.
 */

/* A dataset creation list like this one, without the filters of a mask, in which reading a chunk
   fails if the others do not give so many bytes. The mask of its chunks is 0: the numbers of the
   filters are other ones. The caller closes it. -1, with the error on the stack. */
hid_t vol_size_checked(h5_lib *lib, hid_t dcpl, uint32_t mask, size_t bytes);

#endif
