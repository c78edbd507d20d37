/* SPDX-License-Identifier: MIT */
/*
 * A store in memory: a sorted table of keys. It is the smallest backend with all that a writer
 * wants, and docs/adding-a-store.md goes through it.
 *
 * Objects are immutable and counted by their users, so that an open handle keeps its version when
 * the key is put again; nothing in memory is safer than anything else, so that nothing has to wait
 * for a flush. Locks keep out the threads of this process.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/wait.h"
#include "util/fork.h"
#include "util/list.h"
#include "store/thread_locks.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/store.h"

typedef struct blob {
    atomic_int refs;
    uint64_t version; /* counts all puts of the store */
    size_t size;
    unsigned char data[];
} blob;

typedef struct entry {
    char *key;
    blob *blob;
    uint64_t birth; /* the version at which the key came into being */
} entry;

typedef struct mem_store {
    zb_store base;
    zb__fork_guard guard; /* of lock */
    pthread_mutex_t lock; /* guards all below */
    entry *entries;       /* sorted by key */
    size_t count, capacity;
    uint64_t versions;
    zb__thread_lock *held;
    pthread_cond_t released; /* a held lock has gone */
} mem_store;

typedef struct mem_object {
    zb_object base;
    blob *blob;
    char *key;    /* of a live one, else NULL */
    zb_home home; /* of a live one */
} mem_object;

typedef struct mem_lock {
    zb__thread_lock base;
    char key[];
} mem_lock;

/* ---- The table ---- */

static void blob_release(blob *b) {
    if (atomic_fetch_sub(&b->refs, 1) == 1)
        free(b);
}

static void free_entry(entry *e) {
    free(e->key);
    blob_release(e->blob);
}

static bool is_below(const char *key, const char *prefix) {
    const size_t length = strlen(prefix);
    return length == 0 || (strncmp(key, prefix, length) == 0 && key[length] == '/');
}

/* First entry whose key is not less than key. Called with the lock. */
static size_t lower_bound(const mem_store *mem, const char *key) {
    size_t low = 0, high = mem->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(mem->entries[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* NULL: there is none. Called with the lock. */
static entry *entry_of(const mem_store *mem, const char *key) {
    const size_t i = lower_bound(mem, key);
    return i < mem->count && strcmp(mem->entries[i].key, key) == 0 ? &mem->entries[i] : NULL;
}

/* The blob of a key with a reference for the caller; or ZB_ENOTFOUND. */
static enum zb_code find(mem_store *mem, const char *key, blob **out, zb_error *err) {
    pthread_mutex_lock(&mem->lock);
    const entry *found = entry_of(mem, key);
    *out = found ? found->blob : NULL;
    if (found)
        atomic_fetch_add(&found->blob->refs, 1);
    pthread_mutex_unlock(&mem->lock);
    return *out ? ZB_OK : zb_fail(err, ZB_ENOTFOUND, "no object '%s'", key);
}

/* The holder of a node's objects comes and goes with its document. 0: there is none. Called with
   the lock. */
static uint64_t identity_of(const mem_store *mem, const char *prefix, size_t length) {
    char *key = NULL;
    if (asprintf(&key, "%.*s%szarr.json", (int)length, prefix, length ? "/" : "") < 0)
        return 0;
    const entry *document = entry_of(mem, key);
    free(key);
    return document ? document->birth : 0;
}

/* Called with the lock. */
static enum zb_code check_home(const mem_store *mem, const char *key, const zb_home *home,
                               zb_error *err) {
    if (!home->identity || identity_of(mem, key, home->length) == home->identity)
        return ZB_OK;
    zb_fail(err, ZB_ECONFLICT, "'%s' is in another node by now", key);
    if (err)
        err->sys_errno = ESTALE;
    return ZB_ECONFLICT;
}

/* ---- Reading ---- */

static zb_object_info info_of(const blob *b) {
    return (zb_object_info){.size = b->size,
                            .validator = {.word = {b->version, b->size}, .valid = true}};
}

static enum zb_code mem_open(zb_store *store, const zb_open *open, zb_object **out,
                             zb_object_info *info, zb_error *err) {
    blob *b;
    enum zb_code code = find((mem_store *)store, open->key, &b, err);
    if (code)
        return code;
    mem_object *object = malloc(sizeof *object);
    char *key = open->is_live ? strdup(open->key) : NULL;
    if (!object || (open->is_live && !key)) {
        free(object);
        blob_release(b);
        return zb_fail(err, ZB_ENOMEM, "no memory for an object handle");
    }
    *object = (mem_object){.base.store = store, .blob = b, .key = key, .home = open->home};
    *info = info_of(b);
    *out = &object->base;
    return ZB_OK;
}

static enum zb_code mem_read(zb_object *object, zb_range *ranges, size_t count, zb_error *err) {
    (void)err;
    const blob *b = ((const mem_object *)object)->blob;
    for (size_t i = 0; i < count; i++) {
        zb_range *r = &ranges[i];
        uint64_t offset = r->offset;
        if (offset == ZB_FROM_END)
            offset = r->length > b->size ? 0 : b->size - r->length;
        if (offset > b->size)
            offset = b->size;
        r->got = r->length < b->size - offset ? r->length : b->size - (size_t)offset;
        if (r->got > 0) /* a buffer of no bytes may be NULL */
            memcpy(r->buffer, b->data + offset, r->got);
    }
    return ZB_OK;
}

static void mem_close(zb_object *object) {
    blob_release(((mem_object *)object)->blob);
    free(((mem_object *)object)->key);
    free(object);
}

static enum zb_code mem_probe(zb_store *store, zb_probe *probe, zb_error *err) {
    mem_store *mem = (mem_store *)store;
    if (probe->asks > ZB_ASK_HOLDER)
        return ZB_EUNSUPPORTED;
    pthread_mutex_lock(&mem->lock);
    const entry *found = probe->asks < ZB_ASK_HOLDER ? entry_of(mem, probe->name) : NULL;
    if (found)
        probe->info = info_of(found->blob);
    if (probe->asks == ZB_ASK_HOLDER)
        probe->identity = identity_of(mem, probe->name, strlen(probe->name));
    probe->all_absent = true;
    for (size_t i = 0; i < probe->count; i++)
        probe->all_absent &= !entry_of(mem, probe->keys[i]);
    pthread_mutex_unlock(&mem->lock);
    return found || probe->asks == ZB_ASK_HOLDER
               ? ZB_OK
               : zb_fail(err, ZB_ENOTFOUND, "no object '%s'", probe->name);
}

/* Names below the prefix come one after the other in the table. The callback must not put or erase
   keys of this store. */
static enum zb_code mem_list(zb_store *store, const zb_list *list, zb_list_fn fn, void *context,
                             zb_error *err) {
    mem_store *mem = (mem_store *)store;
    const size_t skip = *list->prefix ? strlen(list->prefix) + 1 : 0;
    char *last = NULL;
    enum zb_code code = ZB_OK;
    if (list->is_recursive)
        return ZB_EUNSUPPORTED;
    pthread_mutex_lock(&mem->lock);
    for (size_t i = lower_bound(mem, list->prefix); i < mem->count; i++) {
        const char *key = mem->entries[i].key;
        if (skip && strncmp(key, list->prefix, skip - 1) != 0)
            break;
        if (!is_below(key, list->prefix))
            continue; /* "ab" and "a.b" sort among the keys below "a" */
        const size_t length = strcspn(key + skip, "/");
        const bool is_prefix = key[skip + length] == '/';
        if (last && is_prefix && strlen(last) == length && strncmp(last, key + skip, length) == 0)
            continue; /* only a prefix comes again */
        free(last);
        last = strndup(key + skip, length);
        if (!last) {
            code = zb_fail(err, ZB_ENOMEM, "no memory for a listing");
            break;
        }
        if (fn(context, &(zb_list_entry){.name = last, .is_prefix = is_prefix}) != 0)
            break;
    }
    pthread_mutex_unlock(&mem->lock);
    free(last);
    return code;
}

/* ---- Writing ---- */

/* A blob of the parts with one reference; NULL when memory runs out. */
static blob *blob_of(const zb_part *parts, size_t count) {
    size_t size = sizeof(blob);
    for (size_t i = 0; i < count; i++) {
        if (__builtin_add_overflow(size, parts[i].size, &size))
            return NULL;
    }
    blob *b = malloc(size);
    if (!b)
        return NULL;
    atomic_init(&b->refs, 1);
    b->size = 0;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].size)
            memcpy(b->data + b->size, parts[i].data, parts[i].size);
        b->size += parts[i].size;
    }
    return b;
}

/* Takes over both; false where memory runs out. Called with the lock. */
static bool set_entry(mem_store *mem, char *key, blob *b) {
    const size_t i = lower_bound(mem, key);
    entry *old = entry_of(mem, key);
    b->version = ++mem->versions;
    if (old) {
        blob_release(old->blob);
        old->blob = b;
        free(key);
        return true;
    }
    if (!zb__list_grow(&mem->entries, mem->count, &mem->capacity, sizeof *mem->entries))
        return false;
    memmove(&mem->entries[i + 1], &mem->entries[i], (mem->count - i) * sizeof(entry));
    mem->entries[i] = (entry){.key = key, .blob = b, .birth = b->version};
    mem->count++;
    return true;
}

static enum zb_code put_parts(mem_store *mem, const char *key, const zb_home *home,
                              const zb_part *parts, size_t count, zb_error *err) {
    blob *b = blob_of(parts, count);
    char *copy = strdup(key);
    enum zb_code code = b && copy ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for '%s'", key);
    if (!code) {
        pthread_mutex_lock(&mem->lock);
        code = check_home(mem, key, home, err);
        if (!code && !set_entry(mem, copy, b))
            code = zb_fail(err, ZB_ENOMEM, "no memory for '%s'", key);
        pthread_mutex_unlock(&mem->lock);
    }
    if (code) {
        free(b);
        free(copy);
    }
    return code;
}

/* One that may wait takes the key's lock when it becomes visible. */
static enum zb_code mem_put(zb_store *store, const zb_put *put, zb_error *err) {
    zb_lock *lock = NULL;
    if (put->expected == ZB_EXPECT_NOTHING || put->expected == ZB_EXPECT_FREE)
        return ZB_EUNSUPPORTED;
    enum zb_code code = zb_put_waits(put) ? zb_store_lock(store, put->key, &lock, err) : ZB_OK;
    if (!code)
        code = zb_batch_check(put->batch, put->key, err);
    if (!code)
        code = put_parts((mem_store *)store, put->key, &put->home, put->parts, put->count, err);
    zb_store_unlock(lock);
    return code;
}

static enum zb_code mem_copy(zb_store *store, const char *key, zb_store *from, const char *from_key,
                             zb_error *err) {
    static const zb_home any_home;
    blob *b;
    if (from->ops->copy != mem_copy)
        return zb_fail(err, ZB_EUNSUPPORTED, "'%s' is in a store of another kind", from_key);
    enum zb_code code = find((mem_store *)from, from_key, &b, err);
    if (code)
        return code;
    const zb_part part = {.data = b->data, .size = b->size};
    code = put_parts((mem_store *)store, key, &any_home, &part, 1, err);
    blob_release(b);
    return code;
}

static enum zb_code mem_erase(zb_store *store, const zb_erase *erase, zb_error *err) {
    mem_store *mem = (mem_store *)store;
    size_t kept = 0;
    enum zb_code code = zb_batch_check(erase->batch, erase->key, err);
    if (code)
        return code;
    pthread_mutex_lock(&mem->lock);
    code = check_home(mem, erase->key, &erase->home, err);
    for (size_t i = 0; i < mem->count && !code; i++) {
        entry *e = &mem->entries[i];
        if (erase->is_recursive ? is_below(e->key, erase->key) : strcmp(e->key, erase->key) == 0)
            free_entry(e);
        else
            mem->entries[kept++] = *e;
    }
    mem->count = code ? mem->count : kept;
    pthread_mutex_unlock(&mem->lock);
    return code;
}

static enum zb_code mem_flush(zb_store *store, zb_batch *batch, bool discards, zb_error *err) {
    (void)store;
    (void)batch;
    (void)discards;
    (void)err;
    return ZB_OK;
}

/* Blobs stay as they are: what is left of the old one, zeros, and the parts make a new one, which
   is put in the same home. The key's lock is held. */
static enum zb_code mem_change(zb_object *live, const zb_change *change, zb_error *err) {
    mem_object *object = (mem_object *)live;
    mem_store *mem = (mem_store *)live->store;
    blob *old = object->blob;
    const size_t offset = (size_t)change->offset, kept = offset < old->size ? offset : old->size;
    size_t end = offset;
    for (size_t i = 0; i < change->count; i++)
        end += change->parts[i].size;
    if (offset > old->size && !change->is_end)
        return zb_fail(err, ZB_EINVAL, "writing at %zu of %zu bytes", offset, old->size);
    const size_t behind = change->is_end || end >= old->size ? 0 : old->size - end;
    zb_part *parts = malloc((change->count + 3) * sizeof *parts);
    char *zeros = calloc(1, offset - kept + 1);
    enum zb_code code =
        parts && zeros ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for '%s'", object->key);
    if (!code) {
        parts[0] = (zb_part){old->data, kept};
        parts[1] = (zb_part){zeros, offset - kept};
        if (change->count)
            memcpy(parts + 2, change->parts, change->count * sizeof *parts);
        parts[change->count + 2] = (zb_part){old->data + old->size - behind, behind};
        code = put_parts(mem, object->key, &object->home, parts, change->count + 3, err);
    }
    if (!code)
        code = find(mem, object->key, &object->blob, err);
    if (!code)
        blob_release(old);
    free(parts);
    free(zeros);
    return code;
}

/* ---- Locks ---- */

/* Of the key, or with only_waits of it and all below it, but the hierarchy's. Called with the
   mutex. */
static bool is_held(const mem_store *mem, const zb_locking *locking) {
    for (const zb__thread_lock *l = mem->held; l; l = l->next) {
        const bool is_it = strcmp(l->key, locking->key) == 0;
        if (locking->only_waits
                ? (is_it || is_below(l->key, locking->key)) && strcmp(l->key, "zarr.json") != 0
                : is_it)
            return true;
    }
    return false;
}

/* Locks are of keys, whatever node has them. */
static enum zb_code mem_lock_key(zb_store *store, const zb_locking *locking, zb_lock **out,
                                 zb_error *err) {
    mem_store *mem = (mem_store *)store;
    const int64_t end = zb__deadline(zb_limits_get()->lock_seconds);
    mem_lock *l = calloc(1, sizeof *l + strlen(locking->key) + 1);
    enum zb__waited waited = ZB__WOKEN;
    if (!l)
        return zb_fail(err, ZB_ENOMEM, "no memory for a lock of '%s'", locking->key);
    l->base.base.store = store;
    l->base.key = strcpy(l->key, locking->key);
    pthread_mutex_lock(&mem->lock);
    while (is_held(mem, locking) && waited == ZB__WOKEN)
        waited = zb__wait(zb__stopper_mine(), &mem->released, &mem->lock, end);
    const bool takes = waited == ZB__WOKEN && !locking->only_waits;
    if (takes)
        zb__thread_lock_enter(&mem->held, &l->base);
    pthread_mutex_unlock(&mem->lock);
    if (takes)
        *out = &l->base.base;
    else
        free(l);
    if (waited == ZB__STOPPED)
        return zb__fail_stopped(err);
    return waited == ZB__WOKEN
               ? ZB_OK
               : zb_fail(err, ZB_ECONFLICT, "'%s' is locked for longer than the limit lock_seconds",
                         locking->key);
}

static void mem_unlock(zb_lock *lock) {
    mem_store *mem = (mem_store *)lock->store;
    pthread_mutex_lock(&mem->lock);
    zb__thread_lock_leave(&mem->held, (zb__thread_lock *)lock);
    pthread_cond_broadcast(&mem->released);
    pthread_mutex_unlock(&mem->lock);
    free(lock);
}

/* In a child the threads that wait for locks, or hold them, are the parent's. */
static void forget_others(void *context) {
    mem_store *mem = context;
    zb__thread_locks_keep_own(&mem->held);
    pthread_cond_init(&mem->released, NULL);
}

/* ---- The store ---- */

static void mem_destroy(zb_store *store) {
    mem_store *mem = (mem_store *)store;
    zb__fork_guard_remove(&mem->guard);
    for (size_t i = 0; i < mem->count; i++)
        free_entry(&mem->entries[i]);
    free(mem->entries);
    pthread_cond_destroy(&mem->released);
    pthread_mutex_destroy(&mem->lock);
    free(mem);
}

static const zb_store_ops mem_ops = {
    .version = ZB_STORE_OPS_VERSION,
    .name = "mem",
    .open = mem_open,
    .read = mem_read,
    .close = mem_close,
    .probe = mem_probe,
    .list = mem_list,
    .destroy = mem_destroy,
    .put = mem_put,
    .erase = mem_erase,
    .copy = mem_copy,
    .flush = mem_flush,
    .lock = mem_lock_key,
    .unlock = mem_unlock,
    .change = mem_change,
};

enum zb_code zb_store_new_mem(const char *label, zb_store **out, zb_error *err) {
    static const zb_store_hints hints = {
        .is_local = true, .is_watched = true, .can_list = true, .max_request = 1 << 20};
    mem_store *mem = calloc(1, sizeof *mem);
    if (!mem)
        return zb_fail(err, ZB_ENOMEM, "no memory for a store");
    enum zb_code code = zb_store_init(&mem->base, &mem_ops, hints, label, err);
    if (code != ZB_OK) {
        free(mem);
        return code;
    }
    pthread_mutex_init(&mem->lock, NULL);
    pthread_cond_init(&mem->released, NULL);
    mem->guard = (zb__fork_guard){.lock = &mem->lock, .in_child = forget_others, .context = mem};
    zb__fork_guard_add(&mem->guard);
    *out = &mem->base;
    return ZB_OK;
}

enum zb_code zb_store_mem_set(zb_store *store, const char *key, const void *data, size_t size,
                              zb_error *err) {
    if (store->ops != &mem_ops)
        return zb_fail(err, ZB_EINVAL, "zb_store_mem_set on a store of kind %s", store->ops->name);
    const zb_part part = {.data = data, .size = size};
    return zb_store_put(store, key, &part, 1, ZB_SYNC_NONE, err);
}
