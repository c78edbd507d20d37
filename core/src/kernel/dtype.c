/* SPDX-License-Identifier: MIT */
/* What types are, without a document: comparing them, and the parts of their details. */
#include "kernel/dtype.h"

#include <string.h>

/* ---- Comparing ---- */

static bool same_unit(zb_dtype a, zb_dtype b) {
    uint32_t scale, other;
    return zb_dtype_unit(a, &scale) == zb_dtype_unit(b, &other) && scale == other;
}

bool zb__dtype_has_order(zb_dtype dtype) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    bool has_order = false;
    switch (dtype.kind) {
    case ZB_KIND_INT:
    case ZB_KIND_UINT:
    case ZB_KIND_FLOAT:
    case ZB_KIND_COMPLEX:
    case ZB_KIND_DATETIME:
    case ZB_KIND_TIMEDELTA:
    case ZB_KIND_UTF32:
    case ZB_KIND_SMALL:
        return dtype.size > 1;
    case ZB_KIND_SMALL_COMPLEX:
        return dtype.size > 2;
    case ZB_KIND_STRUCT:
        for (size_t i = 0; i < count && !has_order; i++)
            has_order = zb__dtype_has_order(fields[i].dtype);
        return has_order;
    case ZB_KIND_BOOL:
    case ZB_KIND_RAW:
    case ZB_KIND_STRING:
    case ZB_KIND_BYTES:
    case ZB_KIND_CHARS:
        break;
    }
    return false;
}

bool zb__dtype_holds_bool(zb_dtype dtype) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    bool holds = dtype.kind == ZB_KIND_BOOL;
    for (size_t i = 0; i < count && !holds; i++)
        holds = zb__dtype_holds_bool(fields[i].dtype);
    return holds;
}

bool zb__dtype_has_fields(zb_dtype dtype, zb_dtype other) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(other, &count);
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        const zb_field *own = zb_dtype_field(dtype, fields[i].name);
        good = own && zb__dtype_has_fields(own->dtype, fields[i].dtype);
    }
    return good;
}

/* `turned`: the structs around say that the orders of the two differ. The fields one by one:
   structs are as deep as the program that made them. */
static bool same_type(zb_dtype a, zb_dtype b, bool turned) {
    if (a.kind != b.kind || a.size != b.size)
        return false;
    turned ^= a.swapped != b.swapped;
    if (a.kind != ZB_KIND_STRUCT && turned && zb__dtype_has_order(a))
        return false;
    if (a.detail == b.detail && !turned)
        return true;
    size_t count, others;
    const zb_field *x = zb_dtype_fields(a, &count), *y = zb_dtype_fields(b, &others);
    bool same = count == others && same_unit(a, b) && zb_dtype_format(a) == zb_dtype_format(b);
    for (size_t i = 0; i < count && same; i++)
        same = x[i].offset == y[i].offset && strcmp(x[i].name, y[i].name) == 0 &&
               same_type(x[i].dtype, y[i].dtype, turned);
    return same;
}

bool zb_dtype_equal(zb_dtype a, zb_dtype b) {
    return same_type(a, b, false);
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
