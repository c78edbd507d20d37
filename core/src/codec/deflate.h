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

/* A deflate stream and what it decodes to: what a gzip member and a zlib stream have in common. */
typedef struct zb__deflated {
    const uint8_t *stream, *content;
    size_t stream_size, content_size;
} zb__deflated;

/* Decode in[0..size) into out[0..capacity), check all that gzip's and zlib's codecs check, and tell
   where in `in` the stream lies. Several members of gzip are ZB_EUNSUPPORTED. */
enum zb_code zb__gzip_open(zb__scratch *scratch, const uint8_t *in, size_t size, uint8_t *out,
                           size_t capacity, zb__deflated *opened, zb_error *err);
enum zb_code zb__zlib_open(zb__scratch *scratch, const uint8_t *in, size_t size, uint8_t *out,
                           size_t capacity, zb__deflated *opened, zb_error *err);

/* The most bytes that the two below put around a stream. */
#define ZB__DEFLATE_AROUND 18

/* Put header and trailer around the stream, as the codecs do at that level; the size of it all. */
size_t zb__gzip_close(const zb__deflated *opened, int level, uint8_t *out);
size_t zb__zlib_close(const zb__deflated *opened, int level, uint8_t *out);

/* The scratch's own decompressor and compressor, made at their first use. */
enum zb_code zb__deflate_decoder(zb__scratch *scratch, struct libdeflate_decompressor **out,
                                 zb_error *err);
enum zb_code zb__deflate_encoder(zb__scratch *scratch, int level,
                                 struct libdeflate_compressor **out, zb_error *err);

#endif
