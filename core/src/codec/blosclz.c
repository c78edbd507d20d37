/* SPDX-License-Identifier: MIT */
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
#include "codec/blosclz.h"

#include <stdbool.h>
#include <string.h>

#include "codec/lz4_sequences.h"

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
    zb__lz4_reader in = {lz4, lz4 + size};
    zb__lz4_sequence s;
    uint8_t *to = out;
    do {
        s = zb__lz4_next(&in);
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
