/* SPDX-License-Identifier: MIT */
/* Every second, third or fourth byte: one band of pixels of bytes. */
#ifndef ZB_KERNEL_EVERY_NTH_H
#define ZB_KERNEL_EVERY_NTH_H

#include <stddef.h>

#define ZB__EVERY_MAX 4

/* Copies src[0], src[step], src[2 * step] ... to dst, for a step from 2 to ZB__EVERY_MAX. Reads
   nothing behind the last of the n bytes. Returns how many it has copied: less than n by a few, and
   none where the processor has no instructions for it; the rest is the caller's. */
size_t zb__every_nth(const char *src, size_t step, char *dst, size_t n);

#endif
