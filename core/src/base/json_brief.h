/* SPDX-License-Identifier: MIT */
/* JSON values inside error messages. */
#ifndef ZB_BASE_JSON_BRIEF_H
#define ZB_BASE_JSON_BRIEF_H

#include "zarrbridge/json.h"

#define ZB__BRIEF_SIZE 64

/* The value as compact JSON, cut with "..." when it does not fit; "missing" for NULL. For "is %s,
   expected ...". Returns text. */
const char *zb__json_brief(const zb_json *value, char text[ZB__BRIEF_SIZE]);

#endif
