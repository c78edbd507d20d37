/* SPDX-License-Identifier: MIT */
/*
 * numpy's names of types: a byte order, a letter, the size in bytes (for U in code points of four),
 * and for times a unit; structs are lists of fields. The rows of kinds have the letters; whether
 * the type of version 3 can be read is the affair of its parser, which has the last word.
 *
 * Version 3 keeps the byte order of a whole array in its codec. That of a struct whose fields
 * differ in it becomes a codec of our own (codec/field_bytes.c).
 */
#include "array/v2_array.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "types/dtype.h"
#include "types/fill.h"
#include "types/kinds.h"
#include "types/scatter.h"
#include "util/base64.h"
#include "util/json_excerpt.h"

#define HOST_IS_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* The types of objects, by the codec that serialises them. */
static const struct {
    const char *codec, *name;
} objects[] = {{"vlen-utf8", "string"}, {"vlen-bytes", "bytes"}};

static enum zb_code unsupported(const zb_json *value, zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    return zb_fail(err, ZB_EUNSUPPORTED, "dtype %s is not supported",
                   zb__json_excerpt(value, excerpt));
}

static enum zb_code no_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "out of memory for a data type");
}

/* "[ns]" or "[25us]"; without brackets the unit is generic. */
static bool parse_unit(const char *text, zb_dtype_detail *out) {
    *out = (zb_dtype_detail){.unit = ZB_UNIT_GENERIC, .scale = 1};
    if (*text == '\0')
        return true;
    if (*text++ != '[')
        return false;
    if (isdigit((unsigned char)*text)) {
        char *end;
        const unsigned long long scale = strtoull(text, &end, 10);
        text = end;
        out->scale = scale <= UINT32_MAX ? (uint32_t)scale : 0;
    }
    const size_t length = strcspn(text, "]");
    for (int i = ZB_UNIT_GENERIC; i <= ZB_UNIT_ATTOSECOND; i++) {
        const char *name = zb_time_unit_name((enum zb_time_unit)i);
        out->unit = (enum zb_time_unit)i;
        if (strlen(name) == length && strncmp(name, text, length) == 0)
            return strcmp(text + length, "]") == 0 && out->scale > 0;
    }
    return false;
}

static enum zb_code parse_object(const zb_json *value, const char *serializer, zb_dtype *out,
                                 zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    for (size_t i = 0; serializer && i < sizeof objects / sizeof *objects; i++) {
        if (strcmp(objects[i].codec, serializer) == 0 && zb_dtype_from_name(objects[i].name, out))
            return ZB_OK;
    }
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "dtype %s without a filter vlen-utf8 or vlen-bytes: its objects are not "
                   "supported",
                   zb__json_excerpt(value, excerpt));
}

static enum zb_code parse_name(const zb_json *value, const char *serializer, zb__arena *memory,
                               zb_dtype *out, zb_error *err) {
    const char *text = zb_json_string(value), *rest;
    char order = text[0], letter = order ? text[1] : '\0';
    const zb__type_name *entry;
    uint64_t count;
    if (!order || !strchr("<>|", order) || !letter)
        return unsupported(value, err);
    /* zarr-python 3.0 serialises elements of a fixed length so, too, and keeps their name. */
    const char *objects_of = letter == 'U' ? "vlen-utf8" : letter == 'S' ? "vlen-bytes" : NULL;
    if (serializer && objects_of && strcmp(serializer, objects_of) == 0)
        return parse_object(value, serializer, out, err);
    if (letter == 'O')
        return text[2] ? unsupported(value, err) : parse_object(value, serializer, out, err);
    const zb__kind *kind = zb__kind_coded(text + 1, &entry, &count, &rest);
    const uint64_t unit = kind && kind->numpy_unit ? kind->numpy_unit : 1;
    if (!kind || count > UINT32_MAX / unit)
        return unsupported(value, err);
    *out = (zb_dtype){.kind = kind->kind,
                      .size = entry->size ? entry->size : (uint32_t)(count * unit),
                      .detail = entry->detail};
    const bool has_order = count > 0 && zb__dtype_has_order(*out);
    out->swapped = has_order && (order == '>') != HOST_IS_BIG;
    if (has_order && order == '|')
        return unsupported(value, err);
    zb_dtype_detail detail;
    if (kind->kind != ZB_KIND_DATETIME && kind->kind != ZB_KIND_TIMEDELTA)
        return *rest ? unsupported(value, err) : ZB_OK;
    if (!parse_unit(rest, &detail))
        return unsupported(value, err);
    zb_dtype_detail *kept = zb__arena_alloc(memory, sizeof *kept);
    out->detail = kept;
    if (!kept)
        return no_memory(err);
    *kept = detail;
    return ZB_OK;
}

/* ---- Structs ------------------------------------------------------------------------------ */

/* One [name, dtype] of a struct. */
static enum zb_code parse_field(const zb_json *item, zb__arena *memory, zb_field *out,
                                zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    const zb_json *name = zb_json_first(item), *value = zb_json_next(name);
    out->name = zb_json_string(name);
    if (zb_json_kind_of(item) != ZB_JSON_ARRAY || !out->name || !value)
        return zb_fail(err, ZB_EFORMAT, "dtype has the field %s, expected [name, dtype]",
                       zb__json_excerpt(item, excerpt));
    if (zb_json_count(item) > 2)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "dtype has the field %s: arrays within a struct are not supported",
                       zb__json_excerpt(item, excerpt));
    return zb__v2_dtype_parse(value, NULL, memory, &out->dtype, err);
}

enum zb_code zb__v2_dtype_parse(const zb_json *value, const char *serializer, zb__arena *memory,
                                zb_dtype *out, zb_error *err) {
    if (zb_json_string(value))
        return parse_name(value, serializer, memory, out, err);
    char excerpt[ZB__BRIEF_SIZE];
    const size_t count = zb_json_count(value);
    if (zb_json_kind_of(value) != ZB_JSON_ARRAY || count == 0)
        return zb_fail(err, ZB_EFORMAT, "dtype is %s, expected a type's name or a list of fields",
                       zb__json_excerpt(value, excerpt));
    zb_dtype_detail *detail = zb__arena_alloc(memory, sizeof *detail);
    zb_field *field = zb__arena_alloc(memory, count * sizeof *field);
    if (!detail || !field)
        return no_memory(err);
    *detail = (zb_dtype_detail){.fields = field, .field_count = count};
    *out = (zb_dtype){.kind = ZB_KIND_STRUCT, .detail = detail};
    for (const zb_json *f = zb_json_first(value); f; f = zb_json_next(f), field++) {
        enum zb_code code = parse_field(f, memory, field, err);
        field->offset = out->size;
        if (code)
            return code;
        if (__builtin_add_overflow(out->size, field->dtype.size, &out->size))
            return unsupported(value, err);
    }
    return ZB_OK;
}

/* ---- Byte orders -------------------------------------------------------------------------- */

char zb__v2_order(zb_dtype dtype) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    char order = '|';
    if (count == 0 && dtype.size > 0 && zb__dtype_has_order(dtype))
        order = dtype.swapped != HOST_IS_BIG ? '>' : '<';
    for (size_t i = 0; i < count; i++) {
        const char other = zb__v2_order(fields[i].dtype);
        order = order == '|' || other == order ? other : other == '|' ? order : ZB__V2_BOTH;
    }
    return order;
}

void zb__v2_orders_write(zb_json_writer *w, zb_dtype dtype) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    zb_json_begin_array(w);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].dtype.kind == ZB_KIND_STRUCT)
            zb__v2_orders_write(w, fields[i].dtype);
        else
            zb_json_write_string(w, zb__v2_order(fields[i].dtype) == '>' ? "big" : "little");
    }
    zb_json_end_array(w);
}

/* ---- Fill values -------------------------------------------------------------------------- */

/*
 * Fill values of version 2 are numbers, words ("NaN") and texts as in version 3, but for bytes and
 * structs, which are the base64 text of one element. Writers made other forms as well: 0 for types
 * that are no numbers, which means an empty element; a list of the one value (NCZarr).
 */

/* Brings an element to the host's order, field by field. */
static void to_host(zb_dtype dtype, const uint8_t *element, uint8_t *out) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    zb_dtype host = dtype;
    host.swapped = false;
    for (size_t i = 0; i < count; i++)
        to_host(fields[i].dtype, element + fields[i].offset, out + fields[i].offset);
    if (count == 0 && dtype.size > 0)
        zb__convert(dtype, element, dtype.size, host, out, dtype.size, 1);
}

static enum zb_code write_element(zb_json_writer *w, zb_dtype dtype, const uint8_t *bytes,
                                  uint8_t *element, zb_error *err) {
    to_host(dtype, bytes, element);
    if (!zb__fill_fits(dtype, element))
        return zb_fail(err, ZB_EFORMAT, "fill_value: a field's text has no code points");
    zb__fill_print(w, dtype, element);
    return ZB_OK;
}

static enum zb_code wrong(const zb_json *value, const char *expected, zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    return zb_fail(err, ZB_EFORMAT, "fill_value is %s, expected %s",
                   zb__json_excerpt(value, excerpt), expected);
}

static bool is_zero(const zb_json *value) {
    double number;
    return zb_json_double(value, &number) && number == 0;
}

/* The bytes of one element. Memory is asked for by the text, not by the type. */
static enum zb_code write_encoded(zb_json_writer *w, zb_dtype dtype, const zb_json *value,
                                  zb_error *err) {
    static const char expected[] = "the base64 text of one element";
    const char *text = zb_json_string(value);
    if (is_zero(value)) {
        zb_json_write_null(w);
        return ZB_OK;
    }
    if (!text || zb__base64_bytes(text) != dtype.size)
        return wrong(value, expected, err);
    uint8_t *bytes = malloc((size_t)dtype.size + 1), *element = malloc((size_t)dtype.size + 1);
    enum zb_code code;
    if (!bytes || !element)
        code = zb_fail(err, ZB_ENOMEM, "out of memory for a fill value");
    else if (zb__base64_decode(text, bytes))
        code = write_element(w, dtype, bytes, element, err);
    else
        code = wrong(value, expected, err);
    free(bytes);
    free(element);
    return code;
}

enum zb_code zb__v2_fill_write(zb_json_writer *w, zb_dtype dtype, const zb_json *value,
                               zb_error *err) {
    if (zb_json_kind_of(value) == ZB_JSON_ARRAY && zb_json_count(value) == 1 &&
        dtype.kind != ZB_KIND_STRUCT)
        value = zb_json_first(value);
    const bool is_null = zb_json_kind_of(value) == ZB_JSON_NULL;
    if (!is_null && (dtype.kind == ZB_KIND_RAW || dtype.kind == ZB_KIND_STRUCT))
        return write_encoded(w, dtype, value, err);
    if (is_null)
        zb_json_write_null(w);
    else if (zb__kind_of(dtype)->components == 0 && is_zero(value))
        zb_json_write_string(w, "");
    else
        zb_json_write_value(w, value);
    return ZB_OK;
}
