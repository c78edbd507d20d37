/* SPDX-License-Identifier: MIT */
/*
 * The way from JSON to typed values and back: see zb_value.
 *
 * JSON does not tell integers from other numbers: a token without fraction and exponent is one, as
 * Python and zarr-python have it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/base64.h"
#include "util/decimal.h"
#include "zarrbridge/conventions.h"

/* The kind that a list's elements have in common; `mixed` when they have none in common. */
enum element {
    ELEMENT_MIXED,
    ELEMENT_INT64,
    ELEMENT_UINT64,
    ELEMENT_DOUBLE,
    ELEMENT_SPECIAL, /* a string that stands for a number which JSON lacks */
    ELEMENT_BOOL,
    ELEMENT_TEXT
};

/* The spellings of Zarr's fill values and no others: an attribute "nan" or "inf" is a text. */
static bool special_double(const char *text, double *out) {
    if (strcmp(text, "NaN") == 0)
        *out = NAN;
    else if (strcmp(text, "Infinity") == 0)
        *out = INFINITY;
    else if (strcmp(text, "-Infinity") == 0)
        *out = -INFINITY;
    else
        return false;
    return true;
}

static enum element element_of(const zb_json *value) {
    int64_t as_signed;
    uint64_t as_unsigned;
    double special;
    switch (zb_json_kind_of(value)) {
    case ZB_JSON_BOOL:
        return ELEMENT_BOOL;
    case ZB_JSON_STRING:
        return special_double(zb_json_string(value), &special) ? ELEMENT_SPECIAL : ELEMENT_TEXT;
    case ZB_JSON_NUMBER:
        if (zb_json_int64(value, &as_signed))
            return ELEMENT_INT64;
        return zb_json_uint64(value, &as_unsigned) ? ELEMENT_UINT64 : ELEMENT_DOUBLE;
    default:
        return ELEMENT_MIXED;
    }
}

static bool is_number(enum element element) {
    return element == ELEMENT_INT64 || element == ELEMENT_UINT64 || element == ELEMENT_DOUBLE ||
           element == ELEMENT_SPECIAL;
}

/* The element type that holds both. A negative number and one above 2^63-1 only fit a double. */
static enum element common_element(enum element a, enum element b, bool any_negative) {
    if ((a == ELEMENT_SPECIAL && b == ELEMENT_TEXT) || (a == ELEMENT_TEXT && b == ELEMENT_SPECIAL))
        return ELEMENT_TEXT;
    if (!is_number(a) || !is_number(b))
        return a == b ? a : ELEMENT_MIXED;
    if (a == ELEMENT_SPECIAL || b == ELEMENT_SPECIAL || a == ELEMENT_DOUBLE || b == ELEMENT_DOUBLE)
        return a == b ? a : ELEMENT_DOUBLE;
    if (a == ELEMENT_UINT64 || b == ELEMENT_UINT64)
        return any_negative ? ELEMENT_DOUBLE : ELEMENT_UINT64;
    return ELEMENT_INT64;
}

/* A value seen as an array of one element type; no dimensions for a single element. */
typedef struct list_shape {
    uint32_t ndim;
    uint64_t dims[ZB_MAX_NDIM];
    size_t count;
    enum element common;
    bool any, any_negative;
} list_shape;

/* Lists must be as long as their siblings, and elements of a kind. */
static bool check_list(const zb_json *value, uint32_t depth, list_shape *shape) {
    int64_t number;
    if (depth < shape->ndim) {
        if (zb_json_kind_of(value) != ZB_JSON_ARRAY || zb_json_count(value) != shape->dims[depth])
            return false;
        const zb_json *item = zb_json_first(value);
        while (item && check_list(item, depth + 1, shape))
            item = zb_json_next(item);
        return !item;
    }
    shape->any_negative |= zb_json_int64(value, &number) && number < 0;
    enum element element = element_of(value);
    shape->common =
        shape->any ? common_element(shape->common, element, shape->any_negative) : element;
    shape->any = true;
    return shape->common != ELEMENT_MIXED;
}

/* A value that is not such an array is one element: its JSON text. */
static void find_shape(const zb_json *value, list_shape *out) {
    *out = (list_shape){.count = 1};
    const zb_json *first = value;
    bool good = true;
    while (good && first && zb_json_kind_of(first) == ZB_JSON_ARRAY) {
        size_t length = zb_json_count(first);
        good = out->ndim < ZB_MAX_NDIM && !__builtin_mul_overflow(out->count, length, &out->count);
        if (good)
            out->dims[out->ndim++] = length;
        first = zb_json_first(first);
    }
    bool is_array = good && check_list(value, 0, out);
    if (!is_array)
        *out = (list_shape){.count = 1, .common = ELEMENT_MIXED};
    if (out->common == ELEMENT_SPECIAL || (is_array && out->count == 0))
        out->common = ELEMENT_DOUBLE;
}

static zb_dtype dtype_of(enum element element) {
    switch (element) {
    case ELEMENT_INT64:
        return (zb_dtype){.kind = ZB_KIND_INT, .size = 8};
    case ELEMENT_UINT64:
        return (zb_dtype){.kind = ZB_KIND_UINT, .size = 8};
    case ELEMENT_BOOL:
        return (zb_dtype){.kind = ZB_KIND_BOOL, .size = 1};
    default:
        return (zb_dtype){.kind = ZB_KIND_FLOAT, .size = 8};
    }
}

static bool json_to_double(const zb_json *value, double *out) {
    const char *text = zb_json_string(value);
    return text ? special_double(text, out) : zb_json_double(value, out);
}

static bool store_element(zb_value *out, size_t i, enum element element, const zb_json *value) {
    switch (element) {
    case ELEMENT_INT64:
        return zb_json_int64(value, (int64_t *)out->data + i);
    case ELEMENT_UINT64:
        return zb_json_uint64(value, (uint64_t *)out->data + i);
    case ELEMENT_SPECIAL: /* find_shape makes it a double */
    case ELEMENT_DOUBLE:
        return json_to_double(value, (double *)out->data + i);
    case ELEMENT_BOOL:
        ((uint8_t *)out->data)[i] = zb_json_bool(value);
        return true;
    case ELEMENT_TEXT:
    case ELEMENT_MIXED:
        break;
    }
    char *text = element == ELEMENT_TEXT ? strdup(zb_json_string(value)) : zb_json_print(value);
    ((char **)out->data)[i] = text;
    return text != NULL;
}

/* Stores a list in row-major order, from element *i on. */
static bool store_list(zb_value *out, uint32_t depth, size_t *i, enum element element,
                       const zb_json *value) {
    if (depth == out->ndim)
        return store_element(out, (*i)++, element, value);
    for (const zb_json *item = zb_json_first(value); item; item = zb_json_next(item))
        if (!store_list(out, depth + 1, i, element, item))
            return false;
    return true;
}

bool zb_value_parse(const zb_json *json, zb_value *out) {
    list_shape shape;
    *out = (zb_value){.kind = ZB_VALUE_NULL, .dtype = dtype_of(ELEMENT_DOUBLE)};
    if (zb_json_kind_of(json) == ZB_JSON_NULL)
        return true;
    find_shape(json, &shape);
    const bool is_text = shape.common == ELEMENT_TEXT || shape.common == ELEMENT_MIXED;
    out->kind = is_text ? ZB_VALUE_TEXTS : ZB_VALUE_NUMBERS;
    out->dtype = is_text ? (zb_dtype){.kind = ZB_KIND_RAW} : dtype_of(shape.common);
    out->ndim = shape.ndim;
    memcpy(out->shape, shape.dims, sizeof out->shape);
    out->count = shape.count;
    size_t i = 0;
    out->data = calloc(shape.count ? shape.count : 1, is_text ? sizeof(char *) : out->dtype.size);
    if (out->data && store_list(out, 0, &i, shape.common, json))
        return true;
    zb_value_clear(out);
    return false;
}

void zb_value_clear(zb_value *value) {
    if (value->kind == ZB_VALUE_TEXTS && value->data)
        for (size_t i = 0; i < value->count; i++)
            free(((char **)value->data)[i]);
    free(value->data);
    *value = (zb_value){.kind = ZB_VALUE_NULL};
}

/* ---- Printing ----------------------------------------------------------------------------- */

/* The printed text is parsed to the same value. */

const char *zb_number_text(double value, char text[ZB_NUMBER_TEXT_SIZE]) {
    if (isnan(value))
        return strcpy(text, "NaN");
    if (isinf(value))
        return strcpy(text, value < 0 ? "-Infinity" : "Infinity");
    zb__decimal_print(value, sizeof value, text);
    char *tail = text + strlen(text) - 2;
    if (strcmp(tail, ".0") == 0)
        *tail = '\0';
    return text;
}

static void print_element(zb_json_writer *w, const zb_value *value, size_t i) {
    if (value->kind == ZB_VALUE_TEXTS) {
        const char *text = ((char *const *)value->data)[i];
        zb_json_write_string(w, text ? text : "");
        return;
    }
    switch (value->dtype.kind) {
    case ZB_KIND_BOOL:
        zb_json_write_bool(w, ((const uint8_t *)value->data)[i]);
        return;
    case ZB_KIND_INT:
        zb_json_write_int64(w, ((const int64_t *)value->data)[i]);
        return;
    case ZB_KIND_UINT:
        zb_json_write_uint64(w, ((const uint64_t *)value->data)[i]);
        return;
    default:
        zb_json_write_double(w, ((const double *)value->data)[i]);
    }
}

static void print_list(zb_json_writer *w, const zb_value *value, uint32_t depth, size_t *i) {
    if (depth == value->ndim) {
        print_element(w, value, (*i)++);
        return;
    }
    zb_json_begin_array(w);
    for (uint64_t k = 0; k < value->shape[depth]; k++)
        print_list(w, value, depth + 1, i);
    zb_json_end_array(w);
}

char *zb_value_print(const zb_value *value) {
    zb_json_writer *w = zb_json_writer_new();
    size_t i = 0;
    if (value->kind == ZB_VALUE_NULL)
        zb_json_write_null(w);
    else
        print_list(w, value, 0, &i);
    return zb_json_writer_end(w, NULL);
}

/* ---- Bytes as base64 ---------------------------------------------------------------------- */

char *zb_base64_print(const void *bytes, size_t size) {
    char *text = malloc(zb__base64_length(size) + 1);
    if (text)
        zb__base64_encode(bytes, size, text);
    return text;
}

void *zb_base64_parse(const char *text, size_t *size) {
    *size = zb__base64_bytes(text);
    void *bytes = malloc(*size ? *size : 1);
    if (bytes && zb__base64_decode(text, bytes))
        return bytes;
    free(bytes);
    return NULL;
}
