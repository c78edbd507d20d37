/* SPDX-License-Identifier: MIT */
/* The two caches of the process: decoded chunks, and shard indexes. */
#ifndef ZB_READ_CACHE_H
#define ZB_READ_CACHE_H

#include "base/lru.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/sys/store.h"

zb__lru *zb__chunk_cache(void);
zb__lru *zb__index_cache(void);

/* What their items hold. */
enum zb__cached_kind {
    ZB__CACHED_ELEMENTS = 1, /* of a chunk: bytes that may be anything */
    ZB__CACHED_VALUES,       /* the same of variable length: pointers into the heap behind them */
    ZB__CACHED_INDEX,        /* two numbers for each inner chunk */
    ZB__CACHED_KNOWN         /* a zb__known */
};

/* An object's version as these caches compare it; NULL where the store does not tell the
   version. */
static inline const uint64_t *zb__cache_version(const zb_validator *validator) {
    _Static_assert(sizeof validator->word == ZB__LRU_VERSION_WORDS * sizeof(uint64_t), "");
    return validator->valid ? validator->word : NULL;
}

#endif
