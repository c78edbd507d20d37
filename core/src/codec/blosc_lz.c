/* SPDX-License-Identifier: MIT */
/*
 * The two formats of streams inside blosc that have no library here: each is decoded, and made of
 * the matches that LZ4 finds. (LZ4 looks for matches of at least 4 bytes, up to 65535 back, and
 * ends with literals. Both formats can say all of that.)
 */
#include "codec/blosc.h"

#include <stdbool.h>
#include <string.h>

#include "util/bytes.h"

/* ---- LZ4 blocks --------------------------------------------------------------------------- */

/* What is left of a block that this process has made: it is trusted. */
typedef struct lz4_reader {
    const uint8_t *at, *end;
} lz4_reader;

/* Literals, and the match behind them. */
typedef struct sequence {
    const uint8_t *literals;
    size_t literal_count;
    size_t distance, length; /* length 0: the last sequence, which has no match */
} sequence;

/* A length whose four bits are 15 goes on in bytes, up to and including the first below 255. */
static size_t sequence_length(lz4_reader *in, unsigned bits) {
    size_t length = bits;
    uint8_t byte = bits == 15 ? 255 : 0;
    while (byte == 255) {
        byte = *in->at++;
        length += byte;
    }
    return length;
}

/* The next sequence; there is one until a sequence has length 0. */
static sequence next_sequence(lz4_reader *in) {
    sequence s = {.length = 0};
    const uint8_t token = *in->at++;
    s.literal_count = sequence_length(in, token >> 4);
    s.literals = in->at;
    in->at += s.literal_count;
    if (in->at == in->end)
        return s;
    s.distance = zb__load_le16(in->at);
    in->at += 2;
    s.length = sequence_length(in, token & 15) + 4;
    return s;
}

/* ---- Snappy ------------------------------------------------------------------------------- */

/*
 * A snappy stream: the decoded size as a variable-length integer (seven bits a byte, low ones
 * first), then elements. The low two bits of an element's first byte tell its kind:
 *   0   a literal: its length - 1 in the high six bits, or, from 60 on, in 1 to 4 bytes that follow
 *   1   a copy of 4 to 11 bytes from up to 2047 back: 3 bits of length, 11 of distance
 *   2,3 a copy of 1 to 64 bytes, its distance in the 2 or 4 bytes that follow
 * A copy may overlap the place that it is made at.
 */

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
    lz4_reader in = {lz4, lz4 + size};
    sequence s;
    uint8_t *to = out;
    if (capacity < 5)
        return 0;
    for (; decoded >= 0x80; decoded >>= 7)
        *to++ = (uint8_t)(decoded | 0x80);
    *to++ = (uint8_t)decoded;
    do {
        s = next_sequence(&in);
        const size_t copies = 3 * (s.length / COPY_MOST + 1);
        if (s.literal_count + 5 + copies > capacity - (size_t)(to - out))
            return 0;
        to = put_literal(to, s.literals, s.literal_count);
        to = put_copies(to, s.distance, s.length);
    } while (s.length > 0);
    return (size_t)(to - out);
}

/* ---- BloscLZ ------------------------------------------------------------------------------ */

/*
 * A BloscLZ stream is a row of instructions. Each begins with a control byte:
 *
 *   000nnnnn                       n + 1 literal bytes follow
 *   lllooooo [more length] low     a match: copy from the bytes decoded so far
 *
 * A match's length is lll + 2, so 3 to 8; lll = 7 is followed by bytes that are added, up to and
 * including the first that is not 255. The distance is 256 * ooooo + low + 1. The largest of these
 * (ooooo = 31, low = 255) means that two more bytes follow, high one first, and the distance is
 * their value plus 8192. Source and destination of a match may overlap: then it repeats a pattern.
 *
 * The first instruction is always literal; the three high bits of its control byte are not looked
 * at (they hold a version).
 *
 * All lengths are size_t and compared with the bytes left before they are used, so that no number
 * of length bytes can make a sum wrap around.
 */

#define FAR_DISTANCE 8192

typedef struct reader {
    const uint8_t *at, *end;
} reader;

static bool read_byte(reader *in, uint8_t *byte) {
    if (in->at == in->end)
        return false;
    *byte = *in->at++;
    return true;
}

/* Reads the rest of a match behind its control byte. A length that exceeds `most` is cut: the
   caller refuses it all the same. */
static bool read_match(reader *in, uint8_t control, size_t most, size_t *length, size_t *distance) {
    uint8_t byte, low;
    *length = (control >> 5) + 2u;
    if (control >> 5 == 7) {
        do {
            if (!read_byte(in, &byte) || *length > most)
                return false;
            *length += byte;
        } while (byte == 255);
    }
    if (!read_byte(in, &byte))
        return false;
    *distance = (size_t)(control & 31) * 256 + byte + 1;
    if (*distance == FAR_DISTANCE) {
        if (!read_byte(in, &byte) || !read_byte(in, &low))
            return false;
        *distance = FAR_DISTANCE + ((size_t)byte << 8) + low;
    }
    return true;
}

/* The bytes beyond the end that copies may write and read, where there is room: bytes there are not
   yet decoded, and whole words are copied faster than exact lengths. */
#define SLACK 32

/* Copies a match to out where at least length + SLACK bytes are left. */
static void copy_match(uint8_t *out, size_t distance, size_t length) {
    size_t done = 0;
    if (distance < 8) {
        /* The first eight bytes one by one; then the pattern repeats at a multiple of the distance
           that is at least eight. */
        const uint8_t *from = out - distance;
        for (; done < 8; done++)
            out[done] = from[done];
        distance *= (7 + distance) / distance;
    }
    if (distance < 16) {
        for (; done < length; done += 8)
            memcpy(out + done, out + done - distance, 8);
    } else {
        for (; done < length; done += 16)
            memcpy(out + done, out + done - distance, 16);
    }
}

static void copy_match_exactly(uint8_t *out, size_t distance, size_t length) {
    const uint8_t *from = out - distance;
    for (size_t i = 0; i < length; i++)
        out[i] = from[i];
}

size_t zb__blosclz_decode(const uint8_t *in, size_t size, uint8_t *out, size_t capacity) {
    reader r = {in, in + size};
    size_t done = 0;
    uint8_t control;
    for (bool first = true; read_byte(&r, &control); first = false) {
        size_t room = capacity - done, length, distance;
        if (first)
            control &= 31;
        if (control < 32) {
            size_t left = (size_t)(r.end - r.at);
            length = control + 1u;
            if (length > room || length > left)
                return 0;
            if (room >= SLACK && left >= SLACK)
                memcpy(out + done, r.at, SLACK); /* length is at most that */
            else
                memcpy(out + done, r.at, length);
            r.at += length;
        } else {
            if (!read_match(&r, control, room, &length, &distance) || length > room ||
                distance > done)
                return 0;
            if (room - length >= SLACK)
                copy_match(out + done, distance, length);
            else
                copy_match_exactly(out + done, distance, length);
        }
        done += length;
    }
    return done;
}

/* ---- Encoding ----------------------------------------------------------------------------- */

#define LITERALS_MOST 32

/* In the first control byte, where the decoder does not look: as libblosc marks its streams. */
#define VERSION 0x20

static uint8_t *put_literals(uint8_t *out, const uint8_t *literals, size_t count) {
    for (size_t n; count > 0; count -= n, literals += n, out += n) {
        n = count < LITERALS_MOST ? count : LITERALS_MOST;
        *out++ = (uint8_t)(n - 1);
        memcpy(out, literals, n);
    }
    return out;
}

static uint8_t *put_match(uint8_t *out, size_t distance, size_t length) {
    const size_t bits = length < 9 ? length - 2 : 7;
    const size_t near = distance < FAR_DISTANCE ? distance - 1 : FAR_DISTANCE - 1;
    *out++ = (uint8_t)(bits << 5 | near >> 8);
    if (bits == 7) {
        size_t rest = length - 9;
        for (; rest >= 255; rest -= 255)
            *out++ = 255;
        *out++ = (uint8_t)rest;
    }
    *out++ = (uint8_t)near;
    if (near == FAR_DISTANCE - 1) {
        *out++ = (uint8_t)((distance - FAR_DISTANCE) >> 8);
        *out++ = (uint8_t)(distance - FAR_DISTANCE);
    }
    return out;
}

/* LZ4 ends with literals, so the stream does, too: libblosc's decoder reads none that ends with a
   match. */
size_t zb__blosclz_encode(const uint8_t *lz4, size_t size, uint8_t *out, size_t capacity) {
    lz4_reader in = {lz4, lz4 + size};
    sequence s;
    uint8_t *to = out;
    do {
        s = next_sequence(&in);
        const size_t literals = s.literal_count + (s.literal_count + 31) / LITERALS_MOST;
        if (literals + s.length / 255 + 5 > capacity - (size_t)(to - out))
            return 0;
        to = put_literals(to, s.literals, s.literal_count);
        if (s.length > 0)
            to = put_match(to, s.distance, s.length);
    } while (s.length > 0);
    out[0] |= VERSION;
    return (size_t)(to - out);
}
