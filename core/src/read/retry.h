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

/*
 * Chunks that were not found. One that is not stored reads as fill values; but chunks are found by
 * the path of their array, and one that another program moves away and back has none for a moment.
 * So what a read has not found is looked for once more, in the place that surely is the array's.
 */

/* Chunks that one question is about. */
#define ZB__MISSING_TOGETHER 64

/* Looks for chunks in the store, and says of each whether it is_missing. */
typedef enum zb_code (*zb__look_fn)(void *context, zb__stored_chunk *chunks, size_t count,
                                    zb_error *err);

/* Looks, and again while some chunk that is missing may be stored after all. On success those that
   are missing are not stored; where the store cannot tell, it is believed. ZB_ECONFLICT where an
   array may have gone; errors of the look. */
enum zb_code zb__missing_surely(zb__stored_chunk *chunks, size_t count, zb__look_fn look,
                                void *context, zb_error *err);

#endif
