/* SPDX-License-Identifier: MIT */
#include "read/cache.h"

#include "hierarchy/cache_id.h"
#include "node/node.h"
#include "store/fs_store.h"
#include "util/clock.h"
#include "util/fork.h"
#include "util/lru.h"
#include "util/reuse.h"
#include "util/scratch.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/store.h"

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

/* ---- What is known of stored chunks ------------------------------------------------------- */

/* The entries are in the cache of indexes. Their keys have UINT64_MAX as the offset, at which no
   index begins, and no version. */
static const uint64_t no_version[ZB__LRU_VERSION_WORDS];

static bool name_of(const zb__stored_chunk *chunk, zb__lru_key *name) {
    *name = (zb__lru_key){.word = {chunk->node->array->cache_id, chunk->number, UINT64_MAX, 0},
                          .kind = ZB__CACHED_KNOWN,
                          .size = sizeof(zb__cached_version)};
    return chunk->number != UINT64_MAX;
}

bool zb__version_cache_find(const zb__stored_chunk *chunk, zb__cached_version *out) {
    zb__lru_key name;
    if (!name_of(chunk, &name))
        return false;
    zb__lru_item *item = zb__lru_get(zb__index_cache(), &name, no_version);
    if (!item)
        return false;
    *out = *(const zb__cached_version *)(const void *)item->data;
    zb__lru_release(item);
    return true;
}

bool zb__cached_version_is_fresh(const zb__stored_chunk *chunk, const zb__cached_version *known) {
    return zb__age_is_fresh(&known->age, zb__node_store(chunk->node));
}

void zb__version_cache_put(const zb__stored_chunk *chunk, const zb_object_info *info,
                           uint64_t changes) {
    zb__lru_key name;
    if (!name_of(chunk, &name) || (info && !info->validator.valid))
        return;
    zb__lru_item *item =
        zb__lru_new(zb__index_cache(), &name, no_version, sizeof(zb__cached_version));
    if (!item)
        return;
    zb__cached_version *known = (zb__cached_version *)(void *)item->data;
    *known = (zb__cached_version){.is_missing = !info, .age = zb__age_now(changes)};
    if (info)
        known->info = *info;
    zb__lru_put(zb__index_cache(), item);
    zb__lru_release(item);
}

void zb__version_cache_drop(const zb__stored_chunk *chunk) {
    static const uint64_t other_version[ZB__LRU_VERSION_WORDS] = {1};
    zb__lru_key name;
    if (name_of(chunk, &name))
        zb__lru_release(zb__lru_get(zb__index_cache(), &name, other_version));
}
