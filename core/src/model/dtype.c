/* SPDX-License-Identifier: MIT */
/*
 * The names of data types, both ways.
 *
 * Only types that programs have a number for are known here, string, and r<bits>, which stays
 * bytes. A name that is unknown is not guessed at: the array is listed as unreadable, with the name
 * in the reason.
 */
#include "model/dtype.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/extension.h"
#include "base/json_brief.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"
#include "zarrbridge/limits.h"

typedef struct type_row {
    const char *name;
    enum zb_kind kind;
    uint32_t size; /* bytes */
} type_row;

/* The first row of a kind and size is the name that is shown. */
static const type_row types[] = {
    {"bool", ZB_KIND_BOOL, 1},
    {"int8", ZB_KIND_INT, 1},
    {"int16", ZB_KIND_INT, 2},
    {"int32", ZB_KIND_INT, 4},
    {"int64", ZB_KIND_INT, 8},
    {"uint8", ZB_KIND_UINT, 1},
    {"uint16", ZB_KIND_UINT, 2},
    {"uint32", ZB_KIND_UINT, 4},
    {"uint64", ZB_KIND_UINT, 8},
    {"float16", ZB_KIND_FLOAT, 2},
    {"float32", ZB_KIND_FLOAT, 4},
    {"float64", ZB_KIND_FLOAT, 8},
    {"complex64", ZB_KIND_COMPLEX, 8},
    {"complex128", ZB_KIND_COMPLEX, 16},
    /* Registered aliases, counted by the size of one component. */
    {"complex_float32", ZB_KIND_COMPLEX, 8},
    {"complex_float64", ZB_KIND_COMPLEX, 16},
    {"string", ZB_KIND_STRING, sizeof(zb_slice)},
};

/* The names of kinds that are not parsed yet; their size is not part of them. */
static const char *const kind_names[] = {
    [ZB_KIND_STRING] = "string", /* of another size than a string has */
    [ZB_KIND_BYTES] = "variable_length_bytes",
    [ZB_KIND_STRUCT] = "struct",
    [ZB_KIND_DATETIME] = "numpy.datetime64",
    [ZB_KIND_TIMEDELTA] = "numpy.timedelta64",
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

/* The table is searched before "r<bits>" is tried, so that no name can be both. */
enum zb_code zb__dtype_parse(const zb_json *value, zb_dtype *out, zb_error *err) {
    static const char *const no_configuration[] = {NULL};
    zb__extension type;
    enum zb_code code = zb__extension_parse(value, "data_type", &type, err);
    if (code)
        return code;
    size_t i = 0;
    while (i < TYPE_COUNT && strcmp(types[i].name, type.name) != 0)
        i++;
    uint64_t bits;
    if (i < TYPE_COUNT) {
        *out = (zb_dtype){.kind = types[i].kind, .size = types[i].size};
    } else if (is_raw_name(type.name, &bits)) {
        code = parse_raw(type.name, bits, out, err);
        if (code)
            return code;
    } else {
        char brief[ZB__BRIEF_SIZE];
        return zb_fail(err, ZB_EUNSUPPORTED, "data_type %s is not supported",
                       zb__name_brief(type.name, brief));
    }
    return zb__extension_check(&type, "data_type", no_configuration, err);
}

/* Every dtype has a name; kind raw is the only one outside the two tables. */
const char *zb_dtype_name(zb_dtype dtype, char text[24]) {
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (types[i].kind == dtype.kind && types[i].size == dtype.size) {
            snprintf(text, 24, "%s", types[i].name);
            return text;
        }
    }
    if (dtype.kind > ZB_KIND_RAW && dtype.kind <= ZB_KIND_TIMEDELTA)
        snprintf(text, 24, "%s", kind_names[dtype.kind]);
    else
        snprintf(text, 24, "r%llu", 8ull * dtype.size);
    return text;
}

/* ---- Printing with detail ---- */

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
    char name[24];
    size_t count;
    uint32_t scale;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    enum zb_time_unit unit = zb_dtype_unit(dtype, &scale);
    add(p, "%s", zb_dtype_name(dtype, name));
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
