/* SPDX-License-Identifier: MIT */
/* Bools and integers of 8 to 64 bits. */
#include "types/kinds.h"

#include <string.h>

#include "types/move.h"
#include "util/bytes.h"
#include "util/decimal.h"

/* The digits of a number, or of a string that is a plain integer. */
static const char *integer_text(const zb_json *value) {
    const char *text = zb_json_string(value);
    if (!text) {
        text = zb_json_number(value);
        return text && !strpbrk(text, "NI") ? text : NULL;
    }
    const char *digits = text + (*text == '-');
    return *digits && digits[strspn(digits, "0123456789")] == '\0' ? text : NULL;
}

/* Range by magnitude and sign, so that all 64-bit types share one path without losing a bit. */
bool zb__integer_parse(const zb_json *value, uint32_t size, bool is_signed, void *out) {
    const char *text = integer_text(value);
    bool negative;
    uint64_t magnitude;
    uint64_t all = UINT64_MAX >> (64 - 8 * size);
    uint64_t limit = all; /* the largest magnitude of this sign */
    if (!text || !zb__decimal_to_integer(text, &negative, &magnitude))
        return false;
    if (is_signed)
        limit = all / 2 + negative;
    else if (negative)
        limit = 0;
    if (magnitude > limit)
        return false;
    zb__store_element(negative ? 0 - magnitude : magnitude, size, out);
    return true;
}

void zb__integer_print(zb_json_writer *w, uint32_t size, const void *element) {
    unsigned unused = 64 - 8 * size;
    /* The sign is carried into the upper bits; right shifts of negative numbers do that here. */
    zb_json_write_int64(w, (int64_t)(zb__load_element(element, size) << unused) >> unused);
}

static enum zb_code parse_integer(zb__fill *fill, const zb_json *value, zb_dtype dtype, void *out) {
    if (zb__integer_parse(value, dtype.size, dtype.kind == ZB_KIND_INT, out))
        return ZB_OK;
    return zb__fill_expect(fill, "an integer within range");
}

static void print_int(zb_json_writer *w, zb_dtype dtype, const void *element) {
    zb__integer_print(w, dtype.size, element);
}

static void print_uint(zb_json_writer *w, zb_dtype dtype, const void *element) {
    zb_json_write_uint64(w, zb__load_element(element, dtype.size));
}

/* 2 stands for "neither" until the end. */
static enum zb_code parse_bool(zb__fill *fill, const zb_json *value, zb_dtype dtype, void *out) {
    bool negative;
    uint64_t number = 2;
    const char *text = zb_json_number(value);
    if (zb_json_kind_of(value) == ZB_JSON_BOOL)
        number = zb_json_bool(value);
    else if (text && (strpbrk(text, "NI") || !zb__decimal_to_integer(text, &negative, &number)))
        number = 2;
    if (number > 1 || (number == 1 && text && *text == '-'))
        return zb__fill_expect(fill, "true or false");
    zb__store_element(number, dtype.size, out);
    return ZB_OK;
}

static void print_bool(zb_json_writer *w, zb_dtype dtype, const void *element) {
    (void)dtype;
    zb_json_write_bool(w, *(const uint8_t *)element);
}

const zb__kind zb__kind_bool = {
    .kind = ZB_KIND_BOOL,
    .names = (const zb__type_name[]){{"bool", 1, "b1", NULL}, {0}},
    .components = 1,
    .fill_parse = parse_bool,
    .fill_print = print_bool,
    .convert = zb__numbers_convert,
};

const zb__kind zb__kind_int = {
    .kind = ZB_KIND_INT,
    .names = (const zb__type_name[]){{"int8", 1, "i1", NULL},
                                     {"int16", 2, "i2", NULL},
                                     {"int32", 4, "i4", NULL},
                                     {"int64", 8, "i8", NULL},
                                     {0}},
    .components = 1,
    .fill_parse = parse_integer,
    .fill_print = print_int,
    .convert = zb__numbers_convert,
};

const zb__kind zb__kind_uint = {
    .kind = ZB_KIND_UINT,
    .names = (const zb__type_name[]){{"uint8", 1, "u1", NULL},
                                     {"uint16", 2, "u2", NULL},
                                     {"uint32", 4, "u4", NULL},
                                     {"uint64", 8, "u8", NULL},
                                     {0}},
    .components = 1,
    .fill_parse = parse_integer,
    .fill_print = print_uint,
    .convert = zb__numbers_convert,
};
