/* SPDX-License-Identifier: MIT */
/* Base64 texts (RFC 4648, section 4) of bytes, and of doubles: their 8 little-endian bytes. */
#ifndef ZB_BASE_BASE64_H
#define ZB_BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZB__BASE64_SIZE 13 /* 11 digits, one '=', NUL */

/* Decodes a text of exactly `size` bytes into out. False for any other text: the padding has to be
   there, and nothing but digits. */
bool zb__base64_decode(const char *text, uint8_t *out, size_t size);

/* Writes size / 3 * 4 digits at least, with padding and a NUL: at most 5 bytes more. Returns text. */
const char *zb__base64_encode(const uint8_t *bytes, size_t size, char *text);

/* False for any other text. */
bool zb__base64_to_double(const char *text, double *out);

/* Returns `text`. */
const char *zb__base64_from_double(double value, char text[ZB__BASE64_SIZE]);

#endif
