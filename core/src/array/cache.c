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
    zb__lru_init(&chunks, zb_limits_get()->cache_bytes);
    zb__lru_init(&indexes, zb_limits_get()->index_cache_bytes);
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
