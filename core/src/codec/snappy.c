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

#include "base/bytes.h"
#include "codec/lz4_sequences.h"

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

/* ---- Encoding ----------------------------------------------------------------------------- */

#define COPY_MOST 64

static uint8_t *put_literal(uint8_t *out, const uint8_t *literals, size_t count) {
    if (count == 0)
        return out;
    uint32_t rest = (uint32_t)(count - 1);
    unsigned bytes = rest < 60        ? 0
                     : rest < 1 << 8  ? 1
                     : rest < 1 << 16 ? 2
                     : rest < 1 << 24 ? 3
                                      : 4;
    *out++ = (uint8_t)((bytes ? 59 + bytes : rest) << 2);
    for (; bytes > 0; bytes--, rest >>= 8)
        *out++ = (uint8_t)rest;
    memcpy(out, literals, count);
    return out + count;
}

static uint8_t *put_copies(uint8_t *out, size_t distance, size_t length) {
    for (size_t n; length > 0; length -= n) {
        n = length < COPY_MOST ? length : COPY_MOST;
        if (n >= 4 && n <= 11 && distance < 2048) {
            *out++ = (uint8_t)(distance >> 8 << 5 | (n - 4) << 2 | 1);
            *out++ = (uint8_t)distance;
        } else {
            *out++ = (uint8_t)((n - 1) << 2 | 2);
            zb__store_le16(out, (uint16_t)distance);
            out += 2;
        }
    }
    return out;
}

size_t zb__snappy_encode(const uint8_t *lz4, size_t size, size_t decoded, uint8_t *out,
                         size_t capacity) {
    zb__lz4_reader in = {lz4, lz4 + size};
    zb__lz4_sequence s;
    uint8_t *to = out;
    if (capacity < 5)
        return 0;
    for (; decoded >= 0x80; decoded >>= 7)
        *to++ = (uint8_t)(decoded | 0x80);
    *to++ = (uint8_t)decoded;
    do {
        s = zb__lz4_next(&in);
        const size_t copies = 3 * (s.length / COPY_MOST + 1);
        if (s.literal_count + 5 + copies > capacity - (size_t)(to - out))
            return 0;
        to = put_literal(to, s.literals, s.literal_count);
        to = put_copies(to, s.distance, s.length);
    } while (s.length > 0);
    return (size_t)(to - out);
}
