/* SPDX-License-Identifier: MIT */
/*
 * Types by the rows of their kinds: comparing and describing them, and types in documents.
 *
 * A name that is unknown is not guessed at: the array is listed as unreadable, with the name in the
 * reason. What a document says of a type beyond its name becomes a detail, in the array's memory.
 */
#include "types/dtype.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "types/kinds.h"
#include "util/extension.h"
#include "util/json_excerpt.h"
#include "zarrbridge/json.h"

/* ---- Comparing ---- */

bool zb__dtype_has_order(zb_dtype dtype) {
    const zb__kind *kind = zb__kind_of(dtype);
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    bool has_order = kind->components ? dtype.size > kind->components : kind->order_bytes > 1;
    for (size_t i = 0; i < count && !has_order; i++)
        has_order = zb__dtype_has_order(fields[i].dtype);
    return has_order;
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

static bool same_detail(zb_dtype a, zb_dtype b) {
    uint32_t scale, other;
    return zb_dtype_unit(a, &scale) == zb_dtype_unit(b, &other) && scale == other &&
           zb_dtype_format(a) == zb_dtype_format(b) && zb__kind_of(a) == zb__kind_of(b);
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
    bool same = count == others && same_detail(a, b);
    for (size_t i = 0; i < count && same; i++)
        same = x[i].offset == y[i].offset && strcmp(x[i].name, y[i].name) == 0 &&
               same_type(x[i].dtype, y[i].dtype, turned);
    return same;
}

bool zb_dtype_equal(zb_dtype a, zb_dtype b) {
    return same_type(a, b, false);
}

bool zb_dtype_is_variable(zb_dtype dtype) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    bool variable = zb__is_slice(dtype);
    for (size_t i = 0; i < count && !variable; i++)
        variable = zb_dtype_is_variable(fields[i].dtype);
    return variable;
}

/* ---- For people ---- */

const char *zb__dtype_own_name(zb_dtype dtype) {
    const zb__kind *kind = zb__kind_of(dtype);
    const enum zb_format format = zb_dtype_format(dtype);
    if (kind->name)
        return kind->name;
    for (const zb__type_name *entry = kind->names; entry->name; entry++) {
        const enum zb_format named = entry->detail ? entry->detail->format : ZB_FORMAT_NONE;
        if (entry->size == dtype.size && named == format)
            return entry->name;
    }
    return NULL;
}

/* Every dtype has a name. */
const char *zb_dtype_name(zb_dtype dtype, char text[ZB_DTYPE_NAME_SIZE]) {
    const char *name = zb__dtype_own_name(dtype);
    if (name)
        snprintf(text, ZB_DTYPE_NAME_SIZE, "%s", name);
    else
        snprintf(text, ZB_DTYPE_NAME_SIZE, "r%llu", 8ull * dtype.size);
    return text;
}

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
    if (zb__kind_of(dtype)->prints_size)
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

/* ---- From documents ---- */

bool zb_dtype_from_name(const char *name, zb_dtype *out) {
    const zb__type_name *entry;
    const zb__kind *kind = zb__kind_named(name, &entry);
    if (!kind || !entry || entry->size == 0)
        return false;
    *out = zb__type_of(kind, entry);
    return true;
}

/* A draft of zarrs, which has not been registered. An element of it is a value or null, and a null
   one is not stored. No number, text or struct says that, in the core, in HDF5 or in GDAL: the
   model would need a mask beside the elements of each box. */
static bool is_optional(const char *name) {
    return strcmp(name, "optional") == 0 || strcmp(name, "zarrs.optional") == 0;
}

static enum zb_code unknown(const char *name, zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    if (is_optional(name))
        return zb_fail(
            err, ZB_EUNSUPPORTED,
            "data_type \"%s\" is not supported: a draft whose elements may be null; write "
            "the values and the mask as two arrays, with zarrs",
            name);
    return zb_fail(err, ZB_EUNSUPPORTED, "data_type %s is not supported",
                   zb__name_excerpt(name, excerpt));
}

static enum zb_code parse_named(const zb_json *value, zb__arena *memory, zb_dtype *out,
                                zb_error *err) {
    static const char *const no_configuration[] = {NULL};
    zb__extension type;
    const zb__type_name *entry;
    enum zb_code code = zb__extension_parse(value, "data_type", &type, err);
    if (code)
        return code;
    const zb__kind *kind = zb__kind_named(type.name, &entry);
    if (!kind)
        return unknown(type.name, err);
    if (kind->parse)
        return kind->parse(kind, &type, memory, out, err);
    *out = zb__type_of(kind, entry);
    return zb__extension_check(&type, "data_type", no_configuration, err);
}

/* A draft of the format let a type name another one, as what its elements may be read by programs
   that do not know it. */
enum zb_code zb__dtype_parse(const zb_json *value, zb__arena *memory, zb_dtype *out,
                             zb_error *err) {
    enum zb_code code = parse_named(value, memory, out, err);
    const zb_json *fallback = zb_json_get(value, "fallback");
    if (code == ZB_EUNSUPPORTED && zb_json_string(fallback))
        code = parse_named(fallback, memory, out, err);
    return code;
}

/* ---- To documents ---- */

static bool exists(zb_dtype dtype) {
    const zb__kind *kind = zb__kind_of(dtype);
    bool found = false;
    if (kind->exists)
        return kind->exists(dtype);
    for (const zb__type_name *entry = kind->names; entry->name && !found; entry++)
        found = entry->size == dtype.size;
    return found && dtype.size > 0;
}

enum zb_code zb__dtype_check(zb_dtype dtype, zb_error *err) {
    const zb__kind *kind = zb__kind_of(dtype);
    if (kind->check)
        return kind->check(dtype, err);
    if (exists(dtype))
        return ZB_OK;
    return zb_fail(err, ZB_EINVAL, "no data type of kind %d has %u bytes", (int)dtype.kind,
                   dtype.size);
}

/* Types without a configuration are bare names: some readers take no other form. r<bits> is what
   the specification calls raw_bytes, but few readers know it. */
void zb__dtype_write(zb_json_writer *w, zb_dtype dtype) {
    const zb__kind *kind = zb__kind_of(dtype);
    char name[ZB_DTYPE_NAME_SIZE];
    if (!kind->write) {
        zb_json_write_string(w, zb_dtype_name(dtype, name));
        return;
    }
    zb__extension_begin(w, kind->names->name);
    kind->write(w, dtype);
    zb__extension_end(w);
}
