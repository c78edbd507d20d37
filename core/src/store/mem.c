/* SPDX-License-Identifier: MIT */
/*
 * A store in memory: a sorted table of keys. Objects are immutable and reference-counted, so that
 * an open handle keeps its version when the key is set again.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/list.h"
#include "store/key_locks.h"

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
    pthread_mutex_t lock;
    entry *entries; /* sorted by key */
    size_t count, capacity;
    uint64_t versions;
    zb__key_locks locks;  /* guarded by lock, too */
    zb__fork_guard guard; /* of lock */
} mem_store;

typedef struct mem_object {
    zb_object base;
    blob *blob;
    char *key;    /* of a live one, else NULL */
    zb_home home; /* of a live one */
} mem_object;

static void blob_release(blob *b) {
    if (atomic_fetch_sub(&b->refs, 1) == 1)
        free(b);
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

/* The blob of a key with a reference for the caller, or NULL. */
static blob *find(mem_store *mem, const char *key) {
    pthread_mutex_lock(&mem->lock);
    size_t i = lower_bound(mem, key);
    blob *found = NULL;
    if (i < mem->count && strcmp(mem->entries[i].key, key) == 0) {
        found = mem->entries[i].blob;
        atomic_fetch_add(&found->refs, 1);
    }
    pthread_mutex_unlock(&mem->lock);
    return found;
}

static zb_object_info info_of(const blob *b) {
    return (zb_object_info){.size = b->size,
                            .validator = {.word = {b->version, b->size}, .valid = true}};
}

/* Each change of a live one is a put in the same home. */
static enum zb_code mem_open(zb_store *store, const zb_open *open, zb_object **out,
                             zb_object_info *info, zb_error *err) {
    blob *b = find((mem_store *)store, open->key);
    if (!b)
        return zb_fail(err, ZB_ENOTFOUND, "no object '%s'", open->key);
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

/* Names below the prefix come one after the other in the sorted table. The callback must not put
   or erase keys of this store. */
static enum zb_code mem_list(zb_store *store, const zb_list *list, zb_list_fn fn, void *context,
                             zb_error *err) {
    mem_store *mem = (mem_store *)store;
    const char *prefix = list->prefix;
    if (list->is_recursive)
        return ZB_EUNSUPPORTED;
    size_t skip = *prefix ? strlen(prefix) + 1 : 0;
    char *last = NULL;
    enum zb_code code = ZB_OK;
    pthread_mutex_lock(&mem->lock);
    for (size_t i = lower_bound(mem, prefix); i < mem->count; i++) {
        const char *key = mem->entries[i].key;
        if (strncmp(key, prefix, skip ? skip - 1 : 0) != 0)
            break;
        if (skip && key[skip - 1] != '/')
            continue; /* "ab" and "a.b" sort among the keys below "a" */
        size_t length = strcspn(key + skip, "/");
        bool is_prefix = key[skip + length] == '/';
        if (last && is_prefix && strlen(last) == length && strncmp(last, key + skip, length) == 0)
            continue; /* only a prefix comes again */
        free(last);
        last = strndup(key + skip, length);
        if (!last) {
            code = zb_fail(err, ZB_ENOMEM, "no memory for a listing");
            break;
        }
        zb_list_entry listed = {.name = last, .is_prefix = is_prefix};
        if (fn(context, &listed) != 0)
            break;
    }
    pthread_mutex_unlock(&mem->lock);
    free(last);
    return code;
}

/* The holder of a node's objects comes and goes with its document. Called with the lock. */
static uint64_t identity_of(const mem_store *mem, const char *prefix, size_t length) {
    char *key = NULL;
    if (asprintf(&key, "%.*s%szarr.json", (int)length, prefix, length ? "/" : "") < 0)
        return 0;
    size_t i = lower_bound(mem, key);
    bool found = i < mem->count && strcmp(mem->entries[i].key, key) == 0;
    free(key);
    return found ? mem->entries[i].birth : 0;
}

static enum zb_code probe_object(mem_store *mem, zb_probe *probe, zb_error *err) {
    blob *b = find(mem, probe->name);
    if (!b)
        return zb_fail(err, ZB_ENOTFOUND, "no object '%s'", probe->name);
    probe->info = info_of(b);
    blob_release(b);
    return ZB_OK;
}

/* Called with the lock. */
static bool has(const mem_store *mem, const char *key) {
    const size_t i = lower_bound(mem, key);
    return i < mem->count && strcmp(mem->entries[i].key, key) == 0;
}

static enum zb_code mem_probe(zb_store *store, zb_probe *probe, zb_error *err) {
    mem_store *mem = (mem_store *)store;
    if (probe->asks < ZB_ASK_HOLDER)
        return probe_object(mem, probe, err);
    if (probe->asks != ZB_ASK_HOLDER)
        return ZB_EUNSUPPORTED;
    pthread_mutex_lock(&mem->lock);
    probe->identity = identity_of(mem, probe->name, strlen(probe->name));
    probe->lacks_all = true;
    for (size_t i = 0; i < probe->count; i++)
        probe->lacks_all &= !has(mem, probe->keys[i]);
    pthread_mutex_unlock(&mem->lock);
    return ZB_OK;
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

/* ---- Writing ---- */

static const zb_home any_home;

/* Makes room for one more entry at place i. Called with the lock. */
static bool insert_place(mem_store *mem, size_t i) {
    if (!zb__list_grow(&mem->entries, mem->count, &mem->capacity, sizeof *mem->entries))
        return false;
    memmove(&mem->entries[i + 1], &mem->entries[i], (mem->count - i) * sizeof(entry));
    mem->count++;
    return true;
}

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
    b->version = ++mem->versions;
    size_t i = lower_bound(mem, key);
    if (i < mem->count && strcmp(mem->entries[i].key, key) == 0) {
        blob_release(mem->entries[i].blob);
        mem->entries[i].blob = b;
        free(key);
        return true;
    }
    if (!insert_place(mem, i))
        return false;
    mem->entries[i] = (entry){.key = key, .blob = b, .birth = b->version};
    return true;
}

static enum zb_code put_now(zb_store *store, const char *key, const zb_home *home,
                            const zb_part *parts, size_t count, zb_error *err) {
    mem_store *mem = (mem_store *)store;
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

/* Called with the lock. */
static void free_entry(entry *e) {
    free(e->key);
    blob_release(e->blob);
}

static enum zb_code mem_copy(zb_store *store, const char *key, zb_store *from, const char *from_key,
                             zb_error *err) {
    if (from->ops->copy != mem_copy)
        return zb_fail(err, ZB_EUNSUPPORTED, "'%s' is in a store of another kind", from_key);
    blob *b = find((mem_store *)from, from_key);
    if (!b)
        return zb_fail(err, ZB_ENOTFOUND, "no object '%s'", from_key);
    const zb_part part = {.data = b->data, .size = b->size};
    enum zb_code code = put_now(store, key, &any_home, &part, 1, err);
    blob_release(b);
    return code;
}

static bool is_erased(const zb_erase *erase, const char *key) {
    const size_t length = strlen(erase->key);
    if (!erase->is_recursive)
        return strcmp(key, erase->key) == 0;
    return length == 0 || (strncmp(key, erase->key, length) == 0 && key[length] == '/');
}

static enum zb_code mem_erase(zb_store *store, const zb_erase *erase, zb_error *err) {
    mem_store *mem = (mem_store *)store;
    enum zb_code code = zb_erase_check(erase, err);
    if (code)
        return code;
    size_t kept = 0;
    pthread_mutex_lock(&mem->lock);
    code = check_home(mem, erase->key, &erase->home, err);
    for (size_t i = 0; i < mem->count && !code; i++) {
        if (is_erased(erase, mem->entries[i].key))
            free_entry(&mem->entries[i]);
        else
            mem->entries[kept++] = mem->entries[i];
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

/* ---- Live objects: blobs stay immutable, so a change makes a new one ---- */

/* Puts what is left of the old blob, zeros, and the parts in its place. */
static enum zb_code mem_change(zb_object *live, const zb_change *change, zb_error *err) {
    mem_object *object = (mem_object *)live;
    const blob *old = object->blob;
    const size_t kept = change->offset < old->size ? (size_t)change->offset : old->size;
    size_t end = (size_t)change->offset;
    for (size_t i = 0; i < change->count; i++)
        end += change->parts[i].size;
    if (change->offset > old->size && !change->is_end)
        return zb_fail(err, ZB_EINVAL, "writing at %llu of %zu bytes",
                       (unsigned long long)change->offset, old->size);
    const size_t behind = change->is_end || end >= old->size ? 0 : old->size - end;
    zb_part *parts = malloc((change->count + 3) * sizeof *parts);
    char *zeros = calloc(1, (size_t)change->offset - kept + 1);
    enum zb_code code = parts && zeros
                            ? ZB_OK
                            : zb_fail(err, ZB_ENOMEM, "no memory for changing '%s'", object->key);
    if (!code) {
        parts[0] = (zb_part){old->data, kept};
        parts[1] = (zb_part){zeros, (size_t)change->offset - kept};
        if (change->count)
            memcpy(parts + 2, change->parts, change->count * sizeof *parts);
        parts[change->count + 2] = (zb_part){old->data + old->size - behind, behind};
        code = put_now(live->store, object->key, &object->home, parts, change->count + 3, err);
    }
    if (!code) {
        blob_release(object->blob);
        object->blob = find((mem_store *)live->store, object->key); /* its lock is held */
    }
    free(parts);
    free(zeros);
    return code;
}

/* ---- Locks ---- */

/* Locks are of keys, whatever node has them. */
static enum zb_code mem_lock(zb_store *store, const zb_locking *locking, zb_lock **out,
                             zb_error *err) {
    zb__key_locks *locks = &((mem_store *)store)->locks;
    return locking->only_waits ? zb__key_locks_await(locks, locking->key, err)
                               : zb__key_locks_take(locks, store, locking->key, out, err);
}

static void mem_unlock(zb_lock *lock) {
    zb__key_locks_release(&((mem_store *)lock->store)->locks, lock);
}

/* In memory all objects are equally safe; but one that may wait takes the lock when it becomes
   visible. */
static enum zb_code mem_put(zb_store *store, const zb_put *put, zb_error *err) {
    zb_lock *lock = NULL;
    if (put->expected == ZB_EXPECT_NOTHING)
        return ZB_EUNSUPPORTED;
    enum zb_code code = zb_put_waits(put) ? zb_store_lock(store, put->key, &lock, err) : ZB_OK;
    if (code == ZB_OK)
        code = zb_put_check(put, err);
    if (code == ZB_OK)
        code = put_now(store, put->key, &put->home, put->parts, put->count, err);
    zb_store_unlock(lock);
    return code;
}

/* ---- The store ---- */

static void mem_destroy(zb_store *store) {
    mem_store *mem = (mem_store *)store;
    zb__fork_guard_remove(&mem->guard);
    for (size_t i = 0; i < mem->count; i++)
        free_entry(&mem->entries[i]);
    free(mem->entries);
    zb__key_locks_clear(&mem->locks);
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
    .flush = mem_flush,
    .lock = mem_lock,
    .unlock = mem_unlock,
    .change = mem_change,
    .copy = mem_copy,
};

static void forget_others(void *context) {
    zb__key_locks_keep_own(&((mem_store *)context)->locks);
}

enum zb_code zb_store_new_mem(const char *label, zb_store **out, zb_error *err) {
    static const zb_store_hints hints = {
        .max_request = 1 << 20, .is_local = true, .can_list = true, .is_watched = true};
    mem_store *mem = calloc(1, sizeof *mem);
    if (!mem)
        return zb_fail(err, ZB_ENOMEM, "no memory for a store");
    enum zb_code code = zb_store_init(&mem->base, &mem_ops, hints, label, err);
    if (code != ZB_OK) {
        free(mem);
        return code;
    }
    pthread_mutex_init(&mem->lock, NULL);
    zb__key_locks_init(&mem->locks, &mem->lock);
    mem->guard = (zb__fork_guard){.lock = &mem->lock, .in_child = forget_others, .context = mem};
    zb__fork_guard_add(&mem->guard);
    *out = &mem->base;
    return ZB_OK;
}

enum zb_code zb_store_mem_set(zb_store *store, const char *key, const void *data, size_t size,
                              zb_error *err) {
    if (store->ops != &mem_ops)
        return zb_fail(err, ZB_EINVAL, "zb_store_mem_set on a store of kind %s", store->ops->name);
    zb_part part = {.data = data, .size = size};
    return zb_store_put(store, key, &part, 1, ZB_SYNC_NONE, err);
}
