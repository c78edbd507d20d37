/* SPDX-License-Identifier: MIT */
/*
 * A snappy stream: the decoded size as a variable-length integer (seven bits a byte, low ones
 * first), then elements. The low two bits of an element's first byte tell its kind:
 *   0   a literal: its length - 1 in the high six bits, or, from 60 on, in 1 to 4 bytes that follow
 *   1   a copy of 4 to 11 bytes from up to 2047 back: 3 bits of length, 11 of distance
 *   2,3 a copy of 1 to 64 bytes, its distance in the 2 or 4 bytes that follow
 * A copy may overlap the place that it is made at.
 */
#include "codec/snappy.h"

#include <stdbool.h>
#include <string.h>

typedef struct stream {
    const uint8_t *in, *end;
    uint8_t *out;
    size_t made, size; /* decoded so far, and in all */
} stream;

/* The decoded size; false when it does not end, or needs more than 32 bits. */
static bool read_size(stream *s, size_t *size) {
    uint64_t value = 0;
    for (unsigned shift = 0; s->in < s->end && shift < 35; shift += 7) {
        uint8_t byte = *s->in++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *size = (size_t)value;
            return value <= UINT32_MAX;
        }
    }
    return false;
}

/* A little-endian number of 1 to 4 bytes. */
static bool read_number(stream *s, size_t bytes, size_t *out) {
    if ((size_t)(s->end - s->in) < bytes)
        return false;
    *out = 0;
    for (size_t i = 0; i < bytes; i++)
        *out |= (size_t)s->in[i] << 8 * i;
    s->in += bytes;
    return true;
}

static bool literal(stream *s, uint8_t tag) {
    size_t length = tag >> 2;
    if (length >= 60 && !read_number(s, length - 59, &length))
        return false;
    length++;
    if (length > (size_t)(s->end - s->in) || length > s->size - s->made)
        return false;
    memcpy(s->out + s->made, s->in, length);
    s->in += length;
    s->made += length;
    return true;
}

static bool copy(stream *s, uint8_t tag) {
    size_t length = (tag >> 2) + 1u, distance;
    if ((tag & 3) == 1) {
        length = 4 + (tag >> 2 & 7u);
        if (!read_number(s, 1, &distance))
            return false;
        distance |= (size_t)(tag >> 5) << 8;
    } else if (!read_number(s, (tag & 3) == 2 ? 2 : 4, &distance)) {
        return false;
    }
    if (distance == 0 || distance > s->made || length > s->size - s->made)
        return false;
    for (; length > 0; length--, s->made++)
        s->out[s->made] = s->out[s->made - distance];
    return true;
}

size_t zb__snappy_decode(const uint8_t *in, size_t size, uint8_t *out, size_t capacity) {
    stream s = {.in = in, .end = in + size, .out = out};
    if (!read_size(&s, &s.size) || s.size > capacity)
        return 0;
    bool good = true;
    while (good && s.in < s.end) {
        uint8_t tag = *s.in++;
        good = (tag & 3) == 0 ? literal(&s, tag) : copy(&s, tag);
    }
    return good && s.made == s.size ? s.size : 0;
}
