/* SPDX-License-Identifier: MIT */
/* The Zarr type in which elements of an HDF5 type are stored, with the memory that it needs. */
#ifndef ZARRBRIDGE_HDF5_VOL_CREATE_ELEMENT_H
#define ZARRBRIDGE_HDF5_VOL_CREATE_ELEMENT_H

#include "hdf5/library.h"
#include "zarrbridge/zarrbridge.h"

/* `swapped` in dtype: stored in the byte order opposite to the host's. Fields of structs lie side by
   side, in the host's order. */
typedef struct vol_element {
    zb_dtype dtype;
    bool is_utf8; /* has text of a fixed size, all of it of that character set */
    void **owned; /* details, lists of fields, names */
    size_t owned_count;
} vol_element;

/* ZB_EUNSUPPORTED, with what to do instead, for a type that Zarr has no form for. Freed with
   vol_element_clear, also after an error. */
enum zb_code vol_element_make(h5_lib *lib, hid_t type, vol_element *out, zb_error *err);
void vol_element_clear(vol_element *element);

#endif
