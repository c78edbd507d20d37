/* SPDX-License-Identifier: MIT */
/*
 * A hash table of items that their owner has made: each has a link in it, as its first member. The
 * owner compares what has the same hash, and locks.
 */
#ifndef ZB_UTIL_MAP_H
#define ZB_UTIL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct zb__map_link {
    struct zb__map_link *next; /* in its bucket */
    uint64_t hash;
} zb__map_link;

/* {0} is empty, and has no memory. */
typedef struct zb__map {
    zb__map_link **bucket;
    size_t buckets, count; /* buckets: a power of two, or 0 */
} zb__map;

/* A hash of bytes with a key that each process chooses anew: whoever chooses the bytes (a store, a
   server) cannot make them meet in one bucket. It is SipHash-1-3 (Aumasson and Bernstein, "SipHash:
   a fast short-input PRF", 2012). Nothing that it gives may be stored. */
uint64_t zb__hash(const void *bytes, size_t size);

/* The items of a hash, one after the other; NULL behind the last one. */
zb__map_link *zb__map_first(const zb__map *map, uint64_t hash);
zb__map_link *zb__map_next(const zb__map_link *link);

/* All items in no order: the one after `link`, or the first for NULL; NULL behind the last one. The
   caller asks for the next one before it removes one. */
zb__map_link *zb__map_after(const zb__map *map, const zb__map_link *link);

/* Makes room for one more item. False, with nothing changed, when there is none and memory runs
   out. */
bool zb__map_reserve(zb__map *map);

/* Adds an item, for which there is room. */
void zb__map_add(zb__map *map, zb__map_link *link, uint64_t hash);

/* Takes an item out, which is in the map. */
void zb__map_remove(zb__map *map, zb__map_link *link);

/* Frees the table, without the items; the map is empty. */
void zb__map_free(zb__map *map);

#endif
