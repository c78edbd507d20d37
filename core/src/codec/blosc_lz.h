/* SPDX-License-Identifier: MIT */
/* BloscLZ, blosc's own compressor (an LZ77 of bytes, a relative of FastLZ), and snappy, for the
   streams inside blosc. */
#ifndef ZB_CODEC_BLOSC_LZ_H
#define ZB_CODEC_BLOSC_LZ_H

#include <stddef.h>
#include <stdint.h>

/* Both decode in[0..size) into out; the decoded size, at most capacity, or 0 when the stream is
   damaged, empty or holds more. They read and write nothing beyond the two buffers, whatever the
   input. */
size_t zb__blosclz_decode(const uint8_t *in, size_t size, uint8_t *out, size_t capacity);
size_t zb__snappy_decode(const uint8_t *in, size_t size, uint8_t *out, size_t capacity);

/* Both make a stream of the matches in an LZ4 block that this process has made, which decodes to
   `decoded` bytes. They return its size, or 0 when it needs more than `capacity` bytes. */
size_t zb__blosclz_encode(const uint8_t *lz4, size_t size, uint8_t *out, size_t capacity);
size_t zb__snappy_encode(const uint8_t *lz4, size_t size, size_t decoded, uint8_t *out,
                         size_t capacity);

#endif
