/* SPDX-License-Identifier: MIT */
/*
 * The choke point between the core and every backend: one-line wrappers that check keys, and the
 * reading of whole small objects.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"
#include "util/pages.h"
#include "util/wait.h"

static atomic_uint_fast64_t next_id = 1;

enum zb_code zb_store_init(zb_store *store, const zb_store_ops *ops, zb_store_hints hints,
                           const char *label, zb_error *err) {
    if (ops->version != ZB_STORE_OPS_VERSION)
        return zb_fail(err, ZB_EINVAL, "store backend %s has interface version %u, expected %d",
                       ops->name, ops->version, ZB_STORE_OPS_VERSION);
    *store = (zb_store){.ops = ops, .hints = hints, .label = strdup(label)};
    if (!store->label)
        return zb_fail(err, ZB_ENOMEM, "no memory for a store's label");
    store->id = atomic_fetch_add(&next_id, 1);
    store->refs = 1;
    return ZB_OK;
}

zb_store *zb_store_retain(zb_store *store) {
    __atomic_fetch_add(&store->refs, 1, __ATOMIC_RELAXED);
    return store;
}

void zb_store_release(zb_store *store) {
    if (!store || __atomic_fetch_sub(&store->refs, 1, __ATOMIC_ACQ_REL) != 1)
        return;
    free(store->label);
    store->ops->destroy(store);
}

/* One part of a key between slashes: neither empty nor "." nor "..". */
static bool part_is_good(const char *part, size_t length) {
    if (length == 0)
        return false;
    return !(part[0] == '.' && (length == 1 || (length == 2 && part[1] == '.')));
}

/* A key stays beneath the root by its form alone; the backend checks links. */
static enum zb_code check_key(const char *key, bool empty_allowed, zb_error *err) {
    if (*key == '\0' && empty_allowed)
        return ZB_OK;
    for (const char *part = key;;) {
        size_t length = strcspn(part, "/");
        if (!part_is_good(part, length))
            return zb_fail(err, ZB_EINVAL, "key '%s' has an empty, '.' or '..' part", key);
        if (part[length] == '\0')
            return ZB_OK;
        part += length + 1;
    }
}

enum zb_code zb_object_open_as(zb_store *store, const zb_open *open, zb_object **out,
                               zb_object_info *info, zb_error *err) {
    if (open->is_live && !zb_store_can_change(store))
        return zb_fail(err, ZB_EUNSUPPORTED, "store %s (%s) cannot change objects in place",
                       store->label, store->ops->name);
    enum zb_code code = check_key(open->key, false, err);
    return code ? code : store->ops->open(store, open, out, info, err);
}

enum zb_code zb_object_open(zb_store *store, const char *key, zb_object **out, zb_object_info *info,
                            zb_error *err) {
    return zb_object_open_as(store, &(zb_open){.key = key}, out, info, err);
}

enum zb_code zb_object_read(zb_object *object, zb_range *ranges, size_t count, zb_error *err) {
    return object->store->ops->read(object, ranges, count, err);
}

void zb_object_close(zb_object *object) {
    if (object)
        object->store->ops->close(object);
}

enum zb_code zb_store_probe(zb_store *store, zb_probe *probe, zb_error *err) {
    enum zb_code code = check_key(probe->name, probe->asks >= ZB_ASK_HOLDER, err);
    return code ? code : store->ops->probe(store, probe, err);
}

enum zb_code zb_store_stat(zb_store *store, const char *key, zb_object_info *info, zb_error *err) {
    zb_probe probe = {.asks = ZB_ASK_INFO, .name = key};
    enum zb_code code = zb_store_probe(store, &probe, err);
    if (!code)
        *info = probe.info;
    return code;
}

enum zb_code zb_store_stands(zb_store *store, const char *key, zb_error *err) {
    zb_probe probe = {.asks = ZB_ASK_STANDS, .name = key};
    const enum zb_code code = zb_store_probe(store, &probe, err);
    return code == ZB_EUNSUPPORTED ? ZB_OK : code;
}

uint64_t zb_store_identify(zb_store *store, const char *prefix) {
    zb_probe probe = {.asks = ZB_ASK_HOLDER, .name = prefix};
    return zb_store_probe(store, &probe, NULL) == ZB_OK ? probe.identity : 0;
}

bool zb_store_confirm_absent(zb_store *store, const char *prefix, uint64_t identity,
                             const char *const *keys, size_t count) {
    zb_probe probe = {.asks = ZB_ASK_HOLDER, .name = prefix, .keys = keys, .count = count};
    return !identity || zb_store_probe(store, &probe, NULL) == ZB_EUNSUPPORTED ||
           (probe.all_absent && probe.identity == identity);
}

static bool is_so(zb_store *store, enum zb_question asks, const char *prefix) {
    zb_probe probe = {.asks = asks, .name = prefix};
    return *prefix && zb_store_probe(store, &probe, NULL) == ZB_OK && probe.is_so;
}

bool zb_store_is_link(zb_store *store, const char *prefix) {
    return is_so(store, ZB_ASK_LINK, prefix);
}

bool zb_store_is_absent(zb_store *store, const char *prefix) {
    return is_so(store, ZB_ASK_NOTHING, prefix);
}

bool zb_store_can_submit(const zb_store *store) {
    return store->ops->submit != NULL;
}

enum zb_code zb_store_submit(zb_store *store, zb_fetch *list, zb_fetch_fn done, void *context,
                             zb_error *err) {
    if (!store->ops->submit)
        return zb_fail(err, ZB_EUNSUPPORTED, "%s: the store answers only while one waits",
                       store->label);
    for (const zb_fetch *fetch = list; fetch; fetch = fetch->next) {
        enum zb_code code = fetch->object ? ZB_OK : check_key(fetch->key, false, err);
        if (code)
            return code;
    }
    return store->ops->submit(store, list, done, context, err);
}

uint64_t zb_store_changes(zb_store *store) {
    return __atomic_load_n(&store->changes, __ATOMIC_SEQ_CST);
}

void zb_store_cancel(zb_store *store, void *context) {
    if (store->ops->cancel)
        store->ops->cancel(store, context);
}

enum zb_code zb_store_list_as(zb_store *store, const zb_list *list, zb_list_fn fn, void *context,
                              zb_error *err) {
    enum zb_code code = check_key(list->prefix, true, err);
    return code ? code : store->ops->list(store, list, fn, context, err);
}

enum zb_code zb_store_list(zb_store *store, const char *prefix, zb_list_fn fn, void *context,
                           zb_error *err) {
    return zb_store_list_as(store, &(zb_list){.prefix = prefix}, fn, context, err);
}

/* ---- Writing ------------------------------------------------------------------------------ */

/* Counts a change, also one that failed: it may have been made all the same. */
static enum zb_code changed(zb_store *store, enum zb_code code) {
    zb__store_count_change(store);
    return code;
}

enum zb_code zb__store_fail_read_only(const zb_store *store, zb_error *err) {
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "store %s (%s) cannot be written: change a copy of it, which `zarrbridge copy` "
                   "makes",
                   store->label, store->ops->name);
}

enum zb_code zb_store_put_as(zb_store *store, const zb_put *put, zb_error *err) {
    if (!store->ops->put)
        return zb__store_fail_read_only(store, err);
    enum zb_code code = check_key(put->key, false, err);
    if (!code && put->file && !store->hints.takes_files)
        code = zb_fail(err, ZB_EUNSUPPORTED, "store %s (%s) takes no files", store->label,
                       store->ops->name);
    if (!code)
        code = zb__stop_or_begin(err);
    if (code)
        return code;
    code = store->ops->put(store, put, err);
    const bool is_refused = code == ZB_ECONFLICT && put->expected == ZB_EXPECT_NOTHING;
    return is_refused ? code : changed(store, code); /* refused: nothing was touched */
}

enum zb_code zb_store_put(zb_store *store, const char *key, const zb_part *parts, size_t count,
                          enum zb_sync sync, zb_error *err) {
    zb_put put = {.key = key, .parts = parts, .count = count, .sync = sync};
    return zb_store_put_as(store, &put, err);
}

enum zb_code zb_store_erase_as(zb_store *store, const zb_erase *erase, zb_error *err) {
    if (!store->ops->erase)
        return zb__store_fail_read_only(store, err);
    enum zb_code code = check_key(erase->key, erase->is_recursive, err);
    if (!code)
        code = zb__stop_or_begin(err);
    return code ? code : changed(store, store->ops->erase(store, erase, err));
}

enum zb_code zb_store_erase(zb_store *store, const char *key, zb_error *err) {
    return zb_store_erase_as(store, &(zb_erase){.key = key}, err);
}

enum zb_code zb_store_erase_below(zb_store *store, const char *prefix, zb_error *err) {
    return zb_store_erase_as(store, &(zb_erase){.key = prefix, .is_recursive = true}, err);
}

enum zb_code zb_store_erase_chosen(zb_store *store, const zb_erase_chosen *erase, zb_error *err) {
    if (!store->ops->erase_chosen)
        return zb_fail(err, ZB_EUNSUPPORTED, "store %s (%s) erases no chosen objects", store->label,
                       store->ops->name);
    enum zb_code code = check_key(erase->prefix, true, err);
    if (!code)
        code = zb__stop_or_begin(err);
    return code ? code : changed(store, store->ops->erase_chosen(store, erase, err));
}

enum zb_code zb_store_flush_batch(zb_store *store, zb_batch *batch, zb_error *err) {
    zb__stop_no_more();
    return store->ops->flush ? changed(store, store->ops->flush(store, batch, false, err))
                             : zb__store_fail_read_only(store, err);
}

enum zb_code zb_store_flush(zb_store *store, zb_error *err) {
    return zb_store_flush_batch(store, NULL, err);
}

/* ---- Batches ------------------------------------------------------------------------------ */

void zb_batch_begin(zb_batch *batch, zb_store *store, zb_batch_check_fn check, void *context) {
    *batch = (zb_batch){.store = store, .check = check, .context = context};
}

void zb_batch_end(zb_batch *batch) {
    if (batch->store && batch->store->ops->flush)
        (void)batch->store->ops->flush(batch->store, batch, true, NULL);
    batch->store = NULL;
}

enum zb_code zb_batch_check(const zb_batch *batch, const char *key, zb_error *err) {
    return batch && batch->check ? batch->check(batch->context, key, err) : ZB_OK;
}

/* ---- Locks -------------------------------------------------------------------------------- */

enum zb_code zb_store_lock_as(zb_store *store, const zb_locking *locking, zb_lock **out,
                              zb_error *err) {
    enum zb_code code = check_key(locking->key, locking->only_waits, err);
    if (!code && store->ops->lock)
        return store->ops->lock(store, locking, out, err);
    return code || locking->only_waits ? code
                                       : zb_fail(err, ZB_EUNSUPPORTED, "store %s (%s) has no locks",
                                                 store->label, store->ops->name);
}

enum zb_code zb_store_lock(zb_store *store, const char *key, zb_lock **out, zb_error *err) {
    return zb_store_lock_as(store, &(zb_locking){.key = key}, out, err);
}

void zb_store_unlock(zb_lock *lock) {
    if (lock)
        lock->store->ops->unlock(lock);
}

/* ---- Live objects ------------------------------------------------------------------------- */

enum zb_code zb_object_change(zb_object *live, const zb_change *change, zb_error *err) {
    enum zb_code code = zb__stop_or_begin(err);
    return code ? code : changed(live->store, live->store->ops->change(live, change, err));
}

/* ---- Housekeeping ------------------------------------------------------------------------- */

enum zb_code zb_store_rename(zb_store *store, const char *from, const char *to, zb_error *err) {
    if (!store->ops->rename)
        return zb_fail(err, ZB_EUNSUPPORTED, "store %s (%s) cannot rename", store->label,
                       store->ops->name);
    enum zb_code code = check_key(from, false, err);
    if (code == ZB_OK)
        code = check_key(to, false, err);
    if (!code)
        code = zb__stop_or_begin(err);
    return code ? code : changed(store, store->ops->rename(store, from, to, err));
}

enum zb_code zb_store_copy(zb_store *store, const char *key, zb_store *from, const char *from_key,
                           zb_error *err) {
    if (!store->ops->copy)
        return zb_fail(err, ZB_EUNSUPPORTED, "store %s (%s) cannot copy objects", store->label,
                       store->ops->name);
    enum zb_code code = check_key(key, false, err);
    if (code == ZB_OK)
        code = check_key(from_key, false, err);
    if (!code)
        code = zb__stop_or_begin(err);
    return code ? code : changed(store, store->ops->copy(store, key, from, from_key, err));
}

enum zb_code zb_store_sweep(zb_store *store, const char *prefix, enum zb_sweep what, zb_list_fn fn,
                            void *context, zb_error *err) {
    enum zb_code code = check_key(prefix, true, err);
    if (!code && what == ZB_SWEEP_REMOVE)
        code = zb__stop_or_begin(err);
    return code || !store->ops->sweep ? code
                                      : store->ops->sweep(store, prefix, what, fn, context, err);
}

/* ---- Whole objects ------------------------------------------------------------------------ */

/* Reads exactly size bytes of an open object into a new, NUL-terminated block. */
static enum zb_code read_all(zb_object *object, uint64_t size, char **data, zb_error *err) {
    char *block = size < SIZE_MAX ? zb__pages_alloc((size_t)size + 1, NULL) : NULL;
    if (!block)
        return zb_fail(err, ZB_ENOMEM, "no memory for an object of %llu bytes",
                       (unsigned long long)size);
    zb_range range = {.offset = 0, .length = (size_t)size, .buffer = block};
    enum zb_code code = zb_object_read(object, &range, 1, err);
    if (code == ZB_OK && range.got != size)
        code = zb_fail(err, ZB_EIO, "object of %llu bytes ended after %zu",
                       (unsigned long long)size, range.got);
    if (code != ZB_OK) {
        free(block);
        return code;
    }
    block[size] = '\0';
    *data = block;
    return ZB_OK;
}

enum zb_code zb_store_get(zb_store *store, const char *key, uint64_t limit, const char *limit_name,
                          char **data, size_t *size, zb_object_info *info, zb_error *err) {
    return zb_store_get_in(store, key, &(zb_home){.identity = 0}, limit, limit_name, data, size,
                           info, err);
}

enum zb_code zb_store_get_in(zb_store *store, const char *key, const zb_home *home, uint64_t limit,
                             const char *limit_name, char **data, size_t *size,
                             zb_object_info *info, zb_error *err) {
    zb_object *object;
    zb_object_info local;
    const zb_open opening = {.key = key, .home = *home};
    enum zb_code code = zb_object_open_as(store, &opening, &object, &local, err);
    if (code != ZB_OK)
        return code;
    if (local.size > limit)
        code = zb_fail(err, ZB_ELIMIT, "'%s' has %llu bytes, limit %s is %llu", key,
                       (unsigned long long)local.size, limit_name, (unsigned long long)limit);
    else
        code = read_all(object, local.size, data, err);
    zb_object_close(object);
    if (code == ZB_OK) {
        *size = (size_t)local.size;
        if (info)
            *info = local;
    }
    return code;
}
