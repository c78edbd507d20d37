/* SPDX-License-Identifier: MIT */
/* Bytes and text in fill values: see fill_bytes.h. */
#include "model/fill_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json_brief.h"
#include "base/utf8.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* The one message of fill values: the value that stands there, and the form that the type wants. */
enum zb_code zb__fill_fail(const zb_json *value, zb_dtype dtype, const char *expected,
                           zb_error *err) {
    char brief[ZB__BRIEF_SIZE];
    char name[ZB_DTYPE_NAME_SIZE];
    return zb_fail(err, ZB_EFORMAT, "fill_value is %s, expected %s for %s",
                   zb__json_brief(value, brief), expected, zb_dtype_name(dtype, name));
}

/* ---- From JSON ---- */

static uint8_t *from_list(const zb_json *value, zb_dtype dtype, uint8_t *out, zb_error *err) {
    uint8_t *byte = out;
    for (const zb_json *item = zb_json_first(value); item; item = zb_json_next(item)) {
        uint64_t number;
        if (!zb_json_uint64(item, &number) || number > 255) {
            zb__fill_fail(value, dtype, "a list of integers from 0 to 255", err);
            return NULL;
        }
        *byte++ = (uint8_t)number;
    }
    return out;
}

uint8_t *zb__fill_bytes(const zb_json *value, zb_dtype dtype, zb__arena *memory, size_t *size,
                        zb_error *err) {
    const bool is_list = zb_json_kind_of(value) == ZB_JSON_ARRAY;
    const char *text = zb_json_string(value);
    if (!text && !is_list) {
        zb__fill_fail(value, dtype, "base64 text or a list of integers from 0 to 255", err);
        return NULL;
    }
    *size = is_list ? zb_json_count(value) : zb__base64_bytes(text);
    /* A text that is not base64 may be shorter or longer than its length says. */
    uint8_t *out = zb__arena_alloc(memory, is_list ? *size + 1 : strlen(text) + 1);
    if (!out) {
        zb_fail(err, ZB_ENOMEM, "out of memory for a fill value of %zu bytes", *size);
        return NULL;
    }
    if (is_list)
        return from_list(value, dtype, out, err);
    if (zb__base64_decode(text, out))
        return out;
    zb__fill_fail(value, dtype, "base64 text", err);
    return NULL;
}

enum zb_code zb__fill_parse_fixed(const zb_json *value, zb_dtype dtype, zb__arena *memory,
                                  void *out, zb_error *err) {
    size_t size;
    zb_error local; /* the code comes from the error: it may be memory */
    err = err ? err : &local;
    const uint8_t *bytes = zb__fill_bytes(value, dtype, memory, &size, err);
    if (!bytes)
        return err->code;
    if (dtype.kind == ZB_KIND_RAW && size != dtype.size)
        return zb__fill_fail(value, dtype, "as many bytes as an element has", err);
    if (size > dtype.size)
        return zb__fill_fail(value, dtype, "at most as many bytes as an element has", err);
    memcpy(out, bytes, size);
    memset((uint8_t *)out + size, 0, dtype.size - size);
    return ZB_OK;
}

enum zb_code zb__fill_parse_bytes(const zb_json *value, zb_dtype dtype, zb__arena *memory,
                                  void *out, zb_error *err) {
    zb_slice slice;
    zb_error local;
    err = err ? err : &local;
    slice.data = (const char *)zb__fill_bytes(value, dtype, memory, &slice.size, err);
    if (!slice.data)
        return err->code;
    memcpy(out, &slice, sizeof slice);
    return ZB_OK;
}

/* The text is UTF-8: the parser of JSON has seen to it. */
static uint32_t next_point(const char *text, size_t length) {
    uint32_t point = (uint8_t)*text & (length == 1 ? 0x7fU : 0x7fU >> length);
    for (size_t i = 1; i < length; i++)
        point = point << 6 | ((uint8_t)text[i] & 0x3fU);
    return point;
}

enum zb_code zb__fill_parse_points(const zb_json *value, zb_dtype dtype, void *out, zb_error *err) {
    const char *text = zb_json_string(value);
    uint8_t *to = out, *end = to + dtype.size;
    if (!text)
        return zb__fill_fail(value, dtype, "a string", err);
    for (size_t left = strlen(text), length; left > 0; left -= length, text += length) {
        length = zb__utf8_length(text, left);
        if (length == 0 || to == end)
            return zb__fill_fail(value, dtype, "text of no more code points than an element has",
                                 err);
        const uint32_t point = next_point(text, length);
        memcpy(to, &point, sizeof point);
        to += sizeof point;
    }
    memset(to, 0, (size_t)(end - to));
    return ZB_OK;
}

/* ---- To JSON ---- */

void zb__fill_print_bytes(zb_json_writer *w, zb_dtype dtype, const void *element) {
    zb_slice slice = {.data = element, .size = dtype.size};
    if (dtype.kind == ZB_KIND_BYTES)
        memcpy(&slice, element, sizeof slice);
    while (dtype.kind == ZB_KIND_CHARS && slice.size > 0 && slice.data[slice.size - 1] == '\0')
        slice.size--;
    char *text = malloc(zb__base64_length(slice.size) + 1);
    w->text.failed = w->text.failed || !text;
    if (!text)
        return;
    zb__base64_encode((const uint8_t *)slice.data, slice.size, text);
    zb_json_write_string(w, text);
    free(text);
}

bool zb__fill_print_points(zb_json_writer *w, zb_dtype dtype, const void *element) {
    const uint8_t *from = element;
    char *text = malloc((size_t)dtype.size + 1), *to = text;
    bool good = true, ended = false;
    w->text.failed = w->text.failed || !text;
    for (uint32_t i = 0; text && i < dtype.size && good; i += 4) {
        uint32_t point;
        memcpy(&point, from + i, sizeof point);
        good = (!ended || point == 0) && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
        ended = ended || point == 0;
        if (good && point != 0)
            to += zb__utf8_put(to, point);
    }
    if (text)
        *to = '\0';
    zb_json_write_string(w, text && good ? text : "");
    free(text);
    return good;
}
