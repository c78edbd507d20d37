/* SPDX-License-Identifier: MIT */
/*
 * A store that answers later, as a distant one does: around another store, whose objects it reads
 * in a thread of its own, one answer after the other. It counts requests, can answer in random
 * order, fail one of them, and change objects between two of them.
 */
#ifndef ZB_TEST_LATER_H
#define ZB_TEST_LATER_H

#include "support/check.h"
#include "zarrbridge/sys/hierarchy.h"

typedef struct later_options {
    unsigned microseconds; /* from a request to its answer */
    bool shuffles;         /* answers come in random order */
    bool is_unversioned;   /* no validator is valid */
    uint32_t in_flight;
    uint64_t part, window, gap, max_request; /* bytes; 0: 4096 MiB, 64 MiB, 4 KiB, 16 MiB */
    int64_t fresh;                           /* nanoseconds */
} later_options;

/* What happened since the last look. */
typedef struct later_counts {
    uint64_t requests, bytes, opens; /* opens: requests that named a key */
    uint64_t longest;                /* bytes of the longest answer */
    uint64_t most_under_way, most_bytes;
    uint64_t calls; /* open, read, stat, list: the caller waited */
} later_counts;

/* Keeps its own reference to inner. */
zb_store *later_new(zb_store *inner, later_options options);
/* A hierarchy over such a store, around another one's. */
zb_hierarchy *later_over(zb_hierarchy *inner, later_options options);
later_counts later_take(zb_store *later); /* and sets the counts to 0 */

/* Fails the answer number `nth` from now on (from 1; 0: none) with this code. */
void later_fail(zb_store *later, uint64_t nth, enum zb_code code);

/* Calls fn before answer number `nth` from now on (from 1; 0: never), and each `every` answers
   after it (0: once). */
void later_hook(zb_store *later, uint64_t nth, uint64_t every, void (*fn)(void *context),
                void *context);

#endif
