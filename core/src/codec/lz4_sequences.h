/* SPDX-License-Identifier: MIT */
/*
 * Taking an LZ4 block apart, as it is done for compressors whose matches LZ4 finds: their streams
 * have the same literals and matches in other words. (LZ4 looks for matches of at least 4 bytes, up
 * to 65535 back, and ends with literals. BloscLZ and snappy can say all of that.)
 */
#ifndef ZB_CODEC_LZ4_SEQUENCES_H
#define ZB_CODEC_LZ4_SEQUENCES_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* What is left of a block that this process has made: it is trusted. */
typedef struct zb__lz4_reader {
    const uint8_t *at, *end;
} zb__lz4_reader;

/* Literals, and the match behind them. */
typedef struct zb__lz4_sequence {
    const uint8_t *literals;
    size_t literal_count;
    size_t distance, length; /* length 0: the last sequence, which has no match */
} zb__lz4_sequence;

/* A length whose four bits are 15 goes on in bytes, up to and including the first below 255. */
static inline size_t zb__lz4_length(zb__lz4_reader *in, unsigned bits) {
    size_t length = bits;
    uint8_t byte = bits == 15 ? 255 : 0;
    while (byte == 255) {
        byte = *in->at++;
        length += byte;
    }
    return length;
}

/* The next sequence; there is one until a sequence has length 0. */
static inline zb__lz4_sequence zb__lz4_next(zb__lz4_reader *in) {
    zb__lz4_sequence s = {.length = 0};
    const uint8_t token = *in->at++;
    s.literal_count = zb__lz4_length(in, token >> 4);
    s.literals = in->at;
    in->at += s.literal_count;
    if (in->at == in->end)
        return s;
    s.distance = zb__load_le16(in->at);
    in->at += 2;
    s.length = zb__lz4_length(in, token & 15) + 4;
    return s;
}

#endif
