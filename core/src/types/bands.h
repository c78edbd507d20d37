/* SPDX-License-Identifier: MIT */
/* Bands of pixels: elements of 1, 2 or 4 bytes, of which a pixel has two to four side by side. */
#ifndef ZB_TYPES_BANDS_H
#define ZB_TYPES_BANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZB__BANDS_MAX 4

/* True if there are loops for pixels of so many elements of this size. */
static inline bool zb__bands_suit(size_t size, uint64_t bands) {
    return (size == 1 || size == 2 || size == 4) && bands >= 2 && bands <= ZB__BANDS_MAX;
}

/* Copies element b of each of n pixels to dst[b], for all bands b in one pass. */
void zb__bands_split(size_t size, size_t bands, const char *src, char *const *dst, size_t n);

/* Copies the first element of each of n pixels to dst. Reads nothing behind the last of them. */
void zb__bands_pick(size_t size, size_t bands, const char *src, char *dst, size_t n);

#endif
