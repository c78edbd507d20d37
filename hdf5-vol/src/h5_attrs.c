/* SPDX-License-Identifier: MIT */
/* From JSON to typed values: see h5_attrs.h for the rules. */
#include "h5_attrs.h"

#include "h5_error.h"
#include "h5_type.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The list ---- */

static void attr_clear(vol_attr *attr) {
    if (attr->kind == VOL_ATTR_TEXT)
        for (size_t i = 0; i < attr->count; i++)
            free(((char **)attr->data)[i]);
    free(attr->data);
    free(attr->name);
}

void vol_attrs_free(vol_attrs *attrs) {
    if (!attrs)
        return;
    for (size_t i = 0; i < attrs->count; i++)
        attr_clear(&attrs->attr[i]);
    free(attrs->attr);
    free(attrs->sorted);
    free(attrs);
}

/* A free place: that of an attribute with the same name, or a new one at the end. */
static vol_attr *place_for(vol_attrs *attrs, const char *name) {
    for (size_t i = 0; i < attrs->count; i++) {
        if (strcmp(attrs->attr[i].name, name) == 0) {
            attr_clear(&attrs->attr[i]);
            return &attrs->attr[i];
        }
    }
    if (attrs->count == attrs->room) {
        size_t room = attrs->room ? 2 * attrs->room : 8;
        vol_attr *grown = realloc(attrs->attr, room * sizeof *grown);
        if (!grown)
            return NULL;
        attrs->attr = grown;
        attrs->room = room;
    }
    return &attrs->attr[attrs->count++];
}

vol_attr *vol_attrs_add(vol_attrs *attrs, const char *name, enum vol_attr_kind kind, size_t count,
                        size_t size) {
    vol_attr *attr = place_for(attrs, name);
    if (!attr)
        return NULL;
    *attr = (vol_attr){.kind = kind, .count = count, .dtype = {.size = (uint32_t)size}};
    attr->name = strdup(name);
    attr->data = calloc(count, size);
    if (attr->name && attr->data)
        return attr;
    attr->count = 0;
    if (!attr->name)
        attr->name = strdup("");
    return NULL;
}

const vol_attr *vol_attrs_find(const vol_attrs *attrs, const char *name) {
    size_t low = 0, high = attrs->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(attrs->sorted[middle]->name, name);
        if (order == 0)
            return attrs->sorted[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- From JSON ---- */

/* What a list's elements have in common; `mixed` when they do not. */
enum element {
    ELEMENT_MIXED,
    ELEMENT_INT64,
    ELEMENT_UINT64,
    ELEMENT_DOUBLE,
    ELEMENT_BOOL,
    ELEMENT_TEXT
};

/* JSON does not tell integers from other numbers: a token without fraction and exponent is one. */
static enum element element_of(const zb_json *value) {
    int64_t as_signed;
    uint64_t as_unsigned;
    switch (zb_json_kind_of(value)) {
    case ZB_JSON_BOOL:
        return ELEMENT_BOOL;
    case ZB_JSON_STRING:
        return ELEMENT_TEXT;
    case ZB_JSON_NUMBER:
        if (zb_json_int64(value, &as_signed))
            return ELEMENT_INT64;
        return zb_json_uint64(value, &as_unsigned) ? ELEMENT_UINT64 : ELEMENT_DOUBLE;
    default:
        return ELEMENT_MIXED;
    }
}

static bool is_number(enum element element) {
    return element == ELEMENT_INT64 || element == ELEMENT_UINT64 || element == ELEMENT_DOUBLE;
}

/* The element type that holds both. A negative number and one above 2^63-1 only fit a double. */
static enum element common_element(enum element a, enum element b, bool any_negative) {
    if (a == b)
        return a;
    if (!is_number(a) || !is_number(b))
        return ELEMENT_MIXED;
    if (a == ELEMENT_DOUBLE || b == ELEMENT_DOUBLE || any_negative)
        return ELEMENT_DOUBLE;
    return ELEMENT_UINT64;
}

/* One pass; gives up at the first element that fits no common type. */
static enum element element_of_list(const zb_json *list) {
    const zb_json *value = zb_json_first(list);
    if (!value)
        return ELEMENT_MIXED;
    enum element common = element_of(value);
    bool any_negative = false;
    for (; value && common != ELEMENT_MIXED; value = zb_json_next(value)) {
        int64_t number;
        any_negative |= zb_json_int64(value, &number) && number < 0;
        common = common_element(common, element_of(value), any_negative);
        if (common == ELEMENT_UINT64 && any_negative)
            common = ELEMENT_DOUBLE;
    }
    return common;
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

/* Text is copied, so that all kinds are freed in one way. */
static bool store_element(vol_attr *attr, size_t i, enum element element, const zb_json *value) {
    switch (element) {
    case ELEMENT_INT64:
        return zb_json_int64(value, (int64_t *)attr->data + i);
    case ELEMENT_UINT64:
        return zb_json_uint64(value, (uint64_t *)attr->data + i);
    case ELEMENT_DOUBLE:
        return zb_json_double(value, (double *)attr->data + i);
    case ELEMENT_BOOL:
        ((uint8_t *)attr->data)[i] = zb_json_bool(value);
        return true;
    case ELEMENT_TEXT:
    case ELEMENT_MIXED:
        break;
    }
    char *text = element == ELEMENT_TEXT ? strdup(zb_json_string(value)) : zb_json_print(value);
    ((char **)attr->data)[i] = text;
    return text != NULL;
}

/* Any value becomes exactly one attribute, so that nothing of the document is hidden. */
static bool add_from_json(vol_attrs *attrs, const zb_json *value) {
    bool is_list = zb_json_kind_of(value) == ZB_JSON_ARRAY;
    enum element element = is_list ? element_of_list(value) : element_of(value);
    if (element == ELEMENT_MIXED)
        is_list = false; /* the whole value becomes one text */
    bool is_text = element == ELEMENT_TEXT || element == ELEMENT_MIXED;
    zb_dtype dtype = dtype_of(element);
    vol_attr *attr =
        vol_attrs_add(attrs, zb_json_name(value), is_text ? VOL_ATTR_TEXT : VOL_ATTR_NUMBER,
                      is_list ? zb_json_count(value) : 1, is_text ? sizeof(char *) : dtype.size);
    if (!attr)
        return false;
    attr->scalar = !is_list;
    if (!is_text)
        attr->dtype = dtype;
    if (!is_list)
        return store_element(attr, 0, element, value);
    const zb_json *item = zb_json_first(value);
    for (size_t i = 0; item; i++, item = zb_json_next(item))
        if (!store_element(attr, i, element, item))
            return false;
    return true;
}

/* ---- _FillValue ---- */

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

/* The strings are those of Zarr's own fill values. */
static bool json_to_double(const zb_json *value, double *out) {
    const char *text = zb_json_string(value);
    if (!text)
        return zb_json_double(value, out);
    if (strcmp(text, "NaN") == 0)
        *out = NAN;
    else if (strcmp(text, "Infinity") == 0)
        *out = INFINITY;
    else if (strcmp(text, "-Infinity") == 0)
        *out = -INFINITY;
    else
        return double_from_base64(text, out);
    return true;
}

/* Can the value be one element of the integer type without loss? Then it is stored at `out`. */
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

/* Replaces the plain translation of _FillValue by one element of the array's type, where that
   works. */
static bool add_fill_value(vol_attrs *attrs, const zb_json *value, zb_dtype dtype) {
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
    attr->scalar = true;
    attr->dtype = dtype;
    memcpy(attr->data, element, dtype.size);
    return true;
}

/* ---- Making the list ---- */

static int compare_names(const void *a, const void *b) {
    return strcmp((*(vol_attr *const *)a)->name, (*(vol_attr *const *)b)->name);
}

static bool sort_attrs(vol_attrs *attrs) {
    attrs->sorted = calloc(attrs->count + 1, sizeof *attrs->sorted);
    if (!attrs->sorted)
        return false;
    for (size_t i = 0; i < attrs->count; i++)
        attrs->sorted[i] = &attrs->attr[i];
    qsort(attrs->sorted, attrs->count, sizeof *attrs->sorted, compare_names);
    return true;
}

/* The document's attributes first, then what is made of other members: these replace namesakes,
   since HDF5 gives their names a meaning. */
static bool fill_attrs(vol_attrs *attrs, const vol_node *node) {
    const zb_json *object = node->zarr ? zb_node_attributes(node->zarr) : NULL;
    const zb_array_info *info = node->zarr ? zb_node_array(node->zarr) : NULL;
    for (const zb_json *value = object ? zb_json_first(object) : NULL; value;
         value = zb_json_next(value))
        if (!add_from_json(attrs, value))
            return false;
    const zb_json *fill = info ? zb_json_get(object, "_FillValue") : NULL;
    if (fill && !add_fill_value(attrs, fill, info->dtype))
        return false;
    return (!info || vol_dims_add(attrs, node)) && sort_attrs(attrs);
}

const vol_attrs *vol_node_attrs(vol_node *node) {
    if (node->attrs)
        return node->attrs;
    vol_attrs *attrs = calloc(1, sizeof *attrs);
    if (attrs && fill_attrs(attrs, node)) {
        node->attrs = attrs;
        return attrs;
    }
    vol_attrs_free(attrs);
    VOL_PUSH(node->file->lib, ATTR, CANTGET, "no memory for the attributes of '%s'", node->path);
    return NULL;
}

/* ---- HDF5's view ---- */

/* The caller closes both. */
hid_t vol_attr_type(h5_lib *lib, const vol_attr *attr) {
    switch (attr->kind) {
    case VOL_ATTR_NUMBER:
        return vol_type_new(lib, attr->dtype);
    case VOL_ATTR_TEXT:
        return vol_type_text(lib);
    case VOL_ATTR_FIXED:
        return vol_type_fixed_text(lib, attr->dtype.size);
    case VOL_ATTR_REFS:
        break;
    }
    return lib->H5Tvlen_create(*lib->H5T_STD_REF_OBJ_g);
}

hid_t vol_attr_space(h5_lib *lib, const vol_attr *attr) {
    const hsize_t count = attr->count;
    return attr->scalar ? lib->H5Screate(H5S_SCALAR) : lib->H5Screate_simple(1, &count, NULL);
}

size_t vol_attr_size(const vol_attr *attr) {
    /* Variable-length elements count as HDF5's own files store them: length, address and index. */
    const size_t reference_size = 16;
    bool varies = attr->kind == VOL_ATTR_TEXT || attr->kind == VOL_ATTR_REFS;
    return attr->count * (varies ? reference_size : attr->dtype.size);
}
