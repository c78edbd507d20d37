/* SPDX-License-Identifier: MIT */
/*
 * Allocations that fail. Tests that link this need STARVE_LINK_OPTIONS (CMakeLists.txt): the linker
 * sends the core's allocations here. (cJSON allocates nothing: its nodes are the core's.)
 */
#ifndef ZB_TEST_STARVE_H
#define ZB_TEST_STARVE_H

#include <stddef.h>

/* From now on the next `left` allocations succeed and all later ones fail. */
void starve_begin(size_t left);

/* All succeed again; returns the number of refused ones. */
size_t starve_end(void);

/* The allocations that were asked for between the last two calls of those above. */
size_t starve_asked(void);

#endif
