/* SPDX-License-Identifier: MIT */
/* The deflate contexts that codecs share: gzip's, and those of the zlib streams inside blosc. */
#ifndef ZB_CODEC_DEFLATE_H
#define ZB_CODEC_DEFLATE_H

#include "base/scratch.h"
#include "zarrbridge/error.h"

#define ZB__DEFLATE_LEVELS 10 /* 0 to 9; about the sizes of zlib's levels, in less time */

struct libdeflate_decompressor;
struct libdeflate_compressor;

/* The scratch's own, made at their first use. */
enum zb_code zb__deflate_decoder(zb__scratch *scratch, struct libdeflate_decompressor **out,
                                 zb_error *err);
enum zb_code zb__deflate_encoder(zb__scratch *scratch, int level,
                                 struct libdeflate_compressor **out, zb_error *err);

#endif
