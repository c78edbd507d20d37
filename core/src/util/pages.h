/* SPDX-License-Identifier: MIT */
/*
 * Memory for large buffers. Its first touch costs as much as a fast codec takes for the same bytes
 * (2.4 µs an ordinary page here); huge pages make that a third.
 */
#ifndef ZB_UTIL_PAGES_H
#define ZB_UTIL_PAGES_H

#include <stddef.h>

/* At least `size` bytes aligned to 64, freed with free(); *capacity (may be NULL) tells how many
   there are. No page is touched. NULL when memory runs out. */
void *zb__pages_alloc(size_t size, size_t *capacity);

/* The same for memory that comes and goes: free() may keep large blocks, with gaps, and huge pages
   that were asked for one buffer then serve a piece of another. This goes back to the system. */
void *zb__pages_map(size_t size);
void zb__pages_unmap(void *memory, size_t size); /* NULL is allowed; size: as it was asked for */

#endif
