/* SPDX-License-Identifier: MIT */
/*
 * From HDF5 values to JSON, by the table in attributes.h.
 *
 * Elements are brought to one of a few forms first: int64, uint64, double, bool, text. Doubles are
 * printed with as many digits as bring back the same double.
 */
#include "attributes/attributes.h"

#include "hdf5/types.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The form from which the elements are printed. */
enum form { FORM_SIGNED, FORM_UNSIGNED, FORM_DOUBLE, FORM_BOOL, FORM_TEXT };

typedef struct printing {
    h5_lib *lib;
    FILE *out;
    enum form form;
    size_t size;       /* bytes of an element */
    bool variable;     /* text: elements are char pointers */
    H5T_str_t padding; /* of fixed text */
    const char *next;  /* element */
} printing;

/* ---- Elements ---- */

static void print_double(FILE *out, double value) {
    char text[40];
    if (isnan(value)) {
        fputs("\"NaN\"", out);
    } else if (isinf(value)) {
        fputs(value < 0 ? "\"-Infinity\"" : "\"Infinity\"", out);
    } else {
        int digits = 15;
        do
            snprintf(text, sizeof text, "%.*g", digits, value);
        while (strtod(text, NULL) != value && ++digits <= 17);
        /* A fraction keeps readers from taking it for an integer. */
        fprintf(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
    }
}

static void print_text(FILE *out, const char *text, size_t length) {
    fputc('"', out);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

/* The length of a fixed string in `size` bytes. One that was never written is all NULs, whatever
   its padding. */
static size_t text_length(H5T_str_t padding, const char *text, size_t size) {
    size_t length = padding == H5T_STR_NULLTERM ? strnlen(text, size) : size;
    const char pad = padding == H5T_STR_SPACEPAD ? ' ' : '\0';
    while (length > 0 && (text[length - 1] == pad || text[length - 1] == '\0'))
        length--;
    return length;
}

char *vol_attr_text(h5_lib *lib, hid_t type, const void *element) {
    const char *text = element;
    if (lib->H5Tis_variable_str(type) <= 0)
        return strndup(text, text_length(lib->H5Tget_strpad(type), text, lib->H5Tget_size(type)));
    memcpy(&text, element, sizeof text);
    return strdup(text ? text : "");
}

/* Elements are aligned: the buffer is HDF5's or our own, and holds nothing else. */
static void print_element(printing *p) {
    const char *at = p->next;
    p->next += p->size;
    switch (p->form) {
    case FORM_SIGNED:
        fprintf(p->out, "%lld", (long long)*(const int64_t *)(const void *)at);
        break;
    case FORM_UNSIGNED:
        fprintf(p->out, "%llu", (unsigned long long)*(const uint64_t *)(const void *)at);
        break;
    case FORM_DOUBLE:
        print_double(p->out, *(const double *)(const void *)at);
        break;
    case FORM_BOOL:
        fputs(*at ? "true" : "false", p->out);
        break;
    case FORM_TEXT:
        if (p->variable) {
            char *text;
            memcpy(&text, at, sizeof text);
            print_text(p->out, text ? text : "", text ? strlen(text) : 0);
        } else {
            print_text(p->out, at, text_length(p->padding, at, p->size));
        }
        break;
    }
}

static void print_list(printing *p, uint32_t ndim, const hsize_t *dims) {
    if (ndim == 0) {
        print_element(p);
        return;
    }
    fputc('[', p->out);
    for (hsize_t i = 0; i < dims[0]; i++) {
        if (i > 0)
            fputc(',', p->out);
        print_list(p, ndim - 1, dims + 1);
    }
    fputc(']', p->out);
}

/* ---- Types ---- */

/* The reason why there is no JSON form, with the way out. */
static enum zb_code fail_type(H5T_class_t class, zb_error *err) {
    static const struct {
        H5T_class_t class;
        const char *what;
    } reasons[] = {
        {H5T_COMPOUND, "a compound; write each member as an attribute of its own"},
        {H5T_ENUM, "an enumeration other than bool; write its integers, or the name as a string"},
        {H5T_OPAQUE, "opaque bytes; write an array of uint8"},
        {H5T_BITFIELD, "a bitfield; write an unsigned integer"},
        {H5T_REFERENCE, "references; write the path of the object as a string"},
        {H5T_VLEN, "variable-length lists; write each list as an attribute of its own"},
        {H5T_ARRAY, "an array type; write an attribute with more dimensions"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].class == class)
            return zb_fail(err, ZB_EUNSUPPORTED,
                           "attributes of a Zarr store are JSON, which has no form for %s",
                           reasons[i].what);
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "attributes of a Zarr store are JSON, which has no form "
                   "for this type");
}

/* Chooses the form, and the type to convert to first (-1: none). */
static enum zb_code choose_form(h5_lib *lib, hid_t type, printing *p, hid_t *convert_to,
                                zb_error *err) {
    zb_dtype dtype;
    H5T_class_t class = lib->H5Tget_class(type);
    *convert_to = -1;
    p->size = sizeof(uint64_t);
    switch (class) {
    case H5T_INTEGER:
        p->form = lib->H5Tget_sign(type) == H5T_SGN_NONE ? FORM_UNSIGNED : FORM_SIGNED;
        *convert_to = p->form == FORM_SIGNED ? *lib->H5T_NATIVE_INT64_g : *lib->H5T_NATIVE_UINT64_g;
        return ZB_OK;
    case H5T_FLOAT:
        p->form = FORM_DOUBLE;
        *convert_to = vol_type_double(lib);
        return ZB_OK;
    case H5T_STRING:
        p->form = FORM_TEXT;
        p->variable = lib->H5Tis_variable_str(type) > 0;
        p->padding = lib->H5Tget_strpad(type);
        p->size = lib->H5Tget_size(type);
        return ZB_OK;
    case H5T_ENUM:
        p->form = FORM_BOOL;
        p->size = 1;
        return vol_type_to_dtype(lib, type, &dtype) ? ZB_OK : fail_type(class, err);
    default:
        return fail_type(class, err);
    }
}

/* A copy of the elements as `to`; malloc'ed. */
static enum zb_code convert(h5_lib *lib, hid_t from, hid_t to, size_t count, const void *data,
                            hid_t dxpl, void **out, zb_error *err) {
    const size_t size = lib->H5Tget_size(from);
    *out = calloc(count ? count : 1, size > sizeof(uint64_t) ? size : sizeof(uint64_t));
    if (!*out)
        return zb_fail(err, ZB_ENOMEM, "no memory for %zu values", count);
    if (count > 0)
        memcpy(*out, data, count * size);
    if (lib->H5Tconvert(from, to, count, *out, NULL, dxpl) >= 0)
        return ZB_OK;
    free(*out);
    *out = NULL;
    return zb_fail(err, ZB_EUNSUPPORTED, "HDF5 cannot convert the values to 64 bits");
}

static size_t element_count(uint32_t ndim, const hsize_t *dims) {
    size_t count = 1;
    for (uint32_t d = 0; d < ndim; d++)
        count *= (size_t)dims[d];
    return count;
}

/* Numbers are printed in the C locale, whatever the program chose. */
static bool print_all(printing *p, uint32_t ndim, const hsize_t *dims, char **text) {
    size_t size;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain)
        return false;
    locale_t before = uselocale(plain);
    p->out = open_memstream(text, &size);
    bool good = p->out != NULL;
    if (good) {
        print_list(p, ndim, dims);
        good = !ferror(p->out);
        good = fclose(p->out) == 0 && good;
    }
    uselocale(before);
    freelocale(plain);
    return good;
}

enum zb_code vol_attr_print(h5_lib *lib, hid_t type, uint32_t ndim, const hsize_t *dims,
                            const void *data, hid_t dxpl, char **text, zb_error *err) {
    printing p = {.lib = lib, .next = data};
    void *converted = NULL;
    hid_t convert_to;
    *text = NULL;
    enum zb_code code = choose_form(lib, type, &p, &convert_to, err);
    if (!code && convert_to >= 0) {
        code =
            convert(lib, type, convert_to, element_count(ndim, dims), data, dxpl, &converted, err);
        p.next = converted;
    }
    if (!code && !print_all(&p, ndim, dims, text))
        code = zb_fail(err, ZB_ENOMEM, "no memory for the text of an attribute");
    free(converted);
    return code;
}

/* ---- _FillValue ---- */

/* The 8 little-endian bytes in base64, as a JSON string. */
static char *print_base64(double value) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint64_t bits;
    unsigned char byte[9] = {0};
    char *text = malloc(15), *at = text;
    memcpy(&bits, &value, sizeof bits);
    for (size_t i = 0; i < 8; i++)
        byte[i] = (unsigned char)(bits >> (8 * i));
    if (!text)
        return NULL;
    *at++ = '"';
    for (size_t i = 0; i < 9; i += 3) {
        uint32_t word = (uint32_t)byte[i] << 16 | (uint32_t)byte[i + 1] << 8 | byte[i + 2];
        for (int shift = 18; shift >= 0; shift -= 6)
            *at++ = digits[word >> shift & 63];
    }
    at[-1] = '='; /* in place of the ninth byte, which holds no data */
    *at++ = '"';
    *at = '\0';
    return text;
}

enum zb_code vol_attr_print_fill(h5_lib *lib, hid_t type, zb_dtype dtype, const void *data,
                                 hid_t dxpl, char **text, zb_error *err) {
    void *converted;
    if (dtype.kind != ZB_KIND_FLOAT || dtype.size < 4 || lib->H5Tget_class(type) != H5T_FLOAT)
        return vol_attr_print(lib, type, 0, NULL, data, dxpl, text, err);
    enum zb_code code = convert(lib, type, vol_type_double(lib), 1, data, dxpl, &converted, err);
    if (code)
        return code;
    *text = print_base64(*(const double *)converted);
    free(converted);
    return *text ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for the text of an attribute");
}
