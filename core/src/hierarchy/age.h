/* SPDX-License-Identifier: MIT */
/*
 * The one rule by which something that a store has told is still taken for the present state
 * without asking again: nothing has been changed through the store since, and the answer is younger
 * than the store's hint `fresh`. A store that is asked in microseconds has no such time (0): each
 * of its answers is asked for again, or confirmed by its version (version.h).
 */
#ifndef ZB_HIERARCHY_AGE_H
#define ZB_HIERARCHY_AGE_H

#include "util/clock.h"
#include "zarrbridge/sys/store.h"

typedef struct zb__age {
    int64_t time;     /* of the answer (zb__now); 0: there is none */
    uint64_t changes; /* of the store, before it was asked (zb_store_changes) */
} zb__age;

/* An answer that has just come. */
static inline zb__age zb__age_now(uint64_t changes) {
    return (zb__age){.time = zb__now(), .changes = changes};
}

/* The first half of the rule, for what is as of the moment when its node was opened. */
static inline bool zb__age_is_unchanged(const zb__age *age, zb_store *store) {
    return age->changes == zb_store_changes(store);
}

static inline bool zb__age_is_fresh(const zb__age *age, zb_store *store) {
    return age->time && zb__now() - age->time < store->hints.fresh &&
           zb__age_is_unchanged(age, store);
}

#endif
