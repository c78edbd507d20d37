/* SPDX-License-Identifier: MIT */
/*
 * Memory that runs out. Tests that link this need STARVE_LINK_OPTIONS (CMakeLists.txt): the linker
 * sends the core's allocations here. (cJSON allocates nothing: its nodes are the core's.)
 */
#ifndef ZB_TEST_STARVE_H
#define ZB_TEST_STARVE_H

#include <stddef.h>

/* From now on the next `left` allocations succeed and all later ones fail. */
void starve_begin(size_t left);

/* All succeed again; returns how many were refused. */
size_t starve_end(void);

#endif
