/* SPDX-License-Identifier: MIT */
/* Reads that fail while a writer changes their objects in place. */
#ifndef ZB_READ_RETRY_H
#define ZB_READ_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "read/leaf.h"
#include "zarrbridge/error.h"

/* All zeros before the first failure. */
typedef struct zb__retry {
    int64_t first, changed; /* times of the first failure, and when a change was seen last */
    unsigned tries;         /* that failed */
} zb__retry;

/* After a failure, waits a moment before the next try: a writer at work in an object can make it
   look damaged. False when the failure stands. */
bool zb__retry_pays(zb__retry *retry, const zb__stored_chunk *chunks, size_t count,
                    enum zb_code code);

#endif
