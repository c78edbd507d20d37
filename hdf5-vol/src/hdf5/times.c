/* SPDX-License-Identifier: MIT */
/* See times.h. */
#include "hdf5/times.h"

#include <stdlib.h>
#include <string.h>

static const bool host_is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

/* A unit between brackets, after a count: "10us". None stands for no unit. */
static bool take_unit(const char *text, zb_dtype_detail *detail) {
    unsigned long scale = 1;
    if (*text == '\0')
        return true;
    if (*text++ != '[')
        return false;
    if (*text >= '1' && *text <= '9') {
        char *end;
        scale = strtoul(text, &end, 10);
        text = end;
    }
    if (scale > INT32_MAX) /* numpy's own limit */
        return false;
    detail->scale = (uint32_t)scale;
    for (int unit = ZB_UNIT_YEAR; unit <= ZB_UNIT_ATTOSECOND; unit++) {
        const char *name = zb_time_unit_name((enum zb_time_unit)unit);
        const size_t length = strlen(name);
        if (strncmp(text, name, length) == 0 && strcmp(text + length, "]") == 0) {
            detail->unit = (enum zb_time_unit)unit;
            return true;
        }
    }
    return false;
}

static bool take_tag(const char *tag, zb_dtype_detail *detail, zb_dtype *dtype) {
    static const char prefix[] = "NUMPY:";
    *detail = (zb_dtype_detail){.unit = ZB_UNIT_GENERIC, .scale = 1};
    if (strncmp(tag, prefix, sizeof prefix - 1) != 0)
        return false;
    tag += sizeof prefix - 1;
    if ((tag[0] != '<' && tag[0] != '>') || (tag[1] != 'M' && tag[1] != 'm') || tag[2] != '8')
        return false;
    *dtype = (zb_dtype){.kind = tag[1] == 'M' ? ZB_KIND_DATETIME : ZB_KIND_TIMEDELTA,
                        .size = sizeof(int64_t),
                        .swapped = (tag[0] == '<') != host_is_little,
                        .detail = detail};
    return take_unit(tag + 3, detail);
}

bool vol_time_named(const char *name, zb_dtype_detail *detail, zb_dtype *dtype) {
    static const char *const names[] = {"numpy.datetime64", "numpy.timedelta64"};
    *detail = (zb_dtype_detail){.unit = ZB_UNIT_GENERIC, .scale = 1};
    for (int i = 0; i < 2; i++) {
        const size_t length = strlen(names[i]);
        if (strncmp(name, names[i], length) != 0)
            continue;
        *dtype = (zb_dtype){.kind = i == 0 ? ZB_KIND_DATETIME : ZB_KIND_TIMEDELTA,
                            .size = sizeof(int64_t),
                            .detail = detail};
        return strcmp(name + length, "[generic]") == 0 ||
               (name[length] == '[' && take_unit(name + length, detail));
    }
    return false;
}

bool vol_time_of(h5_lib *lib, hid_t type, zb_dtype_detail *detail, zb_dtype *dtype) {
    if (lib->H5Tget_class(type) != H5T_OPAQUE || lib->H5Tget_size(type) != sizeof(int64_t))
        return false;
    char *tag = lib->H5Tget_tag(type);
    const bool is_time = tag && take_tag(tag, detail, dtype);
    lib->H5free_memory(tag);
    return is_time;
}
