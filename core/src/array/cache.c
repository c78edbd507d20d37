/* SPDX-License-Identifier: MIT */
#include "array/cache.h"

#include "base/scratch.h"
#include "zarrbridge/zarrbridge.h"

static zb__lru chunks, indexes;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void lock_both(void) {
    pthread_mutex_lock(&chunks.lock);
    pthread_mutex_lock(&indexes.lock);
}

static void unlock_both(void) {
    pthread_mutex_unlock(&indexes.lock);
    pthread_mutex_unlock(&chunks.lock);
}

static void init(void) {
    const zb_limits *limits = zb_limits_get();
    zb__lru_init(&chunks, limits->cache_bytes, 0);
    /* A large index of small inner chunks is asked for again and again: one of any size is kept. */
    zb__lru_init(&indexes, limits->index_cache_bytes, limits->index_bytes);
    pthread_atfork(lock_both, unlock_both, unlock_both);
}

zb__lru *zb__chunk_cache(void) {
    pthread_once(&once, init);
    return &chunks;
}

zb__lru *zb__index_cache(void) {
    pthread_once(&once, init);
    return &indexes;
}

void zb_cache_clear(void) {
    zb__lru_clear(zb__chunk_cache());
    zb__lru_clear(zb__index_cache());
    zb__scratch_clear();
}
