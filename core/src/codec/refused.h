/* SPDX-License-Identifier: MIT */
/* Codecs that are known and not supported. */
#ifndef ZB_CODEC_REFUSED_H
#define ZB_CODEC_REFUSED_H

/* The reason why a codec of that name is refused and the way out, for a message; NULL for a name
   that is not known. */
const char *zb__codec_refusal(const char *name);

#endif
