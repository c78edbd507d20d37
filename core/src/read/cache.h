/* SPDX-License-Identifier: MIT */
/* The two caches of the process: decoded chunks, and shard indexes. */
#ifndef ZB_READ_CACHE_H
#define ZB_READ_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "hierarchy/age.h"
#include "read/leaf.h"
#include "util/lru.h"
#include "zarrbridge/sys/store.h"

zb__lru *zb__chunk_cache(void);
zb__lru *zb__index_cache(void);

/* What their items hold. */
enum zb__cached_kind {
    ZB__CACHED_ELEMENTS = 1, /* of a chunk: bytes that may be anything */
    ZB__CACHED_VALUES,       /* the same of variable length: pointers into the heap behind them */
    ZB__CACHED_INDEX,        /* two numbers for each inner chunk */
    ZB__CACHED_KNOWN         /* a zb__cached_version */
};

/* An object's version as these caches compare it; NULL where the store does not tell the
   version. */
static inline const uint64_t *zb__cache_version(const zb_validator *validator) {
    _Static_assert(sizeof validator->word == ZB__LRU_VERSION_WORDS * sizeof(uint64_t), "");
    return validator->valid ? validator->word : NULL;
}

/*
 * What is known of stored chunks without asking: the version that answered last, or that there was
 * none. Each answer of a store that takes requests (zb_store_submit) is noted here, since asking
 * again costs a way to a server and back.
 *
 * What is known may be old. While it is *fresh* (hierarchy/age.h) it is as good as an answer.
 * Otherwise it is only a guess, which the answer to the next request confirms or refutes.
 */

typedef struct zb__cached_version {
    zb_object_info info;
    bool is_missing;
    zb__age age; /* of the answer */
} zb__cached_version;

/* Fills *out with what is known of the stored chunk; false when nothing is. Nothing is known of
   stored chunks that are read past the caches. */
bool zb__version_cache_find(const zb__stored_chunk *chunk, zb__cached_version *out);

bool zb__cached_version_is_fresh(const zb__stored_chunk *chunk, const zb__cached_version *known);

/* Notes an answer; info: NULL when there is no object. Of an object whose version cannot be told
   apart nothing is noted. changes: of the store,
   before it was asked (zb_store_changes). */
void zb__version_cache_put(const zb__stored_chunk *chunk, const zb_object_info *info,
                           uint64_t changes);

/* After an answer that refuted it. */
void zb__version_cache_drop(const zb__stored_chunk *chunk);

#endif
