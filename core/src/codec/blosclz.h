/* SPDX-License-Identifier: MIT */
/* BloscLZ, blosc's own compressor (an LZ77 of bytes, a relative of FastLZ). */
#ifndef ZB_CODEC_BLOSCLZ_H
#define ZB_CODEC_BLOSCLZ_H

#include <stddef.h>
#include <stdint.h>

/* Decodes in[0..size) into out; returns the decoded size, at most capacity, or 0 when the stream is
   damaged or holds more. Reads and writes nothing beyond the two buffers, whatever the input. */
size_t zb__blosclz_decode(const uint8_t *in, size_t size, uint8_t *out, size_t capacity);

/* Makes a stream of the matches in an LZ4 block that this process has made. Returns its size, or 0
   when it needs more than `capacity` bytes. */
size_t zb__blosclz_encode(const uint8_t *lz4, size_t size, uint8_t *out, size_t capacity);

#endif
