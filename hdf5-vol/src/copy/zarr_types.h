/* SPDX-License-Identifier: MIT */
/*
 * Types that only Zarr has, in HDF5 files: the attribute `zarr:data_type` (hdf5/shown.h), which
 * copies take along, names the type that a dataset's elements had in a store. A dataset that still
 * has the HDF5 type as which that one shows gets it back in a store.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_ZARR_TYPES_H
#define ZARRBRIDGE_HDF5_VOL_COPY_ZARR_TYPES_H

#include "attributes/attributes.h"

/* The type that a dataset of an HDF5 file names, for elements of the HDF5 type `type`: times,
   numbers of few bits and text of code points. False when it names none, or one that shows
   otherwise. `detail` is for *out. */
bool vol_zarr_type_of(h5_lib *lib, hid_t source, hid_t type, zb_dtype_detail *detail,
                      zb_dtype *out);

/* Whether `count` elements are the same after a conversion to another type and back. Buffers are
   made for a part of them at a time; a lack of memory counts as "no". */
bool vol_zarr_type_holds(zb_dtype from, const void *elements, size_t count, zb_dtype to);

/* What is said when they are not. */
enum zb_code vol_fail_narrow(zb_error *err);

#endif
