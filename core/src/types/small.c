/* SPDX-License-Identifier: MIT */
/* Numbers of few bits, by their formats. */
#include "types/kinds.h"

#include <stdio.h>
#include <string.h>

#include "types/move.h"
#include "util/bytes.h"
#include "util/decimal.h"
#include "util/json_writer.h"

static bool is_complex(zb_dtype dtype) {
    return dtype.size > zb__format_bytes(zb__format_of(dtype));
}

zb_dtype zb__small_shown(zb_dtype dtype) {
    const zb__format *format = zb__format_of(dtype);
    if (!format)
        return dtype;
    if (is_complex(dtype))
        return (zb_dtype){.kind = ZB_KIND_COMPLEX, .size = 2 * sizeof(float)};
    if (!format->is_integer)
        return (zb_dtype){.kind = ZB_KIND_FLOAT, .size = sizeof(float)};
    return (zb_dtype){.kind = format->is_signed ? ZB_KIND_INT : ZB_KIND_UINT, .size = 1};
}

/* ---- Fill values -------------------------------------------------------------------------- */

static bool parse_integer(const zb_json *value, const zb__format *format, uint32_t *code) {
    int8_t number;
    if (!zb__integer_parse(value, 1, true, &number))
        return false;
    *code = zb__format_from_double(format, number);
    return zb__format_to_double(format, *code) == number;
}

/* The words where the format has codes for them, hexadecimal digits of all bytes, or a number,
   rounded; one that is too large is no infinity where there is none. */
static bool parse_float(const zb_json *value, const zb__format *format, uint32_t *code) {
    const char *number = zb_json_number(value);
    const char *text = number ? number : zb_json_string(value);
    uint64_t bits;
    double limit;
    if (!text)
        return false;
    if (strcmp(text, "NaN") == 0) {
        *code = format->nan;
        return format->nan != 0;
    }
    if (zb__float_word(text, sizeof limit, &bits)) {
        memcpy(&limit, &bits, sizeof limit);
        *code = zb__format_from_double(format, limit);
        return format->infinity != 0;
    }
    if (!number && zb__float_digits(text, zb__format_bytes(format), &bits)) {
        *code = (uint32_t)bits;
        return true;
    }
    if (number)
        *code = zb__format_from_double(format, zb__decimal_to_double(number));
    return number != NULL;
}

static bool parse_part(const zb_json *value, const zb__format *format, void *out) {
    uint32_t code = 0;
    const bool good = format->is_integer ? parse_integer(value, format, &code)
                                         : parse_float(value, format, &code);
    zb__store_element(code, zb__format_bytes(format), out);
    return good;
}

enum zb_code zb__small_fill_parse(zb__fill *fill, const zb_json *value, zb_dtype dtype, void *out) {
    const zb__format *format = zb__format_of(dtype);
    const zb_json *real = zb_json_first(value);
    if (!is_complex(dtype))
        return parse_part(value, format, out) ? ZB_OK
                                              : zb__fill_expect(fill, "a value that the type has");
    const bool good = zb_json_kind_of(value) == ZB_JSON_ARRAY && zb_json_count(value) == 2 &&
                      parse_part(real, format, out) &&
                      parse_part(zb_json_next(real), format, (char *)out + dtype.size / 2);
    return good ? ZB_OK : zb__fill_expect(fill, "a list of two values that the type has");
}

/* Hexadecimal for a NaN that is not the canonical one. */
static void print_part(zb_json_writer *w, const zb__format *format, const void *element) {
    const uint32_t size = zb__format_bytes(format);
    const uint32_t code = (uint32_t)zb__load_element(element, size) & zb__format_mask(format);
    const double value = zb__format_to_double(format, code);
    char digits[8];
    if (format->is_integer) {
        zb_json_write_int64(w, (int64_t)value);
    } else if (value == value || code == format->nan) {
        zb__json_write_real(w, value, sizeof value);
    } else {
        snprintf(digits, sizeof digits, "0x%0*x", (int)(2 * size), code);
        zb_json_write_string(w, digits);
    }
}

void zb__small_fill_print(zb_json_writer *w, zb_dtype dtype, const void *element) {
    const zb__format *format = zb__format_of(dtype);
    if (!is_complex(dtype)) {
        print_part(w, format, element);
        return;
    }
    zb_json_begin_array(w);
    print_part(w, format, element);
    print_part(w, format, (const char *)element + dtype.size / 2);
    zb_json_end_array(w);
}

/* ---- Conversion --------------------------------------------------------------------------- */

/* Codes in a block on the stack; a complex number has two. */
#define BLOCK 128

/* The numbers that small ones stand for. */
static zb_dtype as_number(zb_dtype dtype) {
    if (!zb__format_of(dtype))
        return dtype;
    return is_complex(dtype) ? (zb_dtype){.kind = ZB_KIND_COMPLEX, .size = 16}
                             : (zb_dtype){.kind = ZB_KIND_FLOAT, .size = 8};
}

/* Between codes in their own byte order and the host's, in either direction. */
static void move_codes(zb_dtype dtype, const char *src, int64_t src_stride, char *dst,
                       int64_t dst_stride, size_t n) {
    const uint32_t bytes = zb__format_bytes(zb__format_of(dtype));
    const zb__move move =
        dtype.swapped && bytes > 1 ? zb__move_swap(dtype.size, bytes) : zb__move_copy(dtype.size);
    move.run(&move, src, src_stride, dst, dst_stride, n);
}

/* By way of doubles, which hold all values of small ones, and all of the others but those that
   `convert` refuses. */
static void run(const zb__move *move, const char *src, int64_t src_stride, char *dst,
                int64_t dst_stride, size_t n) {
    const zb_dtype from = move->src_dtype, to = move->dst_dtype;
    const zb__format *source = zb__format_of(from), *target = zb__format_of(to);
    const zb_dtype wide = as_number(source ? from : to);
    const size_t parts = wide.kind == ZB_KIND_COMPLEX ? 2 : 1;
    double numbers[2 * BLOCK];
    uint16_t codes[2 * BLOCK];
    for (size_t block; n > 0; n -= block) {
        block = n < BLOCK ? n : BLOCK;
        if (source) {
            move_codes(from, src, src_stride, (char *)codes, from.size, block);
            zb__format_widen(source, codes, numbers, block * parts);
        } else {
            zb__numbers_run(from, src, src_stride, wide, numbers, wide.size, block);
        }
        if (target) {
            zb__format_narrow(target, numbers, codes, block * parts);
            move_codes(to, (const char *)codes, to.size, dst, dst_stride, block);
        } else {
            zb__numbers_run(wide, numbers, wide.size, to, dst, dst_stride, block);
        }
        src += (int64_t)block * src_stride;
        dst += (int64_t)block * dst_stride;
    }
}

bool zb__small_convert(zb_dtype from, zb_dtype to, zb__move *move) {
    const bool is_long = (from.kind == ZB_KIND_INT || from.kind == ZB_KIND_UINT) && from.size == 8;
    const bool rounds_twice = is_long && zb__format_of(to); /* once for a double */
    const bool good = !rounds_twice && zb__numbers_convert(as_number(from), as_number(to), NULL);
    if (good && move)
        *move = zb__move_by(run, from, to);
    return good;
}

/* ---- The rows of those that the public header lists --------------------------------------- */

static bool exists(zb_dtype dtype) {
    const zb__format *format = zb__format_of(dtype);
    return format && dtype.size == zb__format_bytes(format)
                                       << (dtype.kind == ZB_KIND_SMALL_COMPLEX);
}

#define TYPE(text, bytes, number)                                                                  \
    {                                                                                              \
        text, bytes, NULL, &(const zb_dtype_detail) {                                              \
            .format = ZB_FORMAT_##number                                                           \
        }                                                                                          \
    }
#define FLOATS(prefix, parts)                                                                      \
    TYPE(prefix "float4_e2m1fn", parts, FLOAT4_E2M1FN),                                            \
        TYPE(prefix "float6_e2m3fn", parts, FLOAT6_E2M3FN),                                        \
        TYPE(prefix "float6_e3m2fn", parts, FLOAT6_E3M2FN),                                        \
        TYPE(prefix "float8_e3m4", parts, FLOAT8_E3M4),                                            \
        TYPE(prefix "float8_e4m3", parts, FLOAT8_E4M3),                                            \
        TYPE(prefix "float8_e4m3b11fnuz", parts, FLOAT8_E4M3B11FNUZ),                              \
        TYPE(prefix "float8_e4m3fnuz", parts, FLOAT8_E4M3FNUZ),                                    \
        TYPE(prefix "float8_e5m2", parts, FLOAT8_E5M2),                                            \
        TYPE(prefix "float8_e5m2fnuz", parts, FLOAT8_E5M2FNUZ),                                    \
        TYPE(prefix "float8_e8m0fnu", parts, FLOAT8_E8M0FNU),                                      \
        TYPE(prefix "bfloat16", 2 * (parts), BFLOAT16)

const zb__kind zb__kind_small = {
    .kind = ZB_KIND_SMALL,
    .names = (const zb__type_name[]){TYPE("int2", 1, INT2),
                                     TYPE("int4", 1, INT4),
                                     TYPE("uint2", 1, UINT2),
                                     TYPE("uint4", 1, UINT4),
                                     FLOATS("", 1),
                                     {0}},
    .exists = exists,
    ZB__SMALL(1),
};

const zb__kind zb__kind_small_complex = {
    .kind = ZB_KIND_SMALL_COMPLEX,
    .names = (const zb__type_name[]){FLOATS("complex_", 2), {0}},
    .exists = exists,
    ZB__SMALL(2),
};
