/* SPDX-License-Identifier: MIT */
/*
 * What a service copies itself takes no memory here, and nobody knows its size. Of what goes
 * through memory no more is under way than would be of chunks as large as the largest so far.
 */
#include "change/copy_object.h"

#include <stdlib.h>

#include "change/put.h"
#include "hierarchy/hierarchy.h"
#include "hierarchy/staged.h"
#include "store/store.h"
#include "zarrbridge/limits.h"

void zb__object_copier_init(zb__object_copier *copier, zb_hierarchy *from, zb_hierarchy *to) {
    *copier = (zb__object_copier){.from = from, .to = to};
    pthread_mutex_init(&copier->lock, NULL);
    pthread_cond_init(&copier->ended, NULL);
    zb_batch_begin(&copier->batch, to->store, NULL, NULL);
}

void zb__object_copier_end(zb__object_copier *copier) {
    zb_batch_end(&copier->batch);
    pthread_cond_destroy(&copier->ended);
    pthread_mutex_destroy(&copier->lock);
}

/* Of objects of that many bytes. */
static size_t width_for(const zb__object_copier *c, uint64_t bytes) {
    return zb__store_width(c->to->store->hints.is_local ? c->from->store : c->to->store, bytes);
}

size_t zb__object_copier_width(const zb__object_copier *copier) {
    return width_for(copier, 0);
}

/* With the lock. The first one goes alone. */
static bool may_begin(const zb__object_copier *c) {
    return c->under_way == 0 || (c->largest && c->under_way < width_for(c, c->largest));
}

static void begin(zb__object_copier *c) {
    pthread_mutex_lock(&c->lock);
    while (!may_begin(c))
        pthread_cond_wait(&c->ended, &c->lock);
    c->under_way++;
    pthread_mutex_unlock(&c->lock);
}

static void end(zb__object_copier *c) {
    pthread_mutex_lock(&c->lock);
    c->under_way--;
    pthread_cond_broadcast(&c->ended);
    pthread_mutex_unlock(&c->lock);
}

/* Called when the size is known, before the object is put. */
static void marker_size(zb__object_copier *c, uint64_t size) {
    pthread_mutex_lock(&c->lock);
    if (c->largest <= size)
        c->largest = size + 1;
    pthread_cond_broadcast(&c->ended);
    pthread_mutex_unlock(&c->lock);
}

/* Objects may wait where all of them are then made durable at once. */
static bool may_wait(const zb__object_copier *c) {
    return c->to->store->hints.is_local && !zb__is_staging(c->to);
}

static enum zb_code put(zb__object_copier *c, const char *target, const void *data, size_t size,
                        zb_error *err) {
    const zb_part part = {.data = data, .size = size};
    const zb_put waiting = {.key = target,
                            .parts = &part,
                            .count = 1,
                            .sync = zb__hierarchy_sync(c->to),
                            .waits = true,
                            .in_order = true,
                            .batch = &c->batch};
    return may_wait(c) ? zb__hierarchy_put(c->to, &waiting, err)
                       : zb__document_put(c->to, target, data, size, err);
}

enum zb_code zb__object_copier_flush(zb__object_copier *c, zb_error *err) {
    return may_wait(c) && zb__hierarchy_sync(c->to) == ZB_SYNC_CLOSE
               ? zb_store_flush_batch(c->to->store, &c->batch, err)
               : ZB_OK;
}

static enum zb_code through_memory(zb__object_copier *c, const char *key, const char *target,
                                   zb_error *err) {
    char *data = NULL;
    size_t size;
    begin(c);
    enum zb_code code = zb_store_get(zb__place_of(c->from, key), key, zb_limits_get()->shard_bytes,
                                     "shard_bytes", &data, &size, NULL, err);
    if (!code) {
        marker_size(c, size);
        code = put(c, target, data, size, err);
    }
    free(data);
    end(c);
    return code;
}

enum zb_code zb__copy_object(zb__object_copier *copier, const char *key, const char *target,
                             zb_error *err) {
    enum zb_code code = zb__hierarchy_copy(copier->to, target, copier->from, key, err);
    return code == ZB_EUNSUPPORTED ? through_memory(copier, key, target, err) : code;
}
