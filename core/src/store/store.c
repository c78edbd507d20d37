/* SPDX-License-Identifier: MIT */
/*
 * The choke point between the core and every backend: one-line wrappers that check keys, and the
 * reading of whole small objects.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "base/wait.h"
#include "store/state.h"

static atomic_uint_fast64_t next_id = 1;

enum zb_code zb_store_init(zb_store *store, const zb_store_ops *ops, zb_store_hints hints,
                           const char *label, zb_error *err) {
    if (ops->version != ZB_STORE_OPS_VERSION)
        return zb_fail(err, ZB_EINVAL, "store backend %s has interface version %u, expected %d",
                       ops->name, ops->version, ZB_STORE_OPS_VERSION);
    *store = (zb_store){.ops = ops,
                        .hints = hints,
                        .label = strdup(label),
                        .kinds = ZB_ALL_KINDS,
                        .sync = ZB_SYNC_NONE};
    if (!store->label)
        return zb_fail(err, ZB_ENOMEM, "no memory for a store's label");
    store->id = store->serial = atomic_fetch_add(&next_id, 1);
    store->refs = 1;
    return ZB_OK;
}

zb_store *zb_store_retain(zb_store *store) {
    __atomic_fetch_add(&store->refs, 1, __ATOMIC_RELAXED);
    return store;
}

/* What was left to a flush, or to the seal, is done now. It uses the store, so that this has a
   reference again. Nobody is left to be told of errors. */
static void end_later(zb_store *store) {
    zb_later *later = zb__store_later(store);
    if (!later && !store->seal)
        return;
    zb__stop_no_more();
    __atomic_store_n(&store->refs, 1, __ATOMIC_SEQ_CST);
    if (later)
        (void)later->run(store, NULL);
    if (store->seal) {
        (void)store->seal->run(store, NULL);
        store->seal->end(store);
    }
    if (later)
        later->free(later);
}

void zb_store_release(zb_store *store) {
    if (!store || __atomic_fetch_sub(&store->refs, 1, __ATOMIC_ACQ_REL) != 1)
        return;
    end_later(store);
    if (store->served)
        store->served->release(store->served);
    if (store->lately)
        store->lately->release(store->lately);
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

enum zb_code zb_object_open(zb_store *store, const char *key, zb_object **out, zb_object_info *info,
                            zb_error *err) {
    enum zb_code code = check_key(key, false, err);
    return code ? code : store->ops->open(store, key, out, info, err);
}

enum zb_code zb_object_open_in(zb_store *store, const char *key, const zb_home *home,
                               zb_object **out, zb_object_info *info, zb_error *err) {
    if (!home->identity || !store->ops->open_in)
        return zb_object_open(store, key, out, info, err);
    enum zb_code code = check_key(key, false, err);
    return code ? code : store->ops->open_in(store, key, home, out, info, err);
}

enum zb_code zb_object_read(zb_object *object, zb_range *ranges, size_t count, zb_error *err) {
    return object->store->ops->read(object, ranges, count, err);
}

void zb_object_close(zb_object *object) {
    if (object)
        object->store->ops->close(object);
}

enum zb_code zb_store_stat(zb_store *store, const char *key, zb_object_info *info, zb_error *err) {
    enum zb_code code = check_key(key, false, err);
    return code ? code : store->ops->stat(store, key, info, err);
}

enum zb_code zb_store_peek(zb_store *store, const char *key, zb_object_info *info, zb_error *err) {
    zb_object_info unwanted;
    enum zb_code code = check_key(key, false, err);
    if (code)
        return code;
    return store->ops->peek ? store->ops->peek(store, key, info, err)
                            : store->ops->stat(store, key, info ? info : &unwanted, err);
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

enum zb_code zb_store_list(zb_store *store, const char *prefix, zb_list_fn fn, void *context,
                           zb_error *err) {
    enum zb_code code = check_key(prefix, true, err);
    return code ? code : store->ops->list(store, prefix, fn, context, err);
}

enum zb_code zb_store_list_holding(zb_store *store, const char *prefix, const char *const *objects,
                                   zb_list_fn fn, void *context, zb_error *err) {
    if (!store->ops->list_holding)
        return zb_store_list(store, prefix, fn, context, err);
    enum zb_code code = check_key(prefix, true, err);
    return code ? code : store->ops->list_holding(store, prefix, objects, fn, context, err);
}

enum zb_code zb_store_list_below(zb_store *store, const char *prefix, zb_list_fn fn, void *context,
                                 zb_error *err) {
    if (!store->ops->list_below)
        return zb_fail(err, ZB_EUNSUPPORTED, "%s: the store lists level by level", store->label);
    enum zb_code code = check_key(prefix, true, err);
    return code ? code : store->ops->list_below(store, prefix, fn, context, err);
}

uint64_t zb_store_identify(zb_store *store, const char *prefix) {
    bool can = store->ops->identify && check_key(prefix, true, NULL) == ZB_OK;
    return can ? store->ops->identify(store, prefix) : 0;
}

bool zb_store_lacks(zb_store *store, const char *prefix, uint64_t identity, const char *const *keys,
                    size_t count) {
    return !identity || !store->ops->lacks ||
           store->ops->lacks(store, prefix, identity, keys, count);
}

bool zb_store_is_link(zb_store *store, const char *prefix) {
    return store->ops->is_link && *prefix && check_key(prefix, true, NULL) == ZB_OK &&
           store->ops->is_link(store, prefix);
}

bool zb_store_is_absent(zb_store *store, const char *prefix) {
    return store->ops->is_absent && *prefix && check_key(prefix, true, NULL) == ZB_OK &&
           store->ops->is_absent(store, prefix);
}

/* ---- Writing ---- */

/* Counts a change, also one that failed: it may have been made all the same. */
static enum zb_code changed(zb_store *store, enum zb_code code) {
    __atomic_fetch_add(&store->changes, 1, __ATOMIC_SEQ_CST);
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
    if (!code)
        code = zb__stop_or_begin(err);
    if (code)
        return code;
    code = store->ops->put(store, put, err);
    const bool is_refused = code == ZB_ECONFLICT && put->is_first && store->hints.tells_first;
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
    enum zb_code code = check_key(erase->key, false, err);
    if (!code)
        code = zb__stop_or_begin(err);
    return code ? code : changed(store, store->ops->erase(store, erase, err));
}

enum zb_code zb_store_erase(zb_store *store, const char *key, zb_error *err) {
    return zb_store_erase_as(store, &(zb_erase){.key = key, .sync = ZB_SYNC_NONE}, err);
}

enum zb_code zb_store_erase_below(zb_store *store, const char *prefix, zb_error *err) {
    if (!store->ops->erase_below)
        return zb__store_fail_read_only(store, err);
    enum zb_code code = check_key(prefix, true, err);
    if (!code)
        code = zb__stop_or_begin(err);
    return code ? code : changed(store, store->ops->erase_below(store, prefix, err));
}

enum zb_code zb_store_erase_chosen(zb_store *store, const char *prefix, const char *document,
                                   zb_choose_fn choose, void *context, zb_error *err) {
    if (!store->ops->erase_chosen)
        return zb_fail(err, ZB_EUNSUPPORTED, "store %s (%s) erases no chosen objects", store->label,
                       store->ops->name);
    enum zb_code code = check_key(prefix, true, err);
    return code ? code
                : changed(store,
                          store->ops->erase_chosen(store, prefix, document, choose, context, err));
}

enum zb_code zb_store_stands(zb_store *store, const char *key, zb_error *err) {
    enum zb_code code = check_key(key, false, err);
    return code || !store->ops->stands ? code : store->ops->stands(store, key, err);
}

enum zb_code zb_store_flush_batch(zb_store *store, zb_batch *batch, zb_error *err) {
    zb__stop_no_more();
    return store->ops->flush ? changed(store, store->ops->flush(store, batch, err))
                             : zb__store_fail_read_only(store, err);
}

enum zb_code zb_store_settle(zb_store *store, zb_error *err) {
    zb_later *later = zb__store_later(store);
    if (!later)
        return ZB_OK;
    zb__stop_no_more();
    return later->run(store, err);
}

enum zb_code zb_store_seal(zb_store *store, zb_error *err) {
    enum zb_code code = zb_store_settle(store, err);
    if (code || !store->seal)
        return code;
    zb__stop_no_more();
    return store->seal->run(store, err);
}

/* Also when settling fails: the rest is to be durable. */
enum zb_code zb_store_flush(zb_store *store, zb_error *err) {
    zb_error other;
    enum zb_code settled = zb_store_settle(store, err);
    enum zb_code code = zb_store_flush_batch(store, NULL, settled ? &other : err);
    return settled ? settled : code;
}

void zb_store_set_sync(zb_store *store, enum zb_sync sync) {
    zb__store_raise_sync(store, sync);
}

void zb_store_trust_list(zb_store *store, bool trusts) {
    store->trusts_list = trusts && !store->hints.is_local;
}

void zb_store_set_kinds(zb_store *store, unsigned kinds) {
    store->kinds = kinds;
}

/* ---- Batches ---- */

void zb_batch_begin(zb_batch *batch, zb_store *store, zb_batch_check_fn check, void *context) {
    *batch = (zb_batch){.store = store, .check = check, .context = context};
}

void zb_batch_end(zb_batch *batch) {
    if (batch->store && batch->store->ops->forget)
        batch->store->ops->forget(batch->store, batch);
    batch->store = NULL;
}

static enum zb_code check(const zb_batch *batch, const char *key, zb_error *err) {
    return batch && batch->check ? batch->check(batch->context, key, err) : ZB_OK;
}

enum zb_code zb_put_check(const zb_put *put, zb_error *err) {
    return check(put->batch, put->key, err);
}

enum zb_code zb_erase_check(const zb_erase *erase, zb_error *err) {
    return check(erase->batch, erase->key, err);
}

/* ---- Locks ---- */

enum zb_code zb_store_lock(zb_store *store, const char *key, zb_lock **out, zb_error *err) {
    return zb_store_lock_in(store, key, &(zb_home){.identity = 0}, out, err);
}

enum zb_code zb_store_lock_in(zb_store *store, const char *key, const zb_home *home, zb_lock **out,
                              zb_error *err) {
    if (!store->ops->lock)
        return zb_fail(err, ZB_EUNSUPPORTED, "store %s (%s) has no locks", store->label,
                       store->ops->name);
    enum zb_code code = check_key(key, false, err);
    return code ? code : store->ops->lock(store, key, home, out, err);
}

void zb_store_unlock(zb_lock *lock) {
    if (lock)
        lock->store->ops->unlock(lock);
}

enum zb_code zb_store_await_locks(zb_store *store, const char *prefix, zb_error *err) {
    enum zb_code code = check_key(prefix, true, err);
    return code || !store->ops->await_locks ? code : store->ops->await_locks(store, prefix, err);
}

/* ---- Live objects ---- */

enum zb_code zb_object_open_live(zb_store *store, const char *key, const zb_home *home,
                                 zb_object **out, zb_object_info *info, zb_error *err) {
    if (!store->ops->open_live)
        return zb_fail(err, ZB_EUNSUPPORTED, "store %s (%s) cannot change objects in place",
                       store->label, store->ops->name);
    enum zb_code code = check_key(key, false, err);
    return code ? code : store->ops->open_live(store, key, home, out, info, err);
}

enum zb_code zb_object_write_at(zb_object *live, uint64_t offset, const zb_part *parts,
                                size_t count, enum zb_sync sync, zb_error *err) {
    enum zb_code code = zb__stop_or_begin(err);
    return code ? code
                : changed(live->store,
                          live->store->ops->write_at(live, offset, parts, count, sync, err));
}

enum zb_code zb_object_truncate(zb_object *live, uint64_t size, enum zb_sync sync, zb_error *err) {
    enum zb_code code = zb__stop_or_begin(err);
    return code ? code : changed(live->store, live->store->ops->truncate(live, size, sync, err));
}

/* ---- Housekeeping ---- */

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

enum zb_code zb_store_sweep(zb_store *store, const char *prefix, bool remove, zb_list_fn fn,
                            void *context, zb_error *err) {
    enum zb_code code = check_key(prefix, true, err);
    if (!code && remove)
        code = zb__stop_or_begin(err);
    return code || !store->ops->sweep ? code
                                      : store->ops->sweep(store, prefix, remove, fn, context, err);
}

enum zb_code zb_store_finish_erasing(zb_store *store, zb_error *err) {
    return store->ops->finish_erasing ? store->ops->finish_erasing(store, err) : ZB_OK;
}

/* ---- Whole objects ---- */

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
    enum zb_code code = zb_object_open_in(store, key, home, &object, &local, err);
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
