/* SPDX-License-Identifier: MIT */
/* From JSON to typed values: see attributes.h for the rules. */
#include "attributes/attributes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The type that a list's elements have in common; `mixed` when they have none. */
enum element {
    ELEMENT_MIXED,
    ELEMENT_INT64,
    ELEMENT_UINT64,
    ELEMENT_DOUBLE,
    ELEMENT_SPECIAL, /* a string that stands for a number which JSON lacks */
    ELEMENT_BOOL,
    ELEMENT_TEXT
};

/* The words are those of Zarr's fill values. */
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

/* JSON does not tell integers from other numbers: a token without fraction and exponent is one. */
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
    hsize_t dims[ZB_MAX_NDIM];
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
    case ELEMENT_DOUBLE:
        return (zb_dtype){.kind = ZB_KIND_FLOAT, .size = 8};
    default:
        return (zb_dtype){.kind = ZB_KIND_BOOL, .size = 1};
    }
}

static int base64_digit(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* The double whose 8 little-endian bytes are `text` in base64: 11 digits and one '='. */
static bool double_from_base64(const char *text, double *out) {
    uint64_t bits = 0;
    unsigned char byte[9];
    if (strlen(text) != 12 || text[11] != '=')
        return false;
    for (size_t group = 0; group < 3; group++) {
        uint32_t word = 0;
        for (size_t i = 0; i < 4; i++) {
            int digit = 4 * group + i == 11 ? 0 : base64_digit(text[4 * group + i]);
            if (digit < 0)
                return false;
            word = word << 6 | (uint32_t)digit;
        }
        for (size_t i = 0; i < 3; i++)
            byte[3 * group + i] = (unsigned char)(word >> (16 - 8 * i));
    }
    for (size_t i = 0; i < 8; i++)
        bits |= (uint64_t)byte[i] << (8 * i);
    memcpy(out, &bits, sizeof bits);
    return true;
}

/* Takes xarray's form of a fill value, too. */
static bool json_to_double(const zb_json *value, double *out) {
    const char *text = zb_json_string(value);
    if (!text)
        return zb_json_double(value, out);
    return special_double(text, out) || double_from_base64(text, out);
}

/* Text is copied, so that all kinds are freed in one way. */
static bool store_element(vol_attr *attr, size_t i, enum element element, const zb_json *value) {
    switch (element) {
    case ELEMENT_INT64:
        return zb_json_int64(value, (int64_t *)attr->data + i);
    case ELEMENT_UINT64:
        return zb_json_uint64(value, (uint64_t *)attr->data + i);
    case ELEMENT_DOUBLE:
        return json_to_double(value, (double *)attr->data + i);
    case ELEMENT_BOOL:
        ((uint8_t *)attr->data)[i] = zb_json_bool(value);
        return true;
    case ELEMENT_SPECIAL: /* find_shape makes it a double */
    case ELEMENT_TEXT:
    case ELEMENT_MIXED:
        break;
    }
    char *text = element == ELEMENT_TEXT ? strdup(zb_json_string(value)) : zb_json_print(value);
    ((char **)attr->data)[i] = text;
    return text != NULL;
}

/* Stores elements in row-major order, from element *i on. */
static bool store_list(vol_attr *attr, uint32_t depth, size_t *i, enum element element,
                       const zb_json *value) {
    if (depth == attr->ndim)
        return store_element(attr, (*i)++, element, value);
    for (const zb_json *item = zb_json_first(value); item; item = zb_json_next(item))
        if (!store_list(attr, depth + 1, i, element, item))
            return false;
    return true;
}

static bool add_null(vol_attrs *attrs, const char *name) {
    vol_attr *attr = vol_attrs_add(attrs, name, VOL_ATTR_NUMBER, 0, sizeof(double));
    if (!attr)
        return false;
    attr->dtype = dtype_of(ELEMENT_DOUBLE);
    attr->is_null = true;
    attr->ndim = 0;
    return true;
}

/* Any value becomes exactly one attribute, so that nothing of the document is hidden. */
bool vol_attrs_add_json(vol_attrs *attrs, const zb_json *value) {
    list_shape shape;
    if (zb_json_kind_of(value) == ZB_JSON_NULL)
        return add_null(attrs, zb_json_name(value));
    find_shape(value, &shape);
    bool is_text = shape.common == ELEMENT_TEXT || shape.common == ELEMENT_MIXED;
    zb_dtype dtype = dtype_of(shape.common);
    vol_attr *attr =
        vol_attrs_add(attrs, zb_json_name(value), is_text ? VOL_ATTR_TEXT : VOL_ATTR_NUMBER,
                      shape.count, is_text ? sizeof(char *) : dtype.size);
    if (!attr)
        return false;
    attr->ndim = shape.ndim;
    memcpy(attr->dims, shape.dims, sizeof attr->dims);
    if (!is_text)
        attr->dtype = dtype;
    size_t i = 0;
    return store_list(attr, 0, &i, shape.common, value);
}

/* ---- _FillValue ---- */

/* Whether the value can be one element of the integer type without loss. Then it is stored at
   `out`. */
static bool json_to_integer(const zb_json *value, zb_dtype dtype, void *out) {
    unsigned bits = 8 * dtype.size;
    int64_t number = 0;
    uint64_t word;
    if (dtype.kind == ZB_KIND_UINT) {
        if (!zb_json_uint64(value, &word) || (bits < 64 && word >> bits))
            return false;
    } else {
        if (!zb_json_int64(value, &number))
            return false;
        int64_t high = bits < 64 ? ((int64_t)1 << (bits - 1)) - 1 : INT64_MAX;
        if (number > high || number < -high - 1)
            return false;
        word = (uint64_t)number;
    }
    uint8_t byte = (uint8_t)word;
    uint16_t half = (uint16_t)word;
    uint32_t quarter = (uint32_t)word;
    const void *from = bits == 8    ? (const void *)&byte
                       : bits == 16 ? (const void *)&half
                       : bits == 32 ? (const void *)&quarter
                                    : (const void *)&word;
    memcpy(out, from, dtype.size);
    return true;
}

bool vol_attrs_add_fill_value(vol_attrs *attrs, const zb_json *value, zb_dtype dtype) {
    unsigned char element[8];
    double number;
    if (dtype.kind == ZB_KIND_INT || dtype.kind == ZB_KIND_UINT) {
        if (!json_to_integer(value, dtype, element))
            return true;
    } else if (dtype.kind == ZB_KIND_FLOAT && dtype.size >= 4) {
        if (!json_to_double(value, &number))
            return true;
        float single = (float)number;
        memcpy(element, dtype.size == 4 ? (const void *)&single : &number, dtype.size);
    } else {
        return true;
    }
    vol_attr *attr = vol_attrs_add(attrs, "_FillValue", VOL_ATTR_NUMBER, 1, dtype.size);
    if (!attr)
        return false;
    attr->dtype = dtype;
    memcpy(attr->data, element, dtype.size);
    return true;
}
