/* SPDX-License-Identifier: MIT */
/*
 * A BloscLZ stream is a row of instructions. Each begins with a control byte:
 *
 *   000nnnnn                       n + 1 literal bytes follow
 *   lllooooo [more length] low     a match: copy from what has been decoded
 *
 * A match's length is lll + 2, so 3 to 8; lll = 7 is followed by bytes that are added, up to and including the first
 * that is not 255. The distance is 256 * ooooo + low + 1. The largest of these
 * (ooooo = 31, low = 255) means that two more bytes follow, high one first, and the distance is their value
 * plus 8192. Source and destination of a match may overlap: then it repeats a pattern.
 *
 * The first instruction is always literal; the three high bits of its control byte are not looked at (they
 * hold a version).
 *
 * All lengths are size_t and compared with what is left before they are used, so that no number of
 * length bytes can make a sum wrap around.
 */
#include "codec/blosclz.h"

#include <stdbool.h>
#include <string.h>

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

/* Reads the rest of a match behind its control byte. A length that exceeds `most` is cut: it is
   refused by the caller all the same. */
static bool read_match(reader *in, uint8_t control, size_t most, size_t *length,
                       size_t *distance) {
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

/* Copies a match to out; room is what is left there, at least length. Matches are mostly short, so
   16 bytes are moved at a time where room allows writing beyond the end. */
static void copy_match(uint8_t *out, size_t distance, size_t length, size_t room) {
    const uint8_t *from = out - distance;
    if (distance == 1) {
        memset(out, *from, length);
    } else if (distance >= 16 && room >= length + 16) {
        for (size_t i = 0; i < length; i += 16)
            memcpy(out + i, from + i, 16);
    } else if (distance >= length) {
        memcpy(out, from, length);
    } else {
        for (size_t i = 0; i < length; i++)
            out[i] = from[i];
    }
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
            length = control + 1u;
            if (length > room || length > (size_t)(r.end - r.at))
                return 0;
            memcpy(out + done, r.at, length);
            r.at += length;
        } else {
            if (!read_match(&r, control, room, &length, &distance) || length > room ||
                distance > done)
                return 0;
            copy_match(out + done, distance, length, room);
        }
        done += length;
    }
    return done;
}
