/* SPDX-License-Identifier: MIT */
/* Doubles as the base64 text (RFC 4648, section 4) of their 8 little-endian bytes. */
#ifndef ZB_CONVENTIONS_BASE64_H
#define ZB_CONVENTIONS_BASE64_H

#include <stdbool.h>

#define ZB__BASE64_SIZE 13 /* 11 digits, one '=', NUL */

/* False for any other text. */
bool zb__base64_to_double(const char *text, double *out);

/* Returns `text`. */
const char *zb__base64_from_double(double value, char text[ZB__BASE64_SIZE]);

#endif
