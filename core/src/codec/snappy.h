/* SPDX-License-Identifier: MIT */
/* Decoding snappy, for the streams inside blosc. */
#ifndef ZB_CODEC_SNAPPY_H
#define ZB_CODEC_SNAPPY_H

#include <stddef.h>
#include <stdint.h>

/* Decodes the stream in[0..size) into out[0..capacity); the decoded size, or 0 when the stream is
   damaged, empty or decodes to more. */
size_t zb__snappy_decode(const uint8_t *in, size_t size, uint8_t *out, size_t capacity);

#endif
