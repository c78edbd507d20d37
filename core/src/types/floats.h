/* SPDX-License-Identifier: MIT */
/* What documents say of floats beside their digits: for all kinds of them. */
#ifndef ZB_TYPES_FLOATS_H
#define ZB_TYPES_FLOATS_H

#include <stdbool.h>
#include <stdint.h>

/* The words for infinities and NaN, as strings or as bare tokens: the bits of a float of `size`
   bytes (2, 4, 8). */
bool zb__float_word(const char *text, uint32_t size, uint64_t *bits);

/* The bits of a number of `size` bytes as "0x" and exactly two digits for each byte, the most
   significant first; or as "0b" and at most eight for each byte, from a draft of the format, which
   GDAL reads, too. */
bool zb__float_digits(const char *text, uint32_t size, uint64_t *bits);

#endif
