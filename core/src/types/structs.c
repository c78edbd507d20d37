/* SPDX-License-Identifier: MIT */
/* Structs: elements of elements, each of which has a name. */
#include <string.h>

#include "types/dtype.h"
#include "types/fill.h"
#include "types/kinds.h"
#include "types/scatter.h"
#include "util/json_excerpt.h"
#include "util/utf8.h"
#include "zarrbridge/limits.h"

/* ---- Types -------------------------------------------------------------------------------- */

/* A field: an object, or of the old form a pair. Its place is behind the fields before it. */
static enum zb_code parse_field(const zb_json *item, zb__arena *memory, uint32_t offset,
                                zb_field *out, zb_error *err) {
    const bool is_pair = zb_json_kind_of(item) == ZB_JSON_ARRAY && zb_json_count(item) == 2;
    const zb_json *name = is_pair ? zb_json_first(item) : zb_json_get(item, "name");
    const zb_json *type = is_pair ? zb_json_next(name) : zb_json_get(item, "data_type");
    char excerpt[ZB__BRIEF_SIZE];
    out->name = zb_json_string(name);
    out->offset = offset;
    if (!out->name || !*out->name || !type || (!is_pair && zb_json_count(item) != 2))
        return zb_fail(err, ZB_EFORMAT, "data_type: a field is %s, expected a name and a data_type",
                       zb__json_excerpt(item, excerpt));
    enum zb_code code = zb__dtype_parse(type, memory, &out->dtype, err);
    if (code)
        return zb_error_prefix(err, code, "field %s", zb__name_excerpt(out->name, excerpt));
    if (zb_dtype_is_variable(out->dtype))
        return zb_fail(err, ZB_EFORMAT, "data_type: field %s has no fixed size",
                       zb__name_excerpt(out->name, excerpt));
    return ZB_OK;
}

/* The number of fields is bounded, so that comparing all names is cheap. */
static enum zb_code parse(const zb__kind *kind, const zb__extension *type, zb__arena *memory,
                          zb_dtype *out, zb_error *err) {
    static const char *const known[] = {"fields", NULL};
    const zb_json *list = zb_json_get(type->configuration, "fields");
    const size_t count = zb_json_count(list);
    const uint64_t limit = zb_limits_get()->chunk_bytes;
    char excerpt[ZB__BRIEF_SIZE];
    if (zb_json_kind_of(list) != ZB_JSON_ARRAY || count == 0)
        return zb_fail(err, ZB_EFORMAT, "data_type: fields is %s, expected a list of fields",
                       zb__json_excerpt(list, excerpt));
    if (count > zb_limits_get()->fields)
        return zb_fail(err, ZB_ELIMIT, "data_type: %zu fields, the limit fields is %llu", count,
                       (unsigned long long)zb_limits_get()->fields);
    zb_dtype_detail *detail = zb__arena_alloc(memory, sizeof *detail);
    zb_field *fields = zb__arena_alloc(memory, count * sizeof *fields);
    if (!detail || !fields)
        return zb_fail(err, ZB_ENOMEM, "out of memory for %zu fields", count);
    *detail = (zb_dtype_detail){.fields = fields, .field_count = count};
    *out = (zb_dtype){.kind = kind->kind, .detail = detail};
    zb_field *field = fields;
    for (const zb_json *item = zb_json_first(list); item; item = zb_json_next(item), field++) {
        enum zb_code code = parse_field(item, memory, out->size, field, err);
        if (code)
            return code;
        for (const zb_field *other = fields; other < field; other++) {
            if (strcmp(other->name, field->name) == 0)
                return zb_fail(err, ZB_EFORMAT, "data_type: two fields have the name %s",
                               zb__name_excerpt(field->name, excerpt));
        }
        if (__builtin_add_overflow(out->size, field->dtype.size, &out->size) || out->size > limit)
            return zb_fail(err, ZB_ELIMIT,
                           "data_type: a struct has more bytes than the limit chunk_bytes (%llu)",
                           (unsigned long long)limit);
    }
    return zb__extension_check(type, "data_type", known, err);
}

static enum zb_code check(zb_dtype dtype, zb_error *err) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    char excerpt[ZB__BRIEF_SIZE];
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
                           zb__name_excerpt(name, excerpt));
        end = (uint64_t)fields[i].offset + fields[i].dtype.size;
        if (zb_dtype_is_variable(fields[i].dtype))
            return zb_fail(err, ZB_EUNSUPPORTED,
                           "field %s has no fixed size, which fields of a struct have",
                           zb__name_excerpt(name, excerpt));
        enum zb_code code = zb__dtype_check(fields[i].dtype, err);
        if (code)
            return zb_error_prefix(err, code, "field %s", zb__name_excerpt(name, excerpt));
    }
    return ZB_OK;
}

static void write(zb_json_writer *w, zb_dtype dtype) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    zb_json_write_name(w, "fields");
    zb_json_begin_array(w);
    for (size_t i = 0; i < count; i++) {
        zb_json_begin_object(w);
        zb_json_write_name(w, "name");
        zb_json_write_string(w, fields[i].name);
        zb_json_write_name(w, "data_type");
        zb__dtype_write(w, fields[i].dtype);
        zb_json_end_object(w);
    }
    zb_json_end_array(w);
}

/* ---- Fill values -------------------------------------------------------------------------- */

static enum zb_code parse_fields(zb__fill *fill, const zb_json *value, zb_dtype dtype, void *out) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    char excerpt[ZB__BRIEF_SIZE];
    if (zb_json_count(value) != count)
        return zb__fill_expect(fill, "a value for each field");
    for (size_t i = 0; i < count; i++) {
        const zb_json *member = zb_json_get(value, fields[i].name);
        zb__fill_form form;
        if (!member)
            return zb__fill_expect(fill, "a value for each field");
        enum zb_code code = zb__fill_parse(member, fields[i].dtype, fill->memory,
                                           (char *)out + fields[i].offset, &form, fill->err);
        if (!code && form.is_packed)
            code = zb_fail(fill->err, ZB_EFORMAT, "fill_value is %s, expected an object for struct",
                           zb__json_excerpt(member, excerpt));
        if (code)
            return zb_error_prefix(fill->err, code, "field %s",
                                   zb__name_excerpt(fields[i].name, excerpt));
    }
    return ZB_OK;
}

/* An object; base64 of the packed bytes from older writers, which stay in the chunks' order. */
static enum zb_code parse_fill(zb__fill *fill, const zb_json *value, zb_dtype dtype, void *out) {
    if (zb_json_kind_of(value) == ZB_JSON_OBJECT)
        return parse_fields(fill, value, dtype, out);
    zb_slice bytes;
    fill->is_packed = true;
    enum zb_code code = zb__fill_bytes(fill, value, &bytes);
    if (code)
        return code == ZB_ENOMEM ? code
                                 : zb__fill_expect(fill, "an object with a value for each field");
    if (bytes.size != dtype.size)
        return zb__fill_expect(fill, "as many bytes as an element has");
    memcpy(out, bytes.data, bytes.size);
    return ZB_OK;
}

static void print_fill(zb_json_writer *w, zb_dtype dtype, const void *element) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    zb_json_begin_object(w);
    for (size_t i = 0; i < count; i++) {
        zb_json_write_name(w, fields[i].name);
        zb__fill_print(w, fields[i].dtype, (const char *)element + fields[i].offset);
    }
    zb_json_end_object(w);
}

static bool fill_fits(zb_dtype dtype, const void *element) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    bool good = true;
    for (size_t i = 0; i < count && good; i++)
        good = zb__fill_fits(fields[i].dtype, (const char *)element + fields[i].offset);
    return good;
}

/* ---- Conversion --------------------------------------------------------------------------- */

/* A field of a struct as it lies there: the struct's order counts, too. */
static zb_dtype field_dtype(zb_dtype parent, const zb_field *field) {
    zb_dtype dtype = field->dtype;
    dtype.swapped ^= parent.swapped;
    return dtype;
}

static void run(const zb__move *move, const char *src, int64_t src_stride, char *dst,
                int64_t dst_stride, size_t n) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(move->dst_dtype, &count);
    for (size_t i = 0; i < count; i++) {
        const zb_field *source = zb_dtype_field(move->src_dtype, fields[i].name);
        zb__convert(field_dtype(move->src_dtype, source), src + source->offset, src_stride,
                    field_dtype(move->dst_dtype, &fields[i]), dst + fields[i].offset, dst_stride,
                    n);
    }
}

/* Is there a source for each field of `to`? One with pointers goes into its equal alone, as the
   whole struct then does. */
static bool has_sources(zb_dtype from, zb_dtype to, bool (*is_taken)(zb_dtype, zb_dtype)) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(to, &count);
    bool good = count > 0;
    for (size_t i = 0; i < count && good; i++) {
        const zb_field *source = zb_dtype_field(from, fields[i].name);
        good = source && is_taken(source->dtype, fields[i].dtype) &&
               !zb_dtype_is_variable(source->dtype);
    }
    return good;
}

static bool convert(zb_dtype from, zb_dtype to, zb__move *move) {
    if (from.kind != ZB_KIND_STRUCT || to.kind != ZB_KIND_STRUCT)
        return false;
    if (!move)
        return has_sources(from, to, zb_dtype_converts);
    *move = zb__move_by(run, from, to);
    return true;
}

/* All fields of `to`, and no others. */
static bool writes(zb_dtype from, zb_dtype to) {
    size_t count;
    const zb_field *own = zb_dtype_fields(from, &count);
    bool good = to.kind == ZB_KIND_STRUCT && has_sources(from, to, zb_dtype_writes);
    for (size_t i = 0; i < count && good; i++)
        good = zb_dtype_field(to, own[i].name) != NULL;
    return good;
}

const zb__kind zb__kind_struct = {
    .kind = ZB_KIND_STRUCT,
    .names = (const zb__type_name[]){{"struct", 0, NULL, NULL}, {"structured", 0, NULL, NULL}, {0}},
    .name = "struct",
    .parse = parse,
    .write = write,
    .check = check,
    .fill_parse = parse_fill,
    .fill_print = print_fill,
    .fill_fits = fill_fits,
    .convert = convert,
    .writes = writes,
};
