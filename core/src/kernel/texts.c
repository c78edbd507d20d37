/* SPDX-License-Identifier: MIT */
/* Looking at text before it is written: see texts.h. Nothing needs to be aligned. */
#include "kernel/texts.h"

#include <string.h>

#include "base/utf8.h"

/* A word of bytes below 0x80 has none of these bits. */
#define NOT_ASCII UINT64_C(0x8080808080808080)

static uint64_t load_word(const char *text) {
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return word;
}

/* The first byte of a word that is not all ASCII, or where the last whole word ends. Text that ends
   in the middle of a word is looked at by its last eight bytes: the answer is then its end. */
static size_t skip_ascii(const char *text, size_t at, size_t size) {
    const size_t word = sizeof(uint64_t);
    while (size - at >= word && !(load_word(text + at) & NOT_ASCII))
        at += word;
    if (at > 0 && size - at < word && size >= word && !(load_word(text + size - word) & NOT_ASCII))
        at = size;
    return at;
}

bool zb__is_utf8(const char *text, size_t size) {
    size_t at = skip_ascii(text, 0, size);
    while (at < size) {
        size_t length = zb__utf8_length(text + at, size - at);
        if (length == 0)
            return false;
        at += length;
        if (length == 1)
            at = skip_ascii(text, at, size);
    }
    return true;
}

static const char no_text[] = "is no UTF-8 text";

/* Adds the bytes of a slice. What it cannot be, or NULL. */
static const char *measure_slice(zb_dtype dtype, zb_slice slice, uint64_t *bytes) {
    if ((!slice.data && slice.size > 0) || __builtin_add_overflow(*bytes, slice.size, bytes) ||
        *bytes > SIZE_MAX / 2)
        return "is longer than memory";
    return dtype.kind == ZB_KIND_BYTES || zb__is_utf8(slice.data, slice.size) ? NULL : no_text;
}

/* Looks at text that is to become code points, of which there is room for `most`. NULs at its end
   are padding. */
static const char *measure_chars(const char *text, size_t size, size_t most) {
    while (size > 0 && text[size - 1] == '\0')
        size--;
    for (size_t length; size > 0; text += length, size -= length) {
        length = zb__utf8_length(text, size);
        if (length == 0)
            return no_text;
        if (most-- == 0)
            return "has more characters than the array's type holds";
    }
    return NULL;
}

const char *zb__text_measure(zb_dtype dtype, const char *element, zb_dtype to, uint64_t *bytes) {
    if (zb__is_slice(dtype)) {
        zb_slice slice;
        memcpy(&slice, element, sizeof slice);
        return measure_slice(dtype, slice, bytes);
    }
    if (dtype.kind == ZB_KIND_CHARS && to.kind == ZB_KIND_UTF32)
        return measure_chars(element, dtype.size, to.size / sizeof(uint32_t));
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    const char *problem = NULL;
    for (size_t i = 0; i < count && !problem; i++) {
        const zb_field *field = zb_dtype_field(to, fields[i].name);
        problem = zb__text_measure(fields[i].dtype, element + fields[i].offset,
                                   field ? field->dtype : fields[i].dtype, bytes);
    }
    return problem;
}

const char *zb_dtype_refuses(zb_dtype from, const void *element, zb_dtype to) {
    uint64_t bytes = 0;
    return zb__text_measure(from, element, to, &bytes);
}

bool zb__text_is_checked(zb_dtype from, zb_dtype to) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(from, &count);
    bool checked = zb__is_slice(from) || (from.kind == ZB_KIND_CHARS && to.kind == ZB_KIND_UTF32);
    for (size_t i = 0; i < count && !checked; i++) {
        const zb_field *field = zb_dtype_field(to, fields[i].name);
        checked = zb__text_is_checked(fields[i].dtype, field ? field->dtype : fields[i].dtype);
    }
    return checked;
}
