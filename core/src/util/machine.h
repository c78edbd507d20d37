/* SPDX-License-Identifier: MIT */
/*
 * The part of the machine that this process may use: processors and memory, as affinity, control
 * groups (versions 1 and 2) and resource limits bound them. A bound that cannot be read bounds
 * nothing.
 */
#ifndef ZB_UTIL_MACHINE_H
#define ZB_UTIL_MACHINE_H

#include <stddef.h>
#include <stdint.h>

/* At least 1. */
size_t zb__machine_processors(void);

/* Bytes; UINT64_MAX when nothing tells. */
uint64_t zb__machine_memory(void);

/* The share that the control groups of this process and those above them grant, by the files below
   `root`: "" is the machine, another directory a test. SIZE_MAX and UINT64_MAX without a bound. */
size_t zb__cgroup_processors(const char *root);
uint64_t zb__cgroup_memory(const char *root);

#endif
