/* SPDX-License-Identifier: MIT */
/* Snappy, for the streams inside blosc. */
#ifndef ZB_CODEC_SNAPPY_H
#define ZB_CODEC_SNAPPY_H

#include <stddef.h>
#include <stdint.h>

/* Decodes the stream in[0..size) into out[0..capacity); the decoded size, or 0 when the stream is
   damaged, empty or decodes to more. */
size_t zb__snappy_decode(const uint8_t *in, size_t size, uint8_t *out, size_t capacity);

/* Makes a stream of the matches in an LZ4 block that this process has made, of `decoded` bytes.
   Returns its size, or 0 when it needs more than `capacity` bytes. */
size_t zb__snappy_encode(const uint8_t *lz4, size_t size, size_t decoded, uint8_t *out,
                         size_t capacity);

#endif
