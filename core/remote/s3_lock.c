/* SPDX-License-Identifier: MIT */
#include "s3_lock.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fork.h"
#include "fetch.h"
#include "remote.h"
#include "s3_write.h"
#include "zarrbridge/limits.h"

/* An object that was read or put under a lock. */
typedef struct sight {
    bool is_absent;
    zb__version version; /* unless absent */
    const char *key;     /* behind the struct; of one that is looked for, the asker's */
} sight;

typedef struct held {
    zb_lock base;
    struct held *next;
    void *sights;  /* a tree of tsearch */
    bool is_blind; /* memory was short: what was read under it is not known */
    char key[];
} held;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static held *locks; /* guarded by the mutex, with all that is in them */

/* ---- Locks ---- */

static void prepare(void) {
    static zb__fork_guard guard = {.lock = &mutex};
    zb__fork_guard_add(&guard);
}

static held *find(const zb_store *store, const char *key) {
    held *at = locks;
    while (at && (at->base.store != store || strcmp(at->key, key) != 0))
        at = at->next;
    return at;
}

/* The lock of the root's document is that of all documents. */
static held *holder_of(const zb_store *store, const char *key) {
    held *own = find(store, key);
    return own || !zb__key_is_document(key) ? own : find(store, "zarr.json");
}

static enum zb_code wait_and_enter(held *lock, zb_error *err) {
    struct timespec end;
    int waited = 0;
    clock_gettime(CLOCK_REALTIME, &end);
    const uint64_t seconds = zb_limits_get()->lock_seconds;
    end.tv_sec += (time_t)(seconds < INT32_MAX ? seconds : INT32_MAX);
    pthread_mutex_lock(&mutex);
    while (find(lock->base.store, lock->key) && waited == 0)
        waited = pthread_cond_timedwait(&released, &mutex, &end);
    const bool is_free = !find(lock->base.store, lock->key);
    if (is_free) {
        lock->next = locks;
        locks = lock;
    }
    pthread_mutex_unlock(&mutex);
    return is_free ? ZB_OK
                   : zb_fail(err, ZB_ECONFLICT, "%s/%s: another thread has locked it",
                             lock->base.store->label, lock->key);
}

enum zb_code zb__s3_lock(zb_store *store, const char *key, zb_lock **out, zb_error *err) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
    enum zb_code code = zb__s3_check_conditions((zb__remote *)store, err);
    if (code)
        return code;
    held *lock = calloc(1, sizeof *lock + strlen(key) + 1);
    if (!lock)
        return zb_fail(err, ZB_ENOMEM, "no memory for a lock");
    lock->base.store = store;
    memcpy(lock->key, key, strlen(key) + 1);
    code = wait_and_enter(lock, err);
    if (code)
        free(lock);
    else
        *out = &lock->base;
    return code;
}

void zb__s3_unlock(zb_lock *base) {
    held *lock = (held *)base, **at = &locks;
    pthread_mutex_lock(&mutex);
    while (*at != lock)
        at = &(*at)->next;
    *at = lock->next;
    pthread_cond_broadcast(&released);
    pthread_mutex_unlock(&mutex);
    tdestroy(lock->sights, free);
    free(lock);
}

bool zb__s3_is_locked(zb__remote *store, const char *key) {
    pthread_mutex_lock(&mutex);
    const bool is_locked = holder_of(&store->base, key) != NULL;
    pthread_mutex_unlock(&mutex);
    return is_locked;
}

/* ---- What is seen under them ---- */

static int by_key(const void *a, const void *b) {
    return strcmp(((const sight *)a)->key, ((const sight *)b)->key);
}

/* With the mutex. version NULL: absent. */
static void note(held *lock, const char *key, const zb__version *version, bool replaces) {
    sight *new = calloc(1, sizeof *new + strlen(key) + 1);
    if (!new) {
        lock->is_blind = true;
        return;
    }
    new->key = memcpy(new + 1, key, strlen(key) + 1);
    sight *const *found = tsearch(new, &lock->sights, by_key);
    sight *kept = found ? *found : NULL;
    if (!kept)
        lock->is_blind = true;
    else if (kept == new || replaces) {
        kept->is_absent = version == NULL;
        if (version)
            kept->version = *version;
    }
    if (kept != new)
        free(new);
}

void zb__s3_answered(zb__remote *store, const char *key, enum zb_code code,
                     const zb__version *version) {
    if (code && code != ZB_ENOTFOUND)
        return;
    pthread_mutex_lock(&mutex);
    held *lock = holder_of(&store->base, key);
    if (lock)
        note(lock, key, code ? NULL : version, false);
    pthread_mutex_unlock(&mutex);
}

void zb__s3_replaced(zb__remote *store, const char *key, const zb__version *version) {
    pthread_mutex_lock(&mutex);
    held *lock = holder_of(&store->base, key);
    if (lock)
        note(lock, key, version, true);
    pthread_mutex_unlock(&mutex);
}

/* A version that nobody knows is one that no object has: the put fails. */
enum zb__seen zb__s3_seen(zb__remote *store, const char *key, zb__version *version) {
    enum zb__seen seen = ZB__UNSEEN;
    const sight wanted = {.key = key};
    pthread_mutex_lock(&mutex);
    const held *lock = holder_of(&store->base, key);
    sight *const *found = lock ? tfind(&wanted, &lock->sights, by_key) : NULL;
    *version = (zb__version){.size = 0};
    if (found)
        *version = (*found)->version;
    if (found || (lock && lock->is_blind))
        seen = found && (*found)->is_absent ? ZB__ABSENT : ZB__PRESENT;
    pthread_mutex_unlock(&mutex);
    return seen;
}
