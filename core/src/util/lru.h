/* SPDX-License-Identifier: MIT */
/*
 * A cache of immutable blocks with a byte budget: a hash table whose items are also linked by last
 * use. Items are reference-counted, so that one in use may be evicted meanwhile. Their memory
 * comes from slabs and is used again: fresh pages cost as much as decoding.
 */
#ifndef ZB_UTIL_LRU_H
#define ZB_UTIL_LRU_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/map.h"
#include "util/slab.h"

/* What an item is called, and what its data are: an item of another kind or size is never found,
   whatever its words, so that a wrong word cannot make its user read beyond it. */
typedef struct zb__lru_key {
    uint64_t word[4];
    uint64_t kind; /* of the data: a number from 1 on, which the users of a cache agree on */
    uint64_t size; /* bytes of the data that its users rely on */
} zb__lru_key;

/* The version of the object that an item's data come from: words that are only compared. */
#define ZB__LRU_VERSION_WORDS 4

typedef struct zb__lru_item {
    zb__map_link link;   /* by its key */
    struct zb__lru *lru; /* the cache that it came from */
    bool in_slab;
    zb__lru_key key;
    uint64_t version[ZB__LRU_VERSION_WORDS];
    size_t size;   /* of data, bytes */
    size_t lo, hi; /* the bytes of data that are valid */
    atomic_int refs;
    struct zb__lru_item *newer, *older; /* by last use; older: also of what is evicted */
    _Alignas(64) unsigned char data[];
} zb__lru_item;

typedef struct zb__lru {
    pthread_mutex_t lock;
    uint64_t budget, bytes; /* bytes: of the items in the table */
    uint64_t most;          /* one item alone may have this many, even if it is more than budget */
    zb__map table;
    zb__lru_item *newest, *oldest;
    zb__slabs slabs; /* memory of the items that fit */
} zb__lru;

/* most: see the struct; nothing is kept with a budget of 0. */
void zb__lru_init(zb__lru *lru, uint64_t budget, uint64_t most);

/* The item of this key and version with a reference for the caller, or NULL. One of another version
   is stale and dropped. version: NULL where it is not known; nothing is found or kept then. */
zb__lru_item *zb__lru_get(zb__lru *lru, const zb__lru_key *key, const uint64_t *version);

/* Whether there is an item of the key's first three words, of any version. */
bool zb__lru_has_like(zb__lru *lru, const zb__lru_key *key);

/* A new item of `size` bytes with one reference, not in the table yet: fill data, lo and hi, then
   put it. NULL when it would not fit or memory runs out, or the key has no kind or a larger
   size. */
zb__lru_item *zb__lru_new(zb__lru *lru, const zb__lru_key *key, const uint64_t *version,
                          size_t size);

/* Publishes an item; one of the same key is replaced. The caller keeps its reference. */
void zb__lru_put(zb__lru *lru, zb__lru_item *item);

void zb__lru_release(zb__lru_item *item); /* NULL is allowed */
void zb__lru_clear(zb__lru *lru);

#endif
