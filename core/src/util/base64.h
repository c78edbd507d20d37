/* SPDX-License-Identifier: MIT */
/* Bytes as base64 text (RFC 4648, section 4), and doubles as that of their 8 little-endian
   bytes. */
#ifndef ZB_UTIL_BASE64_H
#define ZB_UTIL_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes that the text stands for: exactly so many when zb__base64_decode takes it. */
size_t zb__base64_bytes(const char *text);

/* Writes them to out. False for a text that is not base64 with its padding; the bits of the last
   digit that are no data may be anything, as other readers have it. */
bool zb__base64_decode(const char *text, uint8_t *out);

/* Characters of the text of so many bytes, without its NUL. */
static inline size_t zb__base64_length(size_t bytes) {
    return (bytes + 2) / 3 * 4;
}

/* Writes zb__base64_length(size) characters and a NUL. */
void zb__base64_encode(const uint8_t *bytes, size_t size, char *text);

#define ZB__BASE64_SIZE 13 /* 11 digits, one '=', NUL */

/* False for any other text. */
bool zb__base64_to_double(const char *text, double *out);

/* Returns `text`. */
const char *zb__base64_from_double(double value, char text[ZB__BASE64_SIZE]);

#endif
