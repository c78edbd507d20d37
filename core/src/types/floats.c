/* SPDX-License-Identifier: MIT */
/*
 * Floats of 16, 32 and 64 bits, and complex numbers of two such. Bits are handled as uint64 and
 * stored by width, so that NaN payloads never pass through a floating point register, where some
 * processors would quieten them.
 */
#include "types/kinds.h"

#include <stdio.h>
#include <string.h>

#include "types/move.h"
#include "util/bytes.h"
#include "util/decimal.h"
#include "util/half.h"
#include "util/json_writer.h"

/* IEEE 754 patterns by size in bytes (2, 4, 8). */
static uint64_t infinity_bits(uint32_t size) {
    return size == 2 ? 0x7c00 : size == 4 ? 0x7f800000 : 0x7ff0000000000000;
}

/* The quiet NaN with no other bit of the fraction set, as the specification wants it. */
static uint64_t nan_bits(uint32_t size) {
    return size == 2 ? 0x7e00 : size == 4 ? 0x7fc00000 : 0x7ff8000000000000;
}

/* The most significant bit of a pattern of `size` bytes. */
static uint64_t sign_bit(uint32_t size) {
    return UINT64_C(1) << (8 * size - 1);
}

/* 16 for a character that is no hexadecimal digit. */
static uint64_t digit_value(char c) {
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *found = strchr(digits, c);
    const uint64_t value = found ? (uint64_t)(found - digits) : 22;
    return value < 16 ? value : value - 6;
}

bool zb__float_digits(const char *text, uint32_t size, uint64_t *bits) {
    const bool is_hex = strncmp(text, "0x", 2) == 0;
    if (!is_hex && strncmp(text, "0b", 2) != 0)
        return false;
    const uint64_t base = is_hex ? 16 : 2;
    const size_t count = strlen(text + 2);
    if (is_hex ? count != 2 * (size_t)size : count == 0 || count > 8 * (size_t)size)
        return false;
    *bits = 0;
    for (const char *c = text + 2; *c; c++) {
        const uint64_t digit = digit_value(*c);
        if (digit >= base)
            return false;
        *bits = *bits * base + digit;
    }
    return true;
}

bool zb__float_word(const char *text, uint32_t size, uint64_t *bits) {
    if (strcmp(text, "NaN") == 0)
        *bits = nan_bits(size);
    else if (strcmp(text, "Infinity") == 0 || strcmp(text, "+Infinity") == 0)
        *bits = infinity_bits(size);
    else if (strcmp(text, "-Infinity") == 0)
        *bits = infinity_bits(size) | sign_bit(size);
    else
        return false;
    return true;
}

/* A float of `size` bytes; one component of a complex number, or a whole element. */
static bool parse_component(const zb_json *value, uint32_t size, void *out) {
    uint64_t bits;
    const char *number = zb_json_number(value);
    const char *text = number ? number : zb_json_string(value);
    if (!text)
        return false;
    if (zb__float_word(text, size, &bits) || (!number && zb__float_digits(text, size, &bits))) {
        zb__store_element(bits, size, out);
        return true;
    }
    if (!number)
        return false;
    if (size == 2) {
        zb__store_element(zb__decimal_to_half(number), size, out);
    } else if (size == 4) {
        float f = zb__decimal_to_float(number);
        memcpy(out, &f, sizeof f);
    } else {
        double d = zb__decimal_to_double(number);
        memcpy(out, &d, sizeof d);
    }
    return true;
}

/* Numbers as strings ("1.5") are not taken for floats: no writer is known to make them. */
static enum zb_code parse_float(zb__fill *fill, const zb_json *value, zb_dtype dtype, void *out) {
    if (parse_component(value, dtype.size, out))
        return ZB_OK;
    return zb__fill_expect(
        fill, "a number, \"NaN\", \"Infinity\", \"-Infinity\" or all hexadecimal digits");
}

/* A list of the two components; each may have another form. */
static enum zb_code parse_complex(zb__fill *fill, const zb_json *value, zb_dtype dtype, void *out) {
    uint32_t half = dtype.size / 2;
    const zb_json *real = zb_json_first(value);
    const zb_json *imaginary = zb_json_next(real);
    const char *number = zb_json_number(value);
    if (number && !strpbrk(number, "NI")) { /* NaN alone would leave open which part it means */
        memset(out, 0, dtype.size);
        parse_component(value, half, out);
        return ZB_OK;
    }
    if (zb_json_kind_of(value) != ZB_JSON_ARRAY || zb_json_count(value) != 2 ||
        !parse_component(real, half, out) || !parse_component(imaginary, half, (char *)out + half))
        return zb__fill_expect(fill, "a list of two floats");
    return ZB_OK;
}

/* The bits of a NaN are looked at before any floating-point operation could change them. A sign
   says nothing of a NaN: processors make 0/0 with one, and zarr-python 3.0 cannot open a group with
   an array whose fill value has digits. A NaN with a payload keeps its bits. */
static void print_component(zb_json_writer *w, uint32_t size, const void *element) {
    const uint64_t bits = zb__load_element(element, size), magnitude = bits & ~sign_bit(size);
    char digits[24];
    if (magnitude == nan_bits(size)) {
        zb_json_write_string(w, "NaN");
        return;
    }
    if (magnitude <= infinity_bits(size)) {
        zb__json_write_real(w, zb__load_float(element, size), size);
        return;
    }
    snprintf(digits, sizeof digits, "0x%0*llx", (int)(2 * size), (unsigned long long)bits);
    zb_json_write_string(w, digits);
}

static void print_float(zb_json_writer *w, zb_dtype dtype, const void *element) {
    print_component(w, dtype.size, element);
}

static void print_complex(zb_json_writer *w, zb_dtype dtype, const void *element) {
    const uint32_t half = dtype.size / 2;
    zb_json_begin_array(w);
    print_component(w, half, element);
    print_component(w, half, (const char *)element + half);
    zb_json_end_array(w);
}

const zb__kind zb__kind_float = {
    .kind = ZB_KIND_FLOAT,
    .names = (const zb__type_name[]){{"float16", 2, "f2", NULL},
                                     {"float32", 4, "f4", NULL},
                                     {"float64", 8, "f8", NULL},
                                     {0}},
    .components = 1,
    .fill_parse = parse_float,
    .fill_print = print_float,
    .convert = zb__numbers_convert,
};

const zb__kind zb__kind_complex = {
    .kind = ZB_KIND_COMPLEX,
    .names = (const zb__type_name[]){{"complex64", 8, "c8", NULL},
                                     {"complex128", 16, "c16", NULL},
                                     {"complex_float32", 8, NULL, NULL},
                                     {"complex_float64", 16, NULL, NULL},
                                     {"complex_float16", 4, NULL, NULL},
                                     {"complex32", 4, NULL, NULL}, /* GDAL's */
                                     {0}},
    .components = 2,
    .fill_parse = parse_complex,
    .fill_print = print_complex,
    .convert = zb__numbers_convert,
};
