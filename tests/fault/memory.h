/* SPDX-License-Identifier: MIT */
/*
 * Shortage of memory for the whole process: memory.c defines malloc and its kin in front of the C
 * library's, so that allocations inside other libraries (codecs, stdio) fail as well.
 * (support/starve.h catches the allocations of the core alone.)
 */
#ifndef ZB_TEST_FAULT_MEMORY_H
#define ZB_TEST_FAULT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* From now on allocation `nth` (from 1) fails; with `forever` all later ones, too. */
void memory_begin(uint64_t nth, bool forever);
/* Back to normal; returns the number of allocations. */
uint64_t memory_end(void);
/* The number of allocations that failed since memory_begin. */
uint64_t memory_denied(void);

/* From now on only the allocations of the library whose file's name has these characters count and
   fail (strdup's and the like are the C library's); NULL: all. Borrowed. */
void memory_only(const char *object);

#endif
