/* SPDX-License-Identifier: MIT */
/*
 * Fill values of version 2 are numbers, words ("NaN") and texts as in version 3, but for bytes and
 * structs, which are the base64 text of one element. Writers made other forms as well: 0 for types
 * that are no numbers, which means an empty element; a list of the one value (NCZarr).
 */
#include "model/v2_fill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json_brief.h"
#include "base/json_writer.h"
#include "zarrbridge/json.h"
#include "zarrbridge/limits.h"

/* ---- Fields of structs ---- */

static uint64_t load(const uint8_t *bytes, uint64_t size, char order) {
    uint64_t bits = 0;
    for (uint64_t i = 0; i < size; i++)
        bits = bits << 8 | bytes[order == '>' ? i : size - 1 - i];
    return bits;
}

/* As bits, which no conversion can change. */
static void write_float(zb_json_writer *w, const uint8_t *bytes, uint64_t size, char order) {
    char text[24];
    snprintf(text, sizeof text, "0x%0*llx", (int)(2 * size),
             (unsigned long long)load(bytes, size, order));
    zb_json_write_string(w, text);
}

static void write_number(zb_json_writer *w, const zb__v2_dtype *type, const uint8_t *bytes) {
    uint64_t bits = load(bytes, type->letter == 'c' ? 0 : type->size, type->order);
    unsigned unused = type->size < 8 ? 64 - 8 * (unsigned)type->size : 0;
    switch (type->letter) {
    case 'b':
        zb_json_write_bool(w, bits != 0);
        return;
    case 'u':
        zb_json_write_uint64(w, bits);
        return;
    case 'f':
        write_float(w, bytes, type->size, type->order);
        return;
    case 'c':
        zb_json_begin_array(w);
        write_float(w, bytes, type->size / 2, type->order);
        write_float(w, bytes + type->size / 2, type->size / 2, type->order);
        zb_json_end_array(w);
        return;
    default: /* i, M, m */
        zb_json_write_int64(w, (int64_t)(bits << unused) >> unused);
    }
}

static void write_byte_list(zb_json_writer *w, const uint8_t *bytes, uint64_t size) {
    zb_json_begin_array(w);
    for (uint64_t i = 0; i < size; i++)
        zb_json_write_uint64(w, bytes[i]);
    zb_json_end_array(w);
}

/* Puts one code point as UTF-8; 0 bytes for a number that is none. */
static size_t put_utf8(uint32_t point, char *out) {
    if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        return 0;
    size_t size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = size - 1; i > 0; i--, point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3f));
    out[0] = (char)(lead[size] | point);
    return size;
}

static enum zb_code write_points(zb_json_writer *w, const zb__v2_dtype *type, const uint8_t *bytes,
                                 zb_error *err) {
    uint64_t count = type->size / 4;
    char *text = malloc((size_t)type->size + 1);
    if (!text)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a fill value");
    while (count > 0 && load(bytes + 4 * (count - 1), 4, '<') == 0)
        count--;
    size_t used = 0;
    for (uint64_t i = 0; i < count; i++) {
        size_t size = put_utf8((uint32_t)load(bytes + 4 * i, 4, type->order), text + used);
        if (size == 0) {
            free(text);
            return zb_fail(err, ZB_EFORMAT, "fill_value: a field's text has no code points");
        }
        used += size;
    }
    zb__json_write_text(w, text, used);
    free(text);
    return ZB_OK;
}

static enum zb_code write_base64(zb_json_writer *w, const uint8_t *bytes, uint64_t size,
                                 zb_error *err) {
    while (size > 0 && bytes[size - 1] == 0)
        size--;
    char *text = malloc(zb__base64_length((size_t)size) + 1);
    if (!text)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a fill value");
    zb__base64_encode(bytes, (size_t)size, text);
    zb_json_write_string(w, text);
    free(text);
    return ZB_OK;
}

static enum zb_code write_struct(zb_json_writer *w, const zb__v2_dtype *type, const uint8_t *bytes,
                                 zb_error *err);

static enum zb_code write_element(zb_json_writer *w, const zb__v2_dtype *type, const uint8_t *bytes,
                                  zb_error *err) {
    switch (type->form) {
    case ZB__V2_PLAIN:
    case ZB__V2_TIME:
        write_number(w, type, bytes);
        return ZB_OK;
    case ZB__V2_BYTES:
        return write_base64(w, bytes, type->size, err);
    case ZB__V2_TEXT:
        return write_points(w, type, bytes, err);
    case ZB__V2_STRUCT:
        return write_struct(w, type, bytes, err);
    case ZB__V2_RAW:
    case ZB__V2_OBJECT: /* not in structs */
        break;
    }
    write_byte_list(w, bytes, type->size);
    return ZB_OK;
}

static enum zb_code write_struct(zb_json_writer *w, const zb__v2_dtype *type, const uint8_t *bytes,
                                 zb_error *err) {
    enum zb_code code = ZB_OK;
    zb_json_begin_object(w);
    for (const zb_json *f = zb_json_first(type->fields); f && !code; f = zb_json_next(f)) {
        const zb__v2_dtype field = zb__v2_field(f);
        zb_json_write_name(w, zb_json_string(zb_json_first(f)));
        code = write_element(w, &field, bytes, err);
        bytes += field.size;
    }
    zb_json_end_object(w);
    return code;
}

/* ---- Values ---- */

static enum zb_code wrong(const zb_json *value, const char *expected, zb_error *err) {
    char brief[ZB__BRIEF_SIZE];
    return zb_fail(err, ZB_EFORMAT, "fill_value is %s, expected %s", zb__json_brief(value, brief),
                   expected);
}

static bool is_zero(const zb_json *value) {
    double number;
    return zb_json_double(value, &number) && number == 0;
}

/* The bytes of one element. Memory is asked for by the text, not by the type. */
static enum zb_code write_encoded(zb_json_writer *w, const zb__v2_dtype *type, const zb_json *value,
                                  zb_error *err) {
    static const char expected[] = "the base64 text of one element";
    const char *text = zb_json_string(value);
    if (is_zero(value)) {
        zb_json_write_null(w);
        return ZB_OK;
    }
    if (!text || zb__base64_bytes(text) != type->size)
        return wrong(value, expected, err);
    uint8_t *bytes = malloc((size_t)type->size + 1);
    if (!bytes)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a fill value");
    enum zb_code code = zb__base64_decode(text, bytes) ? write_element(w, type, bytes, err)
                                                       : wrong(value, expected, err);
    free(bytes);
    return code;
}

enum zb_code zb__v2_fill_write(zb_json_writer *w, const zb__v2_dtype *dtype, const zb_json *value,
                               zb_error *err) {
    if (zb_json_kind_of(value) == ZB_JSON_ARRAY && zb_json_count(value) == 1 &&
        dtype->form != ZB__V2_STRUCT)
        value = zb_json_first(value);
    if (zb_json_kind_of(value) == ZB_JSON_NULL) {
        zb_json_write_null(w);
        return ZB_OK;
    }
    switch (dtype->form) {
    case ZB__V2_RAW:
    case ZB__V2_STRUCT:
        return write_encoded(w, dtype, value, err);
    case ZB__V2_BYTES:
    case ZB__V2_TEXT:
    case ZB__V2_OBJECT:
        if (is_zero(value)) {
            zb_json_write_string(w, "");
            return ZB_OK;
        }
        break;
    case ZB__V2_PLAIN:
    case ZB__V2_TIME:
        break;
    }
    zb_json_write_value(w, value);
    return ZB_OK;
}
