/* SPDX-License-Identifier: MIT */
/*
 * HDF5's conversion of elements in memory. It cannot do references without a type that knows its
 * file (and crashes then): old references, which are the tokens of nodes, go as numbers of 8 bytes.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_TYPES_CONVERT_H
#define ZARRBRIDGE_HDF5_VOL_TYPES_CONVERT_H

#include "hdf5/library.h"

#include <stddef.h>

/* The same type with numbers of 8 bytes in place of old references, for the caller to close; -1
   where there are references of other kinds. */
hid_t vol_type_without_references(h5_lib *lib, hid_t type);

/* Converts `count` elements from one type to another: `from` holds them, `to` has what stood there
   before, which matters for compounds, and gets them. What elements point at is made anew, by the
   memory manager of dxpl. -1 without a reason when HDF5 cannot, or memory runs out. */
herr_t vol_convert(h5_lib *lib, hid_t from_type, hid_t to_type, size_t count, const void *from,
                   void *to, hid_t dxpl);

#endif
