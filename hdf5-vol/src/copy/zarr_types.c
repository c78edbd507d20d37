/* SPDX-License-Identifier: MIT */
/* Types that only Zarr has: see zarr_types.h. */
#include "copy/zarr_types.h"

#include "hdf5/errors.h"
#include "hdf5/shown.h"
#include "hdf5/times.h"
#include "hdf5/types.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zarrbridge/conventions.h"

/* The text of an attribute that is one string; malloc'ed, or NULL. */
static char *text_of(h5_lib *lib, hid_t attr) {
    hid_t type = lib->H5Aget_type(attr), space = lib->H5Aget_space(attr);
    char *text = NULL;
    if (lib->H5Tget_class(type) == H5T_STRING && lib->H5Sget_select_npoints(space) == 1) {
        const size_t size = lib->H5Tget_size(type);
        char *element = calloc(1, size);
        if (element && lib->H5Aread(attr, type, element) >= 0) {
            text = vol_attr_text(lib, type, element);
            if (lib->H5Tis_variable_str(type) > 0)
                lib->H5Treclaim(type, space, H5P_DEFAULT, element);
        }
        free(element);
    }
    vol_release_id(lib, type);
    vol_release_id(lib, space);
    return text;
}

/* ---- The type ---- */

/* As zb_dtype_print says it; the size has to be that of the elements. */
static bool text_named(const char *name, zb_dtype *out) {
    unsigned size;
    int end = 0;
    if (sscanf(name, "fixed_length_utf32[%9u]%n", &size, &end) != 1 || end == 0 ||
        name[end] != '\0' || size == 0 || size % sizeof(uint32_t) != 0)
        return false;
    *out = (zb_dtype){.kind = ZB_KIND_UTF32, .size = size};
    return true;
}

/* A type that shows as another one, whatever it is. */
static bool shown_type_named(const char *name, zb_dtype *out) {
    return zb_dtype_from_name(name, out) && !zb_dtype_equal(zb_dtype_shown(*out), *out);
}

static bool parse(const char *name, zb_dtype_detail *detail, zb_dtype *out) {
    return vol_time_named(name, detail, out) || text_named(name, out) ||
           shown_type_named(name, out);
}

bool vol_zarr_type_of(h5_lib *lib, hid_t source, hid_t type, zb_dtype_detail *detail,
                      zb_dtype *out) {
    vol_silence silence;
    vol_silence_begin(lib, &silence);
    hid_t attr = lib->H5Aopen(source, VOL_DATA_TYPE, H5P_DEFAULT); /* most have none */
    char *name = attr >= 0 ? text_of(lib, attr) : NULL;
    const bool good = name && parse(name, detail, out) && vol_type_shows(lib, type, *out);
    free(name);
    vol_release_id(lib, attr);
    vol_silence_end(lib, &silence);
    return good;
}

/* ---- Elements ---- */

/* A float that is no number may be another such. */
static bool are_same(zb_dtype dtype, const char *a, const char *b, size_t count) {
    if (memcmp(a, b, count * dtype.size) == 0)
        return true;
    if (dtype.kind != ZB_KIND_FLOAT && dtype.kind != ZB_KIND_COMPLEX)
        return false;
    for (size_t i = 0; i < count * dtype.size / sizeof(float); i++) {
        float left, right;
        memcpy(&left, a + i * sizeof left, sizeof left);
        memcpy(&right, b + i * sizeof right, sizeof right);
        if (memcmp(&left, &right, sizeof left) != 0 && !(isnan(left) && isnan(right)))
            return false;
    }
    return true;
}

bool vol_zarr_type_holds(zb_dtype from, const void *elements, size_t count, zb_dtype to) {
    enum { PART = 4096 };
    const char *at = elements;
    char *there = malloc(PART * (size_t)to.size), *back = malloc(PART * (size_t)from.size);
    bool good = there && back;
    for (size_t i = 0; i < count && good; i += PART, at += PART * (size_t)from.size) {
        const size_t some = count - i < PART ? count - i : PART;
        good = zb_dtype_convert(from, at, to, there, some) &&
               zb_dtype_convert(to, there, from, back, some) && are_same(from, at, back, some);
    }
    free(there);
    free(back);
    return good;
}

enum zb_code vol_fail_narrow(zb_error *err) {
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "an element does not fit into the type that the attribute '" VOL_DATA_TYPE
                   "' names; delete the attribute to keep the type that the elements have");
}
