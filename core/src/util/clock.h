/* SPDX-License-Identifier: MIT */
/* The time between two moments of a process. */
#ifndef ZB_UTIL_CLOCK_H
#define ZB_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

#define ZB__SECOND 1000000000ll
#define ZB__MILLISECOND 1000000ll

/* CLOCK_MONOTONIC in nanoseconds. */
static inline int64_t zb__now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * ZB__SECOND + now.tv_nsec;
}

/* The moment that many seconds from now. */
static inline int64_t zb__deadline(uint64_t seconds) {
    return zb__now() + (int64_t)(seconds < INT32_MAX ? seconds : INT32_MAX) * ZB__SECOND;
}

#endif
