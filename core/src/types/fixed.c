/* SPDX-License-Identifier: MIT */
/* Elements of as many bytes as the document says: raw ones, and text with NULs behind it. */
#include <stdlib.h>
#include <string.h>

#include "types/kinds.h"
#include "util/json_excerpt.h"
#include "util/json_writer.h"
#include "util/utf8.h"
#include "zarrbridge/limits.h"

#define POINT sizeof(uint32_t) /* bytes of a code point */

/* Stands for what is no code point, as in all decoders. */
#define REPLACEMENT 0xfffdU

/* ---- Types -------------------------------------------------------------------------------- */

static enum zb_code parse_length(const zb__kind *kind, const zb__extension *type, zb__arena *memory,
                                 zb_dtype *out, zb_error *err) {
    static const char *const known[] = {"length_bytes", NULL};
    const zb_json *length = zb_json_get(type->configuration, "length_bytes");
    const bool is_points = kind->kind == ZB_KIND_UTF32;
    const uint64_t limit = zb_limits_get()->chunk_bytes;
    uint64_t number;
    char excerpt[ZB__BRIEF_SIZE];
    (void)memory;
    if (!zb_json_uint64(length, &number) || number == 0 || (is_points && number % POINT != 0))
        return zb_fail(err, ZB_EFORMAT, "data_type: length_bytes is %s, expected %s",
                       zb__json_excerpt(length, excerpt),
                       is_points ? "a positive multiple of 4" : "a positive integer");
    if (number > limit || number > UINT32_MAX)
        return zb_fail(err, ZB_ELIMIT,
                       "data_type: length_bytes is %llu, the limit chunk_bytes is %llu",
                       (unsigned long long)number, (unsigned long long)limit);
    *out = (zb_dtype){.kind = kind->kind, .size = (uint32_t)number};
    return zb__extension_check(type, "data_type", known, err);
}

static void write_length(zb_json_writer *w, zb_dtype dtype) {
    zb_json_write_name(w, "length_bytes");
    zb_json_write_uint64(w, dtype.size);
}

/* "r<bits>" with a decimal number that has no leading zero. */
static bool is_bits(const char *name) {
    if (name[0] != 'r' || name[1] == '0') /* also the empty name, behind whose end is nothing */
        return false;
    const size_t count = strspn(name + 1, "0123456789");
    return count > 0 && name[1 + count] == '\0';
}

/* Limits come first: the remainder of a number that saturated is not known. */
static enum zb_code parse_bits(const char *name, zb_dtype *out, zb_error *err) {
    /* One element is part of a chunk, and the size has to fit zb_dtype.size. */
    uint64_t limit = zb_limits_get()->chunk_bytes, bits = 0;
    char excerpt[ZB__BRIEF_SIZE];
    for (const char *digit = name + 1; *digit; digit++)
        bits = bits < UINT64_MAX / 16 ? bits * 10 + (uint64_t)(*digit - '0') : bits;
    if (bits / 8 > limit || bits / 8 > UINT32_MAX)
        return zb_fail(err, ZB_ELIMIT,
                       "data_type is %s, an element of more than %llu bytes, the limit chunk_bytes",
                       zb__name_excerpt(name, excerpt),
                       (unsigned long long)(limit < UINT32_MAX ? limit : UINT32_MAX));
    if (bits % 8 != 0)
        return zb_fail(err, ZB_EFORMAT, "data_type is %s, expected a multiple of 8 bits",
                       zb__name_excerpt(name, excerpt));
    *out = (zb_dtype){.kind = ZB_KIND_RAW, .size = (uint32_t)(bits / 8)};
    return ZB_OK;
}

static enum zb_code parse_raw(const zb__kind *kind, const zb__extension *type, zb__arena *memory,
                              zb_dtype *out, zb_error *err) {
    static const char *const no_configuration[] = {NULL};
    if (!is_bits(type->name))
        return parse_length(kind, type, memory, out, err);
    enum zb_code code = parse_bits(type->name, out, err);
    return code ? code : zb__extension_check(type, "data_type", no_configuration, err);
}

static bool bytes_exist(zb_dtype dtype) {
    return dtype.size > 0;
}

static bool points_exist(zb_dtype dtype) {
    return dtype.size > 0 && dtype.size % POINT == 0;
}

/* ---- Fill values -------------------------------------------------------------------------- */

/* Raw bytes have all of theirs, text is padded with NULs. */
static enum zb_code parse_bytes(zb__fill *fill, const zb_json *value, zb_dtype dtype, void *out) {
    zb_slice bytes;
    enum zb_code code = zb__fill_bytes(fill, value, &bytes);
    if (code)
        return code;
    if (dtype.kind == ZB_KIND_RAW && bytes.size != dtype.size)
        return zb__fill_expect(fill, "as many bytes as an element has");
    if (bytes.size > dtype.size)
        return zb__fill_expect(fill, "at most as many bytes as an element has");
    memcpy(out, bytes.data, bytes.size);
    memset((uint8_t *)out + bytes.size, 0, dtype.size - bytes.size);
    return ZB_OK;
}

static void print_bytes(zb_json_writer *w, zb_dtype dtype, const void *element) {
    zb_slice bytes = {.data = element, .size = dtype.size};
    while (dtype.kind == ZB_KIND_CHARS && bytes.size > 0 && bytes.data[bytes.size - 1] == '\0')
        bytes.size--;
    zb__fill_print_bytes(w, bytes);
}

static enum zb_code parse_points(zb__fill *fill, const zb_json *value, zb_dtype dtype, void *out) {
    const char *text = zb_json_string(value);
    uint8_t *to = out, *end = to + dtype.size;
    if (!text)
        return zb__fill_expect(fill, "a string");
    for (size_t left = strlen(text), length; left > 0; left -= length, text += length) {
        length = zb__utf8_length(text, left);
        if (length == 0 || to == end)
            return zb__fill_expect(fill, "text of no more code points than an element has");
        const uint32_t point = zb__utf8_get(text, length);
        memcpy(to, &point, sizeof point);
        to += sizeof point;
    }
    memset(to, 0, (size_t)(end - to));
    return ZB_OK;
}

static uint32_t load_point(const char *at, bool swapped) {
    uint32_t point;
    memcpy(&point, at, sizeof point);
    return swapped ? __builtin_bswap32(point) : point;
}

static bool is_point(uint32_t point) {
    return point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
}

/* Code points, of which none stands behind a NUL. */
static bool are_points(zb_dtype dtype, const void *element) {
    bool good = true, ended = false;
    for (uint32_t i = 0; i < dtype.size && good; i += POINT) {
        const uint32_t point = load_point((const char *)element + i, false);
        ended = ended || point == 0;
        good = is_point(point) && (!ended || point == 0);
    }
    return good;
}

static void print_points(zb_json_writer *w, zb_dtype dtype, const void *element) {
    char *text = malloc((size_t)dtype.size + 1), *to = text;
    w->text.failed = w->text.failed || !text;
    if (!text)
        return;
    for (uint32_t i = 0, point = 1; i < dtype.size && point != 0; i += POINT) {
        point = load_point((const char *)element + i, false);
        to += zb__utf8_put(to, point);
    }
    *to = '\0';
    zb_json_write_string(w, text);
    free(text);
}

/* ---- Conversion --------------------------------------------------------------------------- */

static void points_to_points(const zb__move *move, const char *src, char *dst) {
    for (uint32_t i = 0; i < move->src_dtype.size; i += POINT) {
        const uint32_t point =
            load_point(src + i, move->src_dtype.swapped != move->dst_dtype.swapped);
        memcpy(dst + i, &point, sizeof point);
    }
    memset(dst + move->src_dtype.size, 0, move->dst_dtype.size - move->src_dtype.size);
}

/* NULs within the text stay; those behind it are the padding of both. */
static void points_to_chars(const zb__move *move, const char *src, char *dst) {
    char *out = dst;
    for (uint32_t i = 0; i < move->src_dtype.size; i += POINT) {
        const uint32_t point = load_point(src + i, move->src_dtype.swapped);
        out += zb__utf8_put(out, is_point(point) ? point : REPLACEMENT);
    }
    memset(out, 0, (size_t)(dst + move->dst_dtype.size - out));
}

/* The text has been looked at (measure_chars); but its memory is the program's, which may have
   changed it since. */
static void chars_to_points(const zb__move *move, const char *src, char *dst) {
    const char *end = src + move->src_dtype.size;
    char *const dst_end = dst + move->dst_dtype.size;
    for (size_t length; src < end && dst < dst_end; src += length, dst += POINT) {
        length = zb__utf8_length(src, (size_t)(end - src));
        uint32_t point = length > 0 ? zb__utf8_get(src, length) : REPLACEMENT;
        point = move->dst_dtype.swapped ? __builtin_bswap32(point) : point;
        memcpy(dst, &point, sizeof point);
        length = length > 0 ? length : 1;
    }
    memset(dst, 0, (size_t)(dst_end - dst));
}

static void chars_to_chars(const zb__move *move, const char *src, char *dst) {
    memcpy(dst, src, move->src_dtype.size);
    memset(dst + move->src_dtype.size, 0, move->dst_dtype.size - move->src_dtype.size);
}

static void run_text(const zb__move *move, const char *src, int64_t src_stride, char *dst,
                     int64_t dst_stride, size_t n) {
    const bool from_points = move->src_dtype.kind == ZB_KIND_UTF32;
    const bool to_points = move->dst_dtype.kind == ZB_KIND_UTF32;
    void (*const one)(const zb__move *, const char *, char *) =
        from_points ? (to_points ? points_to_points : points_to_chars)
                    : (to_points ? chars_to_points : chars_to_chars);
    for (size_t i = 0; i < n; i++, src += src_stride, dst += dst_stride)
        one(move, src, dst);
}

/* Into longer text; what is written only goes from characters to code points. */
static bool convert(zb_dtype from, zb_dtype to, zb__move *move) {
    const bool are_text = (from.kind == ZB_KIND_CHARS || from.kind == ZB_KIND_UTF32) &&
                          (to.kind == ZB_KIND_CHARS || to.kind == ZB_KIND_UTF32);
    if (move && are_text)
        *move = zb__move_by(run_text, from, to);
    return are_text && (move || (from.size <= to.size &&
                                 (from.kind == ZB_KIND_UTF32 || to.kind == ZB_KIND_CHARS)));
}

static bool writes_points(zb_dtype from, zb_dtype to) {
    return from.size > 0 && to.size > 0 && to.kind == ZB_KIND_UTF32;
}

/* Text that is to become code points. NULs at its end are padding. */
static const char *measure_chars(zb_dtype dtype, const char *text, zb_dtype to, uint64_t *bytes) {
    size_t size = dtype.size, most = to.size / POINT;
    (void)bytes;
    if (to.kind != ZB_KIND_UTF32)
        return NULL;
    while (size > 0 && text[size - 1] == '\0')
        size--;
    for (size_t length; size > 0; text += length, size -= length) {
        length = zb__utf8_length(text, size);
        if (length == 0)
            return ZB__NO_TEXT;
        if (most-- == 0)
            return "has more characters than the array's type holds";
    }
    return NULL;
}

/* ---- The rows ----------------------------------------------------------------------------- */

const zb__kind zb__kind_raw = {
    .kind = ZB_KIND_RAW,
    .names = (const zb__type_name[]){{"raw_bytes", 0, "V", NULL}, {0}},
    .claims = is_bits,
    .parse = parse_raw,
    .write = write_length,
    .exists = bytes_exist,
    .fill_parse = parse_bytes,
    .fill_print = print_bytes,
};

const zb__kind zb__kind_chars = {
    .kind = ZB_KIND_CHARS,
    .names = (const zb__type_name[]){{"null_terminated_bytes", 0, "S", NULL}, {0}},
    .name = "null_terminated_bytes",
    .parse = parse_length,
    .write = write_length,
    .exists = bytes_exist,
    .prints_size = true,
    .fill_parse = parse_bytes,
    .fill_print = print_bytes,
    .convert = convert,
    .writes = writes_points,
    .measure = measure_chars,
};

const zb__kind zb__kind_utf32 = {
    .kind = ZB_KIND_UTF32,
    .names = (const zb__type_name[]){{"fixed_length_utf32", 0, "U", NULL}, {0}},
    .name = "fixed_length_utf32",
    .parse = parse_length,
    .write = write_length,
    .exists = points_exist,
    .prints_size = true,
    .numpy_unit = POINT,
    .order_bytes = POINT,
    .fill_parse = parse_points,
    .fill_print = print_points,
    .fill_fits = are_points,
    .convert = convert,
};
