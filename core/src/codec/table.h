/* SPDX-License-Identifier: MIT */
/* The table of codecs of all kinds. */
#ifndef ZB_CODEC_TABLE_H
#define ZB_CODEC_TABLE_H

#include "codec/codec.h"

/* The codec of this name, or NULL. */
const zb__codec_ops *zb__codec_find(const char *name);

/* The codecs one after the other, in the order of the table; NULL behind the last. */
const zb__codec_ops *zb__codec_at(size_t i);

/* ---- Codecs that are known and not supported. */

/* The reason why a codec of that name is refused and the way out, for a message; NULL for a name
   that is not known. */
const char *zb__codec_refusal(const char *name);

#endif
