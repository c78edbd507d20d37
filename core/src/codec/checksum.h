/* SPDX-License-Identifier: MIT */
/*
 * The common part of the codecs of numcodecs that put a checksum of 32 bits, little-endian, before
 * or behind the bytes.
 */
#ifndef ZB_CODEC_CHECKSUM_H
#define ZB_CODEC_CHECKSUM_H

#include "codec/codec.h"

#define ZB__CHECKSUM_SIZE 4

/* The state of such a codec. */
typedef struct zb__checksum {
    const char *name; /* for messages */
    uint32_t (*sum)(uint32_t initial, const uint8_t *data, size_t size);
    uint32_t initial;
    bool at_start;
} zb__checksum;

/* Makes the state; reads `location`, which has the given default. */
enum zb_code zb__checksum_parse(const zb_json *configuration, const zb__checksum *defaults,
                                void **state, zb_error *err);
bool zb__checksum_same(const void *a, const void *b);

/* As in zb__bytes_ops. */
enum zb_code zb__checksum_decode(const void *state, zb__scratch *scratch, const uint8_t *in,
                                 size_t size, zb__sink *sink, zb_error *err);
uint64_t zb__checksum_encode_bound(uint64_t size);
enum zb_code zb__checksum_encode(const void *state, zb__scratch *scratch, const uint8_t *in,
                                 size_t size, uint8_t *out, size_t capacity, size_t *written,
                                 zb_error *err);

#endif
