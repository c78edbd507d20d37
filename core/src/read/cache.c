/* SPDX-License-Identifier: MIT */
#include "read/cache.h"

#include "base/fork.h"
#include "base/lru.h"
#include "base/reuse.h"
#include "base/scratch.h"
#include "hierarchy/cache_id.h"
#include "store/fs_kept.h"
#include "zarrbridge/limits.h"

static zb__lru chunks, indexes;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init(void) {
    static zb__fork_guard guards[] = {{.lock = &chunks.lock}, {.lock = &indexes.lock}};
    const zb_limits *limits = zb_limits_get();
    zb__lru_init(&chunks, limits->cache_bytes, 0);
    /* A large index of small inner chunks is asked for again and again: indexes of any size are
       kept. */
    zb__lru_init(&indexes, limits->index_cache_bytes, limits->index_bytes);
    zb__fork_guard_add(&guards[0]);
    zb__fork_guard_add(&guards[1]);
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
    zb__cache_id_clear();
    zb__scratch_clear();
    zb__reuse_clear();
    (void)zb__fs_kept_clear();
}
