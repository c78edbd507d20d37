/* SPDX-License-Identifier: MIT */
/* Types kept between calls: see held_types.h. */
#include "hdf5/held_types.h"

#include <stdlib.h>
#include <string.h>

bool vol_type_hold(h5_lib *lib, hid_t type, vol_held_type *out) {
    size_t size = 0;
    *out = (vol_held_type){.bytes = NULL};
    if (type < 0 || lib->H5Tencode(type, NULL, &size) < 0)
        return false;
    void *bytes = malloc(size);
    if (!bytes || lib->H5Tencode(type, bytes, &size) < 0) {
        free(bytes);
        return false;
    }
    *out = (vol_held_type){.bytes = bytes, .size = size, .class = lib->H5Tget_class(type)};
    out->has_lists_of_references =
        lib->H5Tdetect_class(type, H5T_REFERENCE) > 0 && lib->H5Tdetect_class(type, H5T_VLEN) > 0;
    return true;
}

/* HDF5 does not say of references in decoded sequences that they lie in memory, so that such a type
   equals no other one. A copy of it is as it should be. */
hid_t vol_held_new(h5_lib *lib, const vol_held_type *held) {
    if (!held->bytes)
        return -1;
    hid_t made =
        lib->H5Tdecode2 ? lib->H5Tdecode2(held->bytes, held->size) : lib->H5Tdecode1(held->bytes);
    if (made < 0 || !held->has_lists_of_references)
        return made;
    hid_t copy = lib->H5Tcopy(made);
    lib->H5Tclose(made);
    return copy;
}

/* Types of one encoding are equal; making an id of the held one costs more. */
bool vol_held_is(h5_lib *lib, const vol_held_type *held, hid_t type) {
    unsigned char bytes[256];
    size_t size = held->size;
    if (!held->bytes || lib->H5Tget_class(type) != held->class)
        return false;
    if (size <= sizeof bytes) {
        memset(bytes, 0, size);
        if (lib->H5Tencode(type, bytes, &size) >= 0 && size == held->size &&
            memcmp(bytes, held->bytes, size) == 0)
            return true;
    }
    hid_t made = vol_held_new(lib, held);
    const bool same = made >= 0 && lib->H5Tequal(made, type) > 0;
    if (made >= 0)
        lib->H5Tclose(made);
    return same;
}

void vol_held_free(vol_held_type *held) {
    free(held->bytes);
    *held = (vol_held_type){.bytes = NULL};
}
