/* SPDX-License-Identifier: MIT */
/* The parts of the details of types. */
#include <string.h>

#include "zarrbridge/dtype.h"

const zb_field *zb_dtype_fields(zb_dtype dtype, size_t *count) {
    bool has_fields = dtype.kind == ZB_KIND_STRUCT && dtype.detail;
    *count = has_fields ? dtype.detail->field_count : 0;
    return has_fields ? dtype.detail->fields : NULL;
}

const zb_field *zb_dtype_field(zb_dtype dtype, const char *name) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    }
    return NULL;
}

enum zb_time_unit zb_dtype_unit(zb_dtype dtype, uint32_t *scale) {
    bool is_time = dtype.kind == ZB_KIND_DATETIME || dtype.kind == ZB_KIND_TIMEDELTA;
    bool has_unit = is_time && dtype.detail;
    if (scale)
        *scale = has_unit ? dtype.detail->scale : is_time;
    return has_unit ? dtype.detail->unit : ZB_UNIT_GENERIC;
}

enum zb_format zb_dtype_format(zb_dtype dtype) {
    bool is_small = dtype.kind == ZB_KIND_SMALL || dtype.kind == ZB_KIND_SMALL_COMPLEX;
    return is_small && dtype.detail ? dtype.detail->format : ZB_FORMAT_NONE;
}

const char *zb_time_unit_name(enum zb_time_unit unit) {
    static const char *const names[] = {
        [ZB_UNIT_GENERIC] = "generic", [ZB_UNIT_YEAR] = "Y",        [ZB_UNIT_MONTH] = "M",
        [ZB_UNIT_WEEK] = "W",          [ZB_UNIT_DAY] = "D",         [ZB_UNIT_HOUR] = "h",
        [ZB_UNIT_MINUTE] = "m",        [ZB_UNIT_SECOND] = "s",      [ZB_UNIT_MILLISECOND] = "ms",
        [ZB_UNIT_MICROSECOND] = "us",  [ZB_UNIT_NANOSECOND] = "ns", [ZB_UNIT_PICOSECOND] = "ps",
        [ZB_UNIT_FEMTOSECOND] = "fs",  [ZB_UNIT_ATTOSECOND] = "as",
    };
    return names[unit];
}
