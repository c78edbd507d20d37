/* SPDX-License-Identifier: MIT */
/*
 * Indexes that are under way: when several reads want the same one, the first asks for it, and the
 * others wait until it is in the cache.
 */
#ifndef ZB_READ_FLIGHT_H
#define ZB_READ_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct zb__flight zb__flight;

/* The caller's, from zb__flight_begin until zb__flight_end. */
struct zb__flight {
    uint64_t array, number; /* of the stored chunk, as in the caches */
    void (*wake)(zb__flight *flight);
    void *context; /* for wake */
    /* Its own: */
    zb__flight *next;    /* that others wait for; or that wait for the same */
    zb__flight *waiting; /* for this one */
    bool is_first;
};

/* True when the caller is the first, and has to ask. Else `wake` is called once, when the first has
   ended, unless this one ends before; from another thread, and it must not wait for anything. */
bool zb__flight_begin(zb__flight *flight);

/* The index has come, or does not: wakes those that wait. Of one that waits: it does not any more,
   and wake is not running. Nothing where the flight has ended, or never begun (all zeros). */
void zb__flight_end(zb__flight *flight);

#endif
