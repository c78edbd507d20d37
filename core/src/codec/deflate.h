/* SPDX-License-Identifier: MIT */
/* Deflate, for the codecs whose streams consist of it, and for the zlib streams inside blosc. */
#ifndef ZB_CODEC_DEFLATE_H
#define ZB_CODEC_DEFLATE_H

#include "util/scratch.h"
#include "zarrbridge/error.h"

#define ZB__DEFLATE_LEVELS 10 /* 0 to 9; about the sizes of zlib's levels, in less time */

struct libdeflate_decompressor;
struct libdeflate_compressor;

/* Decodes the stream that in[0..size) begins with, which ends by itself, into out[0..capacity).
   *consumed and *produced get its encoded and decoded size. More than the capacity, and damage, are
   ZB_EFORMAT; `codec` is the name that the message begins with. */
enum zb_code zb__deflate_decode(const char *codec, zb__scratch *scratch, const uint8_t *in,
                                size_t size, uint8_t *out, size_t capacity, size_t *consumed,
                                size_t *produced, zb_error *err);

/* The scratch's own decompressor and compressor, made at their first use. */
enum zb_code zb__deflate_decoder(zb__scratch *scratch, struct libdeflate_decompressor **out,
                                 zb_error *err);
enum zb_code zb__deflate_encoder(zb__scratch *scratch, int level,
                                 struct libdeflate_compressor **out, zb_error *err);

#endif
