/* SPDX-License-Identifier: MIT */
/*
 * The names of data types, both ways.
 *
 * A name that is unknown is not guessed at: the array is listed as unreadable, with the name in the
 * reason. What a document says of a type beyond its name becomes a detail, in the array's memory.
 */
#include "model/dtype.h"

#include <stdio.h>
#include <string.h>

#include "base/extension.h"
#include "base/json_brief.h"
#include "kernel/number_types.h"
#include "kernel/small.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"
#include "zarrbridge/limits.h"

typedef struct type_row {
    const char *name;
    enum zb_kind kind;
    uint32_t size; /* bytes */
} type_row;

/* Besides numbers of numpy (kernel/number_types.h). The first row of a kind and size is the name
   that is shown. */
static const type_row types[] = {
    /* Registered aliases, counted by the size of one component. */
    {"complex_float32", ZB_KIND_COMPLEX, 8},
    {"complex_float64", ZB_KIND_COMPLEX, 16},
    {"complex_float16", ZB_KIND_COMPLEX, 4},
    {"complex32", ZB_KIND_COMPLEX, 4}, /* GDAL's */
    {"string", ZB_KIND_STRING, sizeof(zb_slice)},
    {"bytes", ZB_KIND_BYTES, sizeof(zb_slice)},
    {"variable_length_bytes", ZB_KIND_BYTES, sizeof(zb_slice)}, /* zarr-python's */
    {"binary", ZB_KIND_BYTES, sizeof(zb_slice)},
};

/* The names of kinds whose size is no part of them. */
static const char *const kind_names[ZB_KIND_SMALL_COMPLEX + 1] = {
    [ZB_KIND_STRING] = "string", /* of another size than a string has */
    [ZB_KIND_BYTES] = "bytes",
    [ZB_KIND_STRUCT] = "struct",
    [ZB_KIND_DATETIME] = "numpy.datetime64",
    [ZB_KIND_TIMEDELTA] = "numpy.timedelta64",
    [ZB_KIND_CHARS] = "null_terminated_bytes",
    [ZB_KIND_UTF32] = "fixed_length_utf32",
};

#define TYPE_COUNT (sizeof types / sizeof *types)

/* "r<bits>" with a decimal number that has no leading zero. *bits saturates. */
static bool is_raw_name(const char *name, uint64_t *bits) {
    if (name[0] != 'r') /* also the empty name, behind whose end nothing may be read */
        return false;
    const char *digits = name + 1;
    size_t count = strspn(digits, "0123456789");
    if (count == 0 || digits[count] != '\0' || digits[0] == '0')
        return false;
    *bits = 0;
    for (; *digits; digits++)
        *bits = *bits < UINT64_MAX / 16 ? *bits * 10 + (uint64_t)(*digits - '0') : *bits;
    return true;
}

/* Limits come first: the remainder of a number that saturated is not known. */
static enum zb_code parse_raw(const char *name, uint64_t bits, zb_dtype *out, zb_error *err) {
    /* One element is part of a chunk, and the size has to fit zb_dtype.size. */
    uint64_t limit = zb_limits_get()->chunk_bytes;
    char brief[ZB__BRIEF_SIZE];
    if (bits / 8 > limit || bits / 8 > UINT32_MAX)
        return zb_fail(err, ZB_ELIMIT,
                       "data_type is %s, an element of more than %llu bytes, the limit chunk_bytes",
                       zb__name_brief(name, brief),
                       (unsigned long long)(limit < UINT32_MAX ? limit : UINT32_MAX));
    if (bits % 8 != 0)
        return zb_fail(err, ZB_EFORMAT, "data_type is %s, expected a multiple of 8 bits",
                       zb__name_brief(name, brief));
    *out = (zb_dtype){.kind = ZB_KIND_RAW, .size = (uint32_t)(bits / 8)};
    return ZB_OK;
}

/* ---- Small numbers ---- */

#define COMPLEX_PREFIX "complex_"

/* Details are constants, so that a dtype of them lasts for ever. */
static const zb_dtype_detail *small_detail(enum zb_format format) {
#define DETAIL(name) [ZB_FORMAT_##name] = {.format = ZB_FORMAT_##name}
    static const zb_dtype_detail details[ZB_FORMATS] = {DETAIL(INT2),
                                                        DETAIL(INT4),
                                                        DETAIL(UINT2),
                                                        DETAIL(UINT4),
                                                        DETAIL(FLOAT4_E2M1FN),
                                                        DETAIL(FLOAT6_E2M3FN),
                                                        DETAIL(FLOAT6_E3M2FN),
                                                        DETAIL(FLOAT8_E3M4),
                                                        DETAIL(FLOAT8_E4M3),
                                                        DETAIL(FLOAT8_E4M3B11FNUZ),
                                                        DETAIL(FLOAT8_E4M3FNUZ),
                                                        DETAIL(FLOAT8_E5M2),
                                                        DETAIL(FLOAT8_E5M2FNUZ),
                                                        DETAIL(FLOAT8_E8M0FNU),
                                                        DETAIL(BFLOAT16)};
#undef DETAIL
    return &details[format];
}

/* Only floats are parts of complex numbers. */
static bool find_small(const char *name, zb_dtype *out) {
    const size_t prefix = strlen(COMPLEX_PREFIX);
    const bool is_complex = strncmp(name, COMPLEX_PREFIX, prefix) == 0;
    const char *part = is_complex ? name + prefix : name;
    int low, high;
    for (int i = ZB_FORMAT_NONE + 1; i < ZB_FORMATS; i++) {
        const enum zb_format format = (enum zb_format)i;
        if (strcmp(zb__format_name(format), part) != 0 ||
            (is_complex && zb__format_is_integer(format, &low, &high)))
            continue;
        *out = (zb_dtype){.kind = is_complex ? ZB_KIND_SMALL_COMPLEX : ZB_KIND_SMALL,
                          .size = zb__format_bytes(format) << is_complex,
                          .detail = small_detail(format)};
        return true;
    }
    return false;
}

bool zb_dtype_from_name(const char *name, zb_dtype *out) {
    const zb__number_type *number = zb__number_type_named(name);
    if (number) {
        *out = (zb_dtype){.kind = number->kind, .size = number->size};
        return true;
    }
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (strcmp(types[i].name, name) == 0) {
            *out = (zb_dtype){.kind = types[i].kind, .size = types[i].size};
            return true;
        }
    }
    return find_small(name, out);
}

/* ---- Types with a configuration ---- */

static zb_dtype_detail *new_detail(zb__arena *memory, zb_error *err) {
    zb_dtype_detail *detail = zb__arena_alloc(memory, sizeof *detail);
    if (!detail)
        zb_fail(err, ZB_ENOMEM, "out of memory for a data type");
    else
        *detail = (zb_dtype_detail){.scale = 0};
    return detail;
}

/* "μs" is the unit "us", with either letter that looks so. */
static bool find_unit(const char *name, enum zb_time_unit *unit) {
    if (strcmp(name, "\u03bcs") == 0 || strcmp(name, "\u00b5s") == 0)
        name = "us";
    for (int i = ZB_UNIT_GENERIC; i <= ZB_UNIT_ATTOSECOND; i++) {
        *unit = (enum zb_time_unit)i;
        if (strcmp(zb_time_unit_name(*unit), name) == 0)
            return true;
    }
    return false;
}

static enum zb_code parse_time(const zb__extension *type, zb__arena *memory, zb_dtype *out,
                               zb_error *err) {
    static const char *const known[] = {"unit", "scale_factor", NULL};
    const zb_json *unit = zb_json_get(type->configuration, "unit");
    const zb_json *scale = zb_json_get(type->configuration, "scale_factor");
    const char *name = zb_json_string(unit);
    uint64_t number;
    char brief[ZB__BRIEF_SIZE];
    zb_dtype_detail *detail = new_detail(memory, err);
    if (!detail)
        return ZB_ENOMEM;
    if (!name || !find_unit(name, &detail->unit))
        return zb_fail(err, ZB_EFORMAT,
                       "data_type: unit is %s, expected one of Y M W D h m s ms us ns ps fs as "
                       "generic",
                       zb__json_brief(unit, brief));
    if (!zb_json_uint64(scale, &number) || number < 1 || number > INT32_MAX)
        return zb_fail(err, ZB_EFORMAT,
                       "data_type: scale_factor is %s, expected an integer from 1 to 2147483647",
                       zb__json_brief(scale, brief));
    detail->scale = (uint32_t)number;
    *out = (zb_dtype){.kind = strcmp(type->name, kind_names[ZB_KIND_DATETIME]) == 0
                                  ? ZB_KIND_DATETIME
                                  : ZB_KIND_TIMEDELTA,
                      .size = sizeof(int64_t),
                      .detail = detail};
    return zb__extension_check(type, "data_type", known, err);
}

static enum zb_code parse_length(const zb__extension *type, enum zb_kind kind, zb_dtype *out,
                                 zb_error *err) {
    static const char *const known[] = {"length_bytes", NULL};
    const zb_json *length = zb_json_get(type->configuration, "length_bytes");
    const uint64_t unit = kind == ZB_KIND_UTF32 ? 4 : 1;
    const uint64_t limit = zb_limits_get()->chunk_bytes;
    uint64_t number;
    char brief[ZB__BRIEF_SIZE];
    if (!zb_json_uint64(length, &number) || number == 0 || number % unit != 0)
        return zb_fail(err, ZB_EFORMAT, "data_type: length_bytes is %s, expected %s",
                       zb__json_brief(length, brief),
                       unit == 4 ? "a positive multiple of 4" : "a positive integer");
    if (number > limit || number > UINT32_MAX)
        return zb_fail(err, ZB_ELIMIT,
                       "data_type: length_bytes is %llu, the limit chunk_bytes is %llu",
                       (unsigned long long)number, (unsigned long long)limit);
    *out = (zb_dtype){.kind = kind, .size = (uint32_t)number};
    return zb__extension_check(type, "data_type", known, err);
}

/* ---- Structs ---- */

/* A field: an object, or of the old form a pair. Its place is behind the fields before it. */
static enum zb_code parse_field(const zb_json *item, zb__arena *memory, uint32_t offset,
                                zb_field *out, zb_error *err) {
    const bool is_pair = zb_json_kind_of(item) == ZB_JSON_ARRAY && zb_json_count(item) == 2;
    const zb_json *name = is_pair ? zb_json_first(item) : zb_json_get(item, "name");
    const zb_json *type = is_pair ? zb_json_next(name) : zb_json_get(item, "data_type");
    char brief[ZB__BRIEF_SIZE];
    out->name = zb_json_string(name);
    out->offset = offset;
    if (!out->name || !*out->name || !type || (!is_pair && zb_json_count(item) != 2))
        return zb_fail(err, ZB_EFORMAT, "data_type: a field is %s, expected a name and a data_type",
                       zb__json_brief(item, brief));
    enum zb_code code = zb__dtype_parse(type, memory, &out->dtype, err);
    if (code)
        return zb_error_prefix(err, code, "field %s", zb__name_brief(out->name, brief));
    if (zb_dtype_is_variable(out->dtype))
        return zb_fail(err, ZB_EFORMAT, "data_type: field %s has no fixed size",
                       zb__name_brief(out->name, brief));
    return ZB_OK;
}

/* The number of fields is bounded, so that comparing all names is cheap. */
static enum zb_code parse_struct(const zb__extension *type, zb__arena *memory, zb_dtype *out,
                                 zb_error *err) {
    static const char *const known[] = {"fields", NULL};
    const zb_json *list = zb_json_get(type->configuration, "fields");
    const size_t count = zb_json_count(list);
    const uint64_t limit = zb_limits_get()->chunk_bytes;
    char brief[ZB__BRIEF_SIZE];
    if (zb_json_kind_of(list) != ZB_JSON_ARRAY || count == 0)
        return zb_fail(err, ZB_EFORMAT, "data_type: fields is %s, expected a list of fields",
                       zb__json_brief(list, brief));
    if (count > zb_limits_get()->fields)
        return zb_fail(err, ZB_ELIMIT, "data_type: %zu fields, the limit fields is %llu", count,
                       (unsigned long long)zb_limits_get()->fields);
    zb_dtype_detail *detail = new_detail(memory, err);
    zb_field *fields = detail ? zb__arena_alloc(memory, count * sizeof *fields) : NULL;
    if (!fields)
        return zb_fail(err, ZB_ENOMEM, "out of memory for %zu fields", count);
    *detail = (zb_dtype_detail){.fields = fields, .field_count = count};
    *out = (zb_dtype){.kind = ZB_KIND_STRUCT, .detail = detail};
    zb_field *field = fields;
    for (const zb_json *item = zb_json_first(list); item; item = zb_json_next(item), field++) {
        enum zb_code code = parse_field(item, memory, out->size, field, err);
        if (code)
            return code;
        for (const zb_field *other = fields; other < field; other++) {
            if (strcmp(other->name, field->name) == 0)
                return zb_fail(err, ZB_EFORMAT, "data_type: two fields have the name %s",
                               zb__name_brief(field->name, brief));
        }
        if (__builtin_add_overflow(out->size, field->dtype.size, &out->size) || out->size > limit)
            return zb_fail(err, ZB_ELIMIT,
                           "data_type: a struct has more bytes than the limit chunk_bytes (%llu)",
                           (unsigned long long)limit);
    }
    return zb__extension_check(type, "data_type", known, err);
}

/* ---- The choice ---- */

static bool is_named(const zb__extension *type, enum zb_kind kind) {
    return strcmp(type->name, kind_names[kind]) == 0;
}

/* A draft of zarrs, which has not been registered. An element of it is a value or null, and a null
   one is not stored. No number, text or struct says that, in the core, in HDF5 or in GDAL: the
   model would need a mask beside the elements of each box. */
static bool is_optional(const char *name) {
    return strcmp(name, "optional") == 0 || strcmp(name, "zarrs.optional") == 0;
}

/* The tables are searched before "r<bits>" is tried, so that no name can be both. */
static enum zb_code parse_named(const zb_json *value, zb__arena *memory, zb_dtype *out,
                                zb_error *err) {
    static const char *const no_configuration[] = {NULL};
    zb__extension type;
    uint64_t bits;
    char brief[ZB__BRIEF_SIZE];
    enum zb_code code = zb__extension_parse(value, "data_type", &type, err);
    if (code)
        return code;
    if (is_named(&type, ZB_KIND_DATETIME) || is_named(&type, ZB_KIND_TIMEDELTA))
        return parse_time(&type, memory, out, err);
    if (is_named(&type, ZB_KIND_STRUCT) || strcmp(type.name, "structured") == 0)
        return parse_struct(&type, memory, out, err);
    if (is_named(&type, ZB_KIND_CHARS) || is_named(&type, ZB_KIND_UTF32))
        return parse_length(&type, is_named(&type, ZB_KIND_CHARS) ? ZB_KIND_CHARS : ZB_KIND_UTF32,
                            out, err);
    if (strcmp(type.name, "raw_bytes") == 0)
        return parse_length(&type, ZB_KIND_RAW, out, err);
    if (is_optional(type.name))
        return zb_fail(
            err, ZB_EUNSUPPORTED,
            "data_type \"%s\" is not supported: a draft whose elements may be null; write "
            "the values and the mask as two arrays, with zarrs",
            type.name);
    if (!zb_dtype_from_name(type.name, out)) {
        if (!is_raw_name(type.name, &bits))
            return zb_fail(err, ZB_EUNSUPPORTED, "data_type %s is not supported",
                           zb__name_brief(type.name, brief));
        code = parse_raw(type.name, bits, out, err);
    }
    return code ? code : zb__extension_check(&type, "data_type", no_configuration, err);
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

/* Every dtype has a name. */
const char *zb_dtype_name(zb_dtype dtype, char text[ZB_DTYPE_NAME_SIZE]) {
    const zb__number_type *number = zb__number_type_of(dtype);
    if (number) {
        snprintf(text, ZB_DTYPE_NAME_SIZE, "%s", number->name);
        return text;
    }
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (types[i].kind == dtype.kind && types[i].size == dtype.size) {
            snprintf(text, ZB_DTYPE_NAME_SIZE, "%s", types[i].name);
            return text;
        }
    }
    const enum zb_format format = zb_dtype_format(dtype);
    if (dtype.kind <= ZB_KIND_UTF32 && kind_names[dtype.kind])
        snprintf(text, ZB_DTYPE_NAME_SIZE, "%s", kind_names[dtype.kind]);
    else if (format != ZB_FORMAT_NONE)
        snprintf(text, ZB_DTYPE_NAME_SIZE, "%s%s",
                 dtype.kind == ZB_KIND_SMALL ? "" : COMPLEX_PREFIX, zb__format_name(format));
    else
        snprintf(text, ZB_DTYPE_NAME_SIZE, "r%llu", 8ull * dtype.size);
    return text;
}
