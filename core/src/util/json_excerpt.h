/* SPDX-License-Identifier: MIT */
/* JSON values and names inside error messages: short, one line, valid UTF-8. */
#ifndef ZB_UTIL_JSON_EXCERPT_H
#define ZB_UTIL_JSON_EXCERPT_H

#include "zarrbridge/json.h"

#define ZB__BRIEF_SIZE 64

/* The value as compact JSON, cut with "..." when it does not fit; "missing" for NULL. For "is %s,
   expected ...". Returns text. */
const char *zb__json_excerpt(const zb_json *value, char text[ZB__BRIEF_SIZE]);

/* A string in quotes, with escapes, cut in the same way. */
const char *zb__name_excerpt(const char *name, char text[ZB__BRIEF_SIZE]);

#endif
