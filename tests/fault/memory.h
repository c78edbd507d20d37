/* SPDX-License-Identifier: MIT */
/*
 * Memory that runs out for the whole process: memory.c defines malloc and its kin in front of the C
 * library's, so that allocations inside other libraries (codecs, stdio) fail as well. (What
 * support/starve.h does catches those of the core alone, and of threads that are not there.)
 */
#ifndef ZB_TEST_FAULT_MEMORY_H
#define ZB_TEST_FAULT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* From now on allocation `nth` (from 1) fails; with `forever` all later ones, too. */
void memory_begin(uint64_t nth, bool forever);
/* Back to normal; returns how many allocations there were. */
uint64_t memory_end(void);
/* How many failed since memory_begin. */
uint64_t memory_denied(void);

#endif
