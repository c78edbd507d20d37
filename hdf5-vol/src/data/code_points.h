/* SPDX-License-Identifier: MIT */
/*
 * H5Dwrite of text that the store has as code points (fixed_length_utf32). HDF5 sees UTF-8 in as
 * many bytes, and cuts what is longer or has a NUL in it; so what it makes of a program's text has
 * room for all of that (vol_shown_written), and is looked at before any of it is stored.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_DATA_CODE_POINTS_H
#define ZARRBRIDGE_HDF5_VOL_DATA_CODE_POINTS_H

#include "data/transfer.h"

/* Completes a request in which HDF5 converts the program's elements. Pushes an error where memory
   runs out. */
herr_t vol_points_choose(h5_lib *lib, const vol_transfer *args, vol_request *out);

/* Whether the program's text is of any length, which HDF5 does not convert: then the request goes
   the way of datasets of strings, and this completes it. */
bool vol_points_variable(h5_lib *lib, const vol_transfer *args, vol_request *out);

/* Whether a write needs the look that comes first: the program has text for some code points. */
bool vol_points_checked(const vol_request *request);

/* The look: at `count` elements of the request's dtype, which `first` others have gone before. An
   error names the first one that the dataset does not take. */
herr_t vol_points_check(h5_lib *lib, const vol_request *request, uint64_t first, size_t count,
                        const char *elements);

/* Text of any length as elements of the request's dtype; what is too long for them stays too long
   for the store. And back: the slices point into the elements. */
void vol_points_put(const vol_request *request, const zb_slice *slices, size_t count,
                    char *elements);
void vol_points_get(const vol_request *request, const char *elements, size_t count,
                    zb_slice *slices);

#endif
