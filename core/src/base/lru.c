/* SPDX-License-Identifier: MIT */
#include "base/lru.h"

#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "base/pages.h"

void zb__lru_init(zb__lru *lru, uint64_t budget, uint64_t most) {
    *lru = (zb__lru){.budget = budget, .most = most};
    pthread_mutex_init(&lru->lock, NULL);
}

/* The words of a key that its bucket depends on. */
#define BUCKET_WORDS 3

static size_t bucket_of(const zb__lru *lru, const zb__lru_key *key) {
    const uint64_t hash = zb__mix(zb__mix(key->word[0], key->word[1]), key->word[2]);
    return (size_t)hash & (lru->bucket_count - 1);
}

/* The link that points to the item of this key, or to the NULL at its bucket's end. */
static zb__lru_item **find(zb__lru *lru, const zb__lru_key *key) {
    zb__lru_item **link = &lru->buckets[bucket_of(lru, key)];
    while (*link && memcmp(&(*link)->key, key, sizeof *key) != 0)
        link = &(*link)->chain;
    return link;
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

/* Takes the item at *link out of the table; its reference passes to the caller. */
static zb__lru_item *take_out(zb__lru *lru, zb__lru_item **link) {
    zb__lru_item *item = *link;
    *link = item->chain;
    unlink_by_use(lru, item);
    lru->bytes -= weight(item->size);
    lru->count--;
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
    zb__lru_item *found = NULL, *stale = NULL;
    pthread_mutex_lock(&lru->lock);
    zb__lru_item **link = lru->buckets ? find(lru, key) : NULL;
    if (link && *link) {
        if (memcmp((*link)->version, version, sizeof(*link)->version) == 0) {
            found = *link;
            atomic_fetch_add_explicit(&found->refs, 1, memory_order_relaxed);
            unlink_by_use(lru, found);
            link_newest(lru, found);
        } else {
            stale = take_out(lru, link);
        }
    }
    pthread_mutex_unlock(&lru->lock);
    zb__lru_release(stale);
    return found;
}

bool zb__lru_has_like(zb__lru *lru, const zb__lru_key *key) {
    pthread_mutex_lock(&lru->lock);
    const zb__lru_item *item = lru->buckets ? lru->buckets[bucket_of(lru, key)] : NULL;
    while (item && memcmp(&item->key, key, BUCKET_WORDS * sizeof *key->word) != 0)
        item = item->chain;
    pthread_mutex_unlock(&lru->lock);
    return item != NULL;
}

/* Takes the least recently used out of the table until `size` more bytes fit the budget. Returns
   them as a chain for free_chain. Called with the lock. */
static zb__lru_item *evict(zb__lru *lru, size_t size) {
    zb__lru_item *evicted = NULL;
    while (lru->bytes + weight(size) > lru->budget && lru->oldest) {
        zb__lru_item *item = take_out(lru, find(lru, &lru->oldest->key));
        item->chain = evicted;
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
        zb__lru_item *next = chain->chain;
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

/* Doubles the table when it is full. False when there is none and none can be had. */
static bool grow(zb__lru *lru) {
    if (lru->count < lru->bucket_count)
        return true;
    size_t bucket_count = lru->bucket_count ? lru->bucket_count * 2 : 64;
    zb__lru_item **buckets = calloc(bucket_count, sizeof(zb__lru_item *));
    if (!buckets)
        return lru->buckets != NULL;
    free(lru->buckets);
    lru->buckets = buckets;
    lru->bucket_count = bucket_count;
    for (zb__lru_item *item = lru->newest; item; item = item->older) {
        zb__lru_item **head = &buckets[bucket_of(lru, &item->key)];
        item->chain = *head;
        *head = item;
    }
    return true;
}

void zb__lru_put(zb__lru *lru, zb__lru_item *item) {
    zb__lru_item *replaced = NULL, *evicted = NULL;
    pthread_mutex_lock(&lru->lock);
    if (grow(lru)) {
        zb__lru_item **link = find(lru, &item->key);
        if (*link)
            replaced = take_out(lru, link);
        /* zb__lru_new made room, but other threads may have put their items since. */
        evicted = evict(lru, item->size);
        zb__lru_item **head = &lru->buckets[bucket_of(lru, &item->key)];
        item->chain = *head;
        *head = item;
        link_newest(lru, item);
        lru->bytes += weight(item->size);
        lru->count++;
        atomic_fetch_add_explicit(&item->refs, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lru->lock);
    zb__lru_release(replaced);
    free_chain(evicted, SIZE_MAX); /* no item has that size */
}

void zb__lru_clear(zb__lru *lru) {
    pthread_mutex_lock(&lru->lock);
    zb__lru_item *list = lru->newest;
    for (size_t i = 0; i < lru->bucket_count; i++)
        lru->buckets[i] = NULL;
    lru->newest = lru->oldest = NULL;
    lru->bytes = lru->count = 0;
    pthread_mutex_unlock(&lru->lock);
    while (list) {
        zb__lru_item *older = list->older;
        zb__lru_release(list);
        list = older;
    }
}
