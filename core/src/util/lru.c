/* SPDX-License-Identifier: MIT */
#include "util/lru.h"

#include <stdlib.h>
#include <string.h>

#include "util/pages.h"

void zb__lru_init(zb__lru *lru, uint64_t budget, uint64_t most) {
    *lru = (zb__lru){.budget = budget, .most = most};
    pthread_mutex_init(&lru->lock, NULL);
}

/* The words of a key that its hash depends on. */
#define HASH_WORDS 3

static uint64_t hash_of(const zb__lru_key *key) {
    return zb__hash(key->word, HASH_WORDS * sizeof *key->word);
}

static zb__lru_item *item_of(zb__map_link *link) {
    return (zb__lru_item *)(void *)link;
}

/* The item of this key, or NULL. */
static zb__lru_item *find(const zb__lru *lru, const zb__lru_key *key) {
    zb__map_link *link = zb__map_first(&lru->table, hash_of(key));
    while (link && memcmp(&item_of(link)->key, key, sizeof *key) != 0)
        link = zb__map_next(link);
    return item_of(link);
}

static void unlink_by_use(zb__lru *lru, zb__lru_item *item) {
    *(item->newer ? &item->newer->older : &lru->newest) = item->older;
    *(item->older ? &item->older->newer : &lru->oldest) = item->newer;
}

static void link_newest(zb__lru *lru, zb__lru_item *item) {
    item->newer = NULL;
    item->older = lru->newest;
    *(lru->newest ? &lru->newest->newer : &lru->oldest) = item;
    lru->newest = item;
}

/* The bytes that an item takes of the budget: its head counts too, so that empty items are not
   free. */
static uint64_t weight(size_t size) {
    return sizeof(zb__lru_item) + (uint64_t)size;
}

/* Takes an item out of the table; its reference passes to the caller. */
static zb__lru_item *take_out(zb__lru *lru, zb__lru_item *item) {
    zb__map_remove(&lru->table, &item->link);
    unlink_by_use(lru, item);
    lru->bytes -= weight(item->size);
    return item;
}

/* ---- Memory of items ---- */

static zb__lru_item *alloc_item(zb__lru *lru, size_t size) {
    size_t bytes;
    if (__builtin_add_overflow(sizeof(zb__lru_item), size, &bytes))
        return NULL;
    zb__lru_item *item = NULL;
    if (zb__slab_fits(bytes)) {
        pthread_mutex_lock(&lru->lock);
        item = zb__slab_alloc(&lru->slabs, bytes, lru->budget);
        pthread_mutex_unlock(&lru->lock);
    }
    bool in_slab = item != NULL;
    if (!item)
        item = zb__pages_alloc(bytes, NULL);
    if (item) {
        item->lru = lru;
        item->in_slab = in_slab;
    }
    return item;
}

void zb__lru_release(zb__lru_item *item) {
    if (!item || atomic_fetch_sub_explicit(&item->refs, 1, memory_order_acq_rel) != 1)
        return;
    zb__lru *lru = item->lru;
    if (!item->in_slab) {
        free(item);
        return;
    }
    pthread_mutex_lock(&lru->lock);
    zb__slab_free(&lru->slabs, item);
    pthread_mutex_unlock(&lru->lock);
}

/* ---- The table ---- */

zb__lru_item *zb__lru_get(zb__lru *lru, const zb__lru_key *key, const uint64_t *version) {
    if (!version || lru->budget == 0)
        return NULL;
    zb__lru_item *stale = NULL;
    pthread_mutex_lock(&lru->lock);
    zb__lru_item *found = find(lru, key);
    if (found && memcmp(found->version, version, sizeof found->version) != 0) {
        stale = take_out(lru, found);
        found = NULL;
    }
    if (found) {
        atomic_fetch_add_explicit(&found->refs, 1, memory_order_relaxed);
        unlink_by_use(lru, found);
        link_newest(lru, found);
    }
    pthread_mutex_unlock(&lru->lock);
    zb__lru_release(stale);
    return found;
}

bool zb__lru_has_like(zb__lru *lru, const zb__lru_key *key) {
    pthread_mutex_lock(&lru->lock);
    zb__map_link *link = zb__map_first(&lru->table, hash_of(key));
    while (link && memcmp(&item_of(link)->key, key, HASH_WORDS * sizeof *key->word) != 0)
        link = zb__map_next(link);
    pthread_mutex_unlock(&lru->lock);
    return link != NULL;
}

/* Takes the least recently used out of the table until `size` more bytes fit the budget. Returns
   them as a chain for free_chain. Called with the lock. */
static zb__lru_item *evict(zb__lru *lru, size_t size) {
    zb__lru_item *evicted = NULL;
    while (lru->bytes + weight(size) > lru->budget && lru->oldest) {
        zb__lru_item *item = take_out(lru, lru->oldest);
        item->older = evicted;
        evicted = item;
    }
    return evicted;
}

/* Gives the table's references of a chain back, except one to an item of just `size` bytes that no
   thread uses any more: its memory can serve again, and passes to the caller. NULL when there is
   none. */
static zb__lru_item *free_chain(zb__lru_item *chain, size_t size) {
    zb__lru_item *reusable = NULL;
    while (chain) {
        zb__lru_item *next = chain->older;
        if (!reusable && chain->size == size && atomic_load(&chain->refs) == 1)
            reusable = chain;
        else
            zb__lru_release(chain);
        chain = next;
    }
    return reusable;
}

zb__lru_item *zb__lru_new(zb__lru *lru, const zb__lru_key *key, const uint64_t *version,
                          size_t size) {
    if (!version || lru->budget == 0 || (weight(size) > lru->budget && size > lru->most))
        return NULL;
    if (key->kind == 0 || size < key->size)
        return NULL;
    pthread_mutex_lock(&lru->lock);
    zb__lru_item *evicted = evict(lru, size);
    pthread_mutex_unlock(&lru->lock);
    zb__lru_item *item = free_chain(evicted, size);
    if (!item)
        item = alloc_item(lru, size);
    if (!item)
        return NULL;
    item->key = *key;
    memcpy(item->version, version, sizeof item->version);
    item->size = size;
    atomic_init(&item->refs, 1);
    return item;
}

void zb__lru_put(zb__lru *lru, zb__lru_item *item) {
    zb__lru_item *replaced = NULL, *evicted = NULL;
    pthread_mutex_lock(&lru->lock);
    if (zb__map_reserve(&lru->table)) {
        replaced = find(lru, &item->key);
        if (replaced)
            take_out(lru, replaced);
        /* zb__lru_new made room, but other threads may have put their items since. */
        evicted = evict(lru, item->size);
        zb__map_add(&lru->table, &item->link, hash_of(&item->key));
        link_newest(lru, item);
        lru->bytes += weight(item->size);
        atomic_fetch_add_explicit(&item->refs, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lru->lock);
    zb__lru_release(replaced);
    free_chain(evicted, SIZE_MAX); /* no item has that size */
}

void zb__lru_clear(zb__lru *lru) {
    pthread_mutex_lock(&lru->lock);
    zb__lru_item *list = lru->newest;
    zb__map_free(&lru->table);
    lru->newest = lru->oldest = NULL;
    lru->bytes = 0;
    pthread_mutex_unlock(&lru->lock);
    while (list) {
        zb__lru_item *older = list->older;
        zb__lru_release(list);
        list = older;
    }
}
