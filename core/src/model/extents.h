/* SPDX-License-Identifier: MIT */
/* A list of extents in JSON: the shape of an array or of a chunk. */
#ifndef ZB_MODEL_EXTENTS_H
#define ZB_MODEL_EXTENTS_H

#include "zarrbridge/json.h"

/* Reads a list, whose length the caller has looked at, into out: each extent at least `least`
   (ZB_EFORMAT) and below 2^63 (ZB_ELIMIT). `what` names the list in messages. */
enum zb_code zb__extents_parse(const zb_json *list, const char *what, uint64_t least, uint64_t *out,
                               zb_error *err);

#endif
