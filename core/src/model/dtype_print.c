/* SPDX-License-Identifier: MIT */
/* Types with their details, as text for people and as JSON. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/extension.h"
#include "base/json_brief.h"
#include "base/json_writer.h"
#include "kernel/small.h"
#include "kernel/texts.h"
#include "model/dtype.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"
#include "zarrbridge/limits.h"

/* ---- For people ---- */

typedef struct print {
    char *text;
    size_t size, used; /* used may run past size: the rest is cut off */
} print;

static void add(print *p, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t left = p->used < p->size ? p->size - p->used : 0;
    int count = vsnprintf(left ? p->text + p->used : NULL, left, format, arguments);
    p->used += count > 0 ? (size_t)count : 0;
    va_end(arguments);
}

static void print_dtype(print *p, zb_dtype dtype) {
    char name[ZB_DTYPE_NAME_SIZE];
    size_t count;
    uint32_t scale;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    enum zb_time_unit unit = zb_dtype_unit(dtype, &scale);
    add(p, "%s", zb_dtype_name(dtype, name));
    if (dtype.kind == ZB_KIND_CHARS || dtype.kind == ZB_KIND_UTF32)
        add(p, "[%u]", dtype.size);
    if (scale > 1)
        add(p, "[%u%s]", scale, zb_time_unit_name(unit));
    else if (scale == 1)
        add(p, "[%s]", zb_time_unit_name(unit));
    for (size_t i = 0; i < count; i++) {
        add(p, "%s%s: ", i ? ", " : "{", fields[i].name);
        print_dtype(p, fields[i].dtype);
    }
    if (count > 0)
        add(p, "}");
}

const char *zb_dtype_print(zb_dtype dtype, char *text, size_t size) {
    print p = {.text = text, .size = size};
    if (size > 0)
        *text = '\0';
    print_dtype(&p, dtype);
    return text;
}

/* ---- For documents ---- */

static enum zb_code check_struct(zb_dtype dtype, zb_error *err) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    char brief[ZB__BRIEF_SIZE];
    uint64_t end = 0;
    if (count == 0 || count > zb_limits_get()->fields)
        return zb_fail(err, ZB_EINVAL, "a struct with %zu fields, expected 1 to %llu", count,
                       (unsigned long long)zb_limits_get()->fields);
    for (size_t i = 0; i < count; i++) {
        const char *name = fields[i].name;
        if (!name || !*name || !zb__is_utf8(name, strlen(name)) ||
            zb_dtype_field(dtype, name) != &fields[i])
            return zb_fail(err, ZB_EINVAL, "field %zu has no name of its own in UTF-8", i);
        if (fields[i].offset < end || fields[i].offset > dtype.size ||
            fields[i].dtype.size > dtype.size - fields[i].offset)
            return zb_fail(err, ZB_EINVAL, "field %s lies outside the struct, or in another field",
                           zb__name_brief(name, brief));
        end = (uint64_t)fields[i].offset + fields[i].dtype.size;
        if (zb_dtype_is_variable(fields[i].dtype))
            return zb_fail(err, ZB_EUNSUPPORTED,
                           "field %s has no fixed size, which fields of a struct have",
                           zb__name_brief(name, brief));
        enum zb_code code = zb__dtype_check(fields[i].dtype, err);
        if (code)
            return zb_error_prefix(err, code, "field %s", zb__name_brief(name, brief));
    }
    return ZB_OK;
}

/* Is there a type of this kind and size? */
static bool is_known(zb_dtype dtype) {
    char name[ZB_DTYPE_NAME_SIZE];
    uint32_t scale;
    zb_dtype named;
    switch (dtype.kind) {
    case ZB_KIND_RAW:
    case ZB_KIND_CHARS:
        return dtype.size > 0;
    case ZB_KIND_UTF32:
        return dtype.size > 0 && dtype.size % 4 == 0;
    case ZB_KIND_DATETIME:
    case ZB_KIND_TIMEDELTA:
        zb_dtype_unit(dtype, &scale);
        return dtype.size == sizeof(int64_t) && scale > 0 && scale <= INT32_MAX;
    case ZB_KIND_SMALL:
    case ZB_KIND_SMALL_COMPLEX:
        return zb_dtype_format(dtype) != ZB_FORMAT_NONE &&
               dtype.size == zb__format_bytes(zb_dtype_format(dtype))
                                 << (dtype.kind == ZB_KIND_SMALL_COMPLEX);
    case ZB_KIND_BOOL:
    case ZB_KIND_INT:
    case ZB_KIND_UINT:
    case ZB_KIND_FLOAT:
    case ZB_KIND_COMPLEX:
    case ZB_KIND_STRING:
    case ZB_KIND_BYTES:
    case ZB_KIND_STRUCT:
        break;
    }
    return zb_dtype_from_name(zb_dtype_name(dtype, name), &named) && named.size == dtype.size;
}

enum zb_code zb__dtype_check(zb_dtype dtype, zb_error *err) {
    if (dtype.kind == ZB_KIND_STRUCT)
        return check_struct(dtype, err);
    if (is_known(dtype))
        return ZB_OK;
    return zb_fail(err, ZB_EINVAL, "no data type of kind %d has %u bytes", (int)dtype.kind,
                   dtype.size);
}

static void write_string(zb_json_writer *w, const char *name, const char *value) {
    zb_json_write_name(w, name);
    zb_json_write_string(w, value);
}

static void write_fields(zb_json_writer *w, zb_dtype dtype) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    zb_json_write_name(w, "fields");
    zb_json_begin_array(w);
    for (size_t i = 0; i < count; i++) {
        zb_json_begin_object(w);
        write_string(w, "name", fields[i].name);
        zb_json_write_name(w, "data_type");
        zb__dtype_write(w, fields[i].dtype);
        zb_json_end_object(w);
    }
    zb_json_end_array(w);
}

/* Types without a configuration are bare names: some readers take no other form. r<bits> is what
   the specification calls raw_bytes, but few readers know it. */
void zb__dtype_write(zb_json_writer *w, zb_dtype dtype) {
    char name[64];
    uint32_t scale;
    const enum zb_time_unit unit = zb_dtype_unit(dtype, &scale);
    const bool has_length =
        dtype.kind == ZB_KIND_RAW || dtype.kind == ZB_KIND_CHARS || dtype.kind == ZB_KIND_UTF32;
    if (!has_length && scale == 0 && dtype.kind != ZB_KIND_STRUCT) {
        zb_json_write_string(w, zb_dtype_print(dtype, name, sizeof name));
        return;
    }
    zb__extension_begin(w, dtype.kind == ZB_KIND_RAW ? "raw_bytes" : zb_dtype_name(dtype, name));
    if (has_length) {
        zb_json_write_name(w, "length_bytes");
        zb_json_write_uint64(w, dtype.size);
    } else if (scale > 0) {
        write_string(w, "unit", zb_time_unit_name(unit));
        zb_json_write_name(w, "scale_factor");
        zb_json_write_uint64(w, scale);
    } else {
        write_fields(w, dtype);
    }
    zb__extension_end(w);
}
