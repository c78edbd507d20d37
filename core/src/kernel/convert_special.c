/* SPDX-License-Identifier: MIT */
/* Moves of structs, text of a fixed size and small numbers: see convert_special.h. */
#include "kernel/convert_special.h"

#include <string.h>

#include "base/utf8.h"
#include "kernel/scatter.h"
#include "kernel/small.h"
#include "zarrbridge/dtype.h"

/* Codes in a block on the stack; a complex number has two. */
#define BLOCK 128

/* Stands for what is no code point, as in all decoders. */
#define REPLACEMENT 0xfffdU

/* ---- What converts ---- */

static bool is_small(zb_dtype dtype) {
    return dtype.kind == ZB_KIND_SMALL || dtype.kind == ZB_KIND_SMALL_COMPLEX;
}

/* The kind of the numbers that small ones stand for. */
static zb_dtype as_number(zb_dtype dtype) {
    if (!is_small(dtype))
        return dtype;
    return dtype.kind == ZB_KIND_SMALL ? (zb_dtype){.kind = ZB_KIND_FLOAT, .size = 8}
                                       : (zb_dtype){.kind = ZB_KIND_COMPLEX, .size = 16};
}

/* A field of a struct as it lies there: the struct's order counts, too. */
static zb_dtype field_dtype(zb_dtype parent, const zb_field *field) {
    zb_dtype dtype = field->dtype;
    dtype.swapped ^= parent.swapped;
    return dtype;
}

static bool fields_convert(zb_dtype from, zb_dtype to) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(to, &count);
    bool good = count > 0;
    for (size_t i = 0; i < count && good; i++) {
        const zb_field *source = zb_dtype_field(from, fields[i].name);
        good = source && zb_dtype_converts(source->dtype, fields[i].dtype) &&
               !zb_dtype_is_variable(source->dtype);
    }
    return good;
}

bool zb__special_converts(zb_dtype from, zb_dtype to) {
    if (from.kind == ZB_KIND_STRUCT && to.kind == ZB_KIND_STRUCT)
        return fields_convert(from, to);
    if (from.kind == ZB_KIND_CHARS || from.kind == ZB_KIND_UTF32)
        return from.size <= to.size && (to.kind == from.kind || to.kind == ZB_KIND_CHARS);
    const bool is_long = (from.kind == ZB_KIND_INT || from.kind == ZB_KIND_UINT) && from.size == 8;
    if (is_small(to) && is_long) /* a double would round some of them first */
        return false;
    return (is_small(from) || is_small(to)) && from.kind != ZB_KIND_STRUCT &&
           zb_dtype_converts(as_number(from), as_number(to));
}

/* ---- Structs ---- */

static void run_struct(const zb__move *move, const char *src, int64_t src_stride, char *dst,
                       int64_t dst_stride, size_t n) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(move->dst_dtype, &count);
    for (size_t i = 0; i < count; i++) {
        const zb_field *source = zb_dtype_field(move->src_dtype, fields[i].name);
        zb__convert(field_dtype(move->src_dtype, source), src + source->offset, src_stride,
                    field_dtype(move->dst_dtype, &fields[i]), dst + fields[i].offset, dst_stride,
                    n);
    }
}

/* ---- Text of a fixed size ---- */

static uint32_t load_point(const char *at, bool swapped) {
    uint32_t point;
    memcpy(&point, at, sizeof point);
    return swapped ? __builtin_bswap32(point) : point;
}

static void points_to_points(const zb__move *move, const char *src, char *dst) {
    for (uint32_t i = 0; i < move->src_dtype.size; i += 4) {
        const uint32_t point =
            load_point(src + i, move->src_dtype.swapped != move->dst_dtype.swapped);
        memcpy(dst + i, &point, sizeof point);
    }
    memset(dst + move->src_dtype.size, 0, move->dst_dtype.size - move->src_dtype.size);
}

/* NULs within the text stay; those behind it are the padding of both. */
static void points_to_chars(const zb__move *move, const char *src, char *dst) {
    char *out = dst;
    for (uint32_t i = 0; i < move->src_dtype.size; i += 4) {
        uint32_t point = load_point(src + i, move->src_dtype.swapped);
        const bool is_surrogate = point >= 0xd800 && point <= 0xdfff;
        point = is_surrogate || point > 0x10ffff ? REPLACEMENT : point;
        out += zb__utf8_put(out, point);
    }
    memset(out, 0, (size_t)(dst + move->dst_dtype.size - out));
}

/* The text has been looked at (zb__values_measure); but its memory is the program's, which may have
   changed it since. */
static void chars_to_points(const zb__move *move, const char *src, char *dst) {
    const char *end = src + move->src_dtype.size;
    char *const dst_end = dst + move->dst_dtype.size;
    for (size_t length; src < end && dst < dst_end; src += length, dst += sizeof(uint32_t)) {
        length = zb__utf8_length(src, (size_t)(end - src));
        uint32_t point = length > 0 ? zb__utf8_get(src, length) : REPLACEMENT;
        point = move->dst_dtype.swapped ? __builtin_bswap32(point) : point;
        memcpy(dst, &point, sizeof point);
        length = length > 0 ? length : 1;
    }
    memset(dst, 0, (size_t)(dst_end - dst));
}

static void run_text(const zb__move *move, const char *src, int64_t src_stride, char *dst,
                     int64_t dst_stride, size_t n) {
    const bool from_points = move->src_dtype.kind == ZB_KIND_UTF32;
    for (size_t i = 0; i < n; i++, src += src_stride, dst += dst_stride) {
        if (from_points && move->dst_dtype.kind == ZB_KIND_UTF32) {
            points_to_points(move, src, dst);
        } else if (from_points) {
            points_to_chars(move, src, dst);
        } else if (move->dst_dtype.kind == ZB_KIND_UTF32) {
            chars_to_points(move, src, dst);
        } else {
            memcpy(dst, src, move->src_dtype.size);
            memset(dst + move->src_dtype.size, 0, move->dst_dtype.size - move->src_dtype.size);
        }
    }
}

/* ---- Small numbers ---- */

/* By way of doubles, which hold all values of small ones, and all of the others but those that
   zb__special_converts refuses. */
static void run_small(const zb__move *move, const char *src, int64_t src_stride, char *dst,
                      int64_t dst_stride, size_t n) {
    zb_dtype from = move->src_dtype, to = move->dst_dtype;
    const zb_dtype wide = as_number(is_small(from) ? from : to);
    const size_t parts = wide.kind == ZB_KIND_COMPLEX ? 2 : 1;
    const enum zb_format source = zb_dtype_format(from), target = zb_dtype_format(to);
    zb_dtype from_host = from, to_host = to;
    from_host.swapped = to_host.swapped = false;
    double numbers[2 * BLOCK];
    uint16_t codes[2 * BLOCK];
    for (size_t block; n > 0; n -= block) {
        block = n < BLOCK ? n : BLOCK;
        if (source != ZB_FORMAT_NONE) {
            zb__convert(from, src, src_stride, from_host, codes, from.size, block);
            zb__small_widen(source, codes, numbers, block * parts);
        } else {
            zb__convert(from, src, src_stride, wide, numbers, wide.size, block);
        }
        if (target != ZB_FORMAT_NONE) {
            zb__small_narrow(target, numbers, codes, block * parts);
            zb__convert(to_host, codes, to.size, to, dst, dst_stride, block);
        } else {
            zb__convert(wide, numbers, wide.size, to, dst, dst_stride, block);
        }
        src += (int64_t)block * src_stride;
        dst += (int64_t)block * dst_stride;
    }
}

zb__move zb__move_special(zb_dtype src_dtype, zb_dtype dst_dtype) {
    return (zb__move){.run = src_dtype.kind == ZB_KIND_STRUCT             ? run_struct
                             : is_small(src_dtype) || is_small(dst_dtype) ? run_small
                                                                          : run_text,
                      .size = dst_dtype.size,
                      .src_size = src_dtype.size,
                      .src_dtype = src_dtype,
                      .dst_dtype = dst_dtype};
}
