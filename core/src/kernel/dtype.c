/* SPDX-License-Identifier: MIT */
/* What types are, without a document: comparing them, and the parts of their details. */
#include "zarrbridge/dtype.h"

#include <string.h>

/* ---- Comparing ---- */

/* The fields one by one: structs are as deep as the program that made them. */
static bool same_fields(zb_dtype a, zb_dtype b) {
    size_t count, others;
    const zb_field *x = zb_dtype_fields(a, &count), *y = zb_dtype_fields(b, &others);
    bool same = count == others;
    for (size_t i = 0; i < count && same; i++)
        same = x[i].offset == y[i].offset && strcmp(x[i].name, y[i].name) == 0 &&
               zb_dtype_equal(x[i].dtype, y[i].dtype);
    return same;
}

static bool same_unit(zb_dtype a, zb_dtype b) {
    uint32_t scale, other;
    return zb_dtype_unit(a, &scale) == zb_dtype_unit(b, &other) && scale == other;
}

/* Of a struct, whose fields have a byte order each, and of what is bytes, `swapped` says nothing.
 */
static bool has_byte_order(zb_dtype dtype) {
    switch (dtype.kind) {
    case ZB_KIND_INT:
    case ZB_KIND_UINT:
    case ZB_KIND_FLOAT:
    case ZB_KIND_COMPLEX:
    case ZB_KIND_DATETIME:
    case ZB_KIND_TIMEDELTA:
        return dtype.size > 1;
    case ZB_KIND_BOOL:
    case ZB_KIND_RAW:
    case ZB_KIND_STRING:
    case ZB_KIND_BYTES:
    case ZB_KIND_STRUCT:
        break;
    }
    return false;
}

bool zb_dtype_equal(zb_dtype a, zb_dtype b) {
    if (a.kind != b.kind || a.size != b.size || (a.swapped != b.swapped && has_byte_order(a)))
        return false;
    return a.detail == b.detail || (same_fields(a, b) && same_unit(a, b));
}

/* ---- Parts ---- */

bool zb_dtype_is_variable(zb_dtype dtype) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    bool variable = dtype.kind == ZB_KIND_STRING || dtype.kind == ZB_KIND_BYTES;
    for (size_t i = 0; i < count && !variable; i++)
        variable = zb_dtype_is_variable(fields[i].dtype);
    return variable;
}

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
