/* SPDX-License-Identifier: MIT */
/* Pieces of arrays of strings, or bytes of any number: the core's slices, and HDF5's char * or
   hvl_t in the same buffer. */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_STRINGS_H
#define ZARRBRIDGE_HDF5_VOL_COPY_STRINGS_H

#include "copy/pieces.h"
#include "tree/node.h"

/* Reads the current piece into `buffer`, as char *, or hvl_t, of their own where the array holds
   such: to be freed with vol_strings_free, which the failed call has done. Pushes errors. */
herr_t vol_strings_read(const vol_pieces *pieces, vol_node *node, void *buffer);
void vol_strings_free(const vol_pieces *pieces, void *buffer);

/* Makes slices of what HDF5 has read into `buffer` (item: bytes of an item of a sequence); the
   second frees the texts of the slices. Both leave anything but strings as it is. */
void vol_strings_to_slices(const vol_pieces *pieces, size_t item, void *buffer);
void vol_slices_free(const vol_pieces *pieces, void *buffer);

#endif
