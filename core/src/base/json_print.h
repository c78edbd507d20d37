/* SPDX-License-Identifier: MIT */
/* JSON values as text inside a longer one; see zb_json_print for the plain case. */
#ifndef ZB_BASE_JSON_PRINT_H
#define ZB_BASE_JSON_PRINT_H

#include "base/text.h"
#include "zarrbridge/json.h"

/* Appends the value, numbers as they stood: indented, where its first line is at this level (0 for
   a whole document), or compact with -1. */
void zb__json_put(zb__text *text, const zb_json *value, int level);

#endif
