/* SPDX-License-Identifier: MIT */
/* The deflate contexts that the gzip codec and the zlib streams inside blosc share. */
#ifndef ZB_CODEC_GZIP_H
#define ZB_CODEC_GZIP_H

#include "base/scratch.h"
#include "zarrbridge/error.h"

/* Makes scratch->deflate at its first use. */
enum zb_code zb__deflate_context(zb__scratch *scratch, zb_error *err);

/* Makes scratch->deflate_encoders[level] at its first use. */
enum zb_code zb__deflate_encoder(zb__scratch *scratch, int level, zb_error *err);

#endif
