/* SPDX-License-Identifier: MIT */
/*
 * The Zarr type in which elements of an HDF5 type are stored, with the memory that it needs.
 *
 * Two descriptions belong together: how an element is stored, and where its parts lie in an element
 * of the HDF5 type itself, so that the core reads and writes such elements. Enumerations are their
 * integers to both, bitfields unsigned integers; arrays are bytes, and so are integers of other
 * sizes or with padding.
 *
 * Elements that point at others, or hold references, are texts to the core (nested): what these say
 * is up to attributes/elements.h.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_TYPES_STORED_TYPE_H
#define ZARRBRIDGE_HDF5_VOL_TYPES_STORED_TYPE_H

#include "hdf5/library.h"
#include "zarrbridge/zarrbridge.h"

/* `swapped` in dtype: stored in the byte order opposite to the host's. Fields of structs lie side
   by side, in the host's order. */
typedef struct vol_element {
    zb_dtype dtype; /* stored */
    zb_dtype view; /* an element of the HDF5 type, byte for byte; a text, too, where it is nested */
    bool nested;
    void **owned; /* details, lists of fields, names */
    size_t owned_count;
} vol_element;

/* ZB_EUNSUPPORTED, with what to do instead, for a type that Zarr has no form for. Freed with
   vol_element_clear, also after an error. */
enum zb_code vol_element_make(h5_lib *lib, hid_t type, vol_element *out, zb_error *err);
void vol_element_clear(vol_element *element);

/* Whether that is how an array is stored, whose type may have come from another program. */
bool vol_element_fits(const vol_element *element, zb_dtype stored);

#endif
