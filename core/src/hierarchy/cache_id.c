/* SPDX-License-Identifier: MIT */
#include "hierarchy/cache_id.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "hierarchy/hierarchy.h"
#include "util/fork.h"
#include "util/lru.h"
#include "util/map.h"

/* Bytes of documents and paths that are kept: those of some five thousand arrays. A larger document
   gets a number each time that it is opened, which costs more than its chunks by far. */
#define MOST_BYTES ((uint64_t)4 << 20)

/* The data of an item of the table below. */
typedef struct given {
    uint64_t id;
    char path_and_document[];
} given;

static zb__lru table;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_uint_fast64_t next_id = 1;

/* An item is looked up by hashes, and has no version of its own. */
static const uint64_t no_version[ZB__LRU_VERSION_WORDS];

static void init(void) {
    static zb__fork_guard guard = {.lock = &table.lock};
    zb__lru_init(&table, MOST_BYTES, 0);
    zb__fork_guard_add(&guard);
}

/* Arrays whose keys are the same push each other out of the table, and no more: the store is in the
   key as it is, path and document are compared. */
static zb__lru_key key_of(const zb_hierarchy *hierarchy, const char *path, size_t path_size,
                          const char *document, size_t size) {
    return (zb__lru_key){
        .word = {hierarchy->store->id, zb__hash(path, path_size), zb__hash(document, size), size},
        .kind = 1,
        .size = sizeof(given) + path_size + size};
}

/* The sizes are the same, for they are in the key. */
static bool is_of(const given *g, const char *path, size_t path_size, const char *document,
                  size_t size) {
    return memcmp(g->path_and_document, path, path_size) == 0 &&
           memcmp(g->path_and_document + path_size, document, size) == 0;
}

static void keep(const zb__lru_key *key, uint64_t id, const char *path, size_t path_size,
                 const char *document, size_t size) {
    zb__lru_item *item = zb__lru_new(&table, key, no_version, key->size);
    if (!item)
        return;
    given *g = (given *)(void *)item->data;
    g->id = id;
    memcpy(g->path_and_document, path, path_size);
    memcpy(g->path_and_document + path_size, document, size);
    zb__lru_put(&table, item);
    zb__lru_release(item);
}

uint64_t zb__cache_id(const zb_hierarchy *hierarchy, const char *path, const char *document,
                      size_t size) {
    const size_t path_size = strlen(path);
    uint64_t id = 0;
    pthread_once(&once, init);
    const zb__lru_key key = key_of(hierarchy, path, path_size, document, size);
    zb__lru_item *item = zb__lru_get(&table, &key, no_version);
    if (item && is_of((const given *)(const void *)item->data, path, path_size, document, size))
        id = ((const given *)(const void *)item->data)->id;
    zb__lru_release(item);
    if (id)
        return id;
    id = atomic_fetch_add(&next_id, 1);
    keep(&key, id, path, path_size, document, size);
    return id;
}

void zb__cache_id_clear(void) {
    pthread_once(&once, init);
    zb__lru_clear(&table);
}
