/* SPDX-License-Identifier: MIT */
#include "document.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "fetch.h"
#include "object.h"
#include "remote.h"
#include "zarrbridge/limits.h"

/* A request that is under way, and its answer for those that wait. */
typedef struct flight {
    zb_store *store;
    char *key;
    uint64_t changes; /* of the store, when it began */
    size_t users;     /* that have not taken the answer yet, with the one that asks */
    bool is_over;
    enum zb_code code;
    zb_error error;
    zb__version version;
    char *bytes;
    size_t size;
    struct flight *next;
} flight;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t over = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static flight *flights; /* not over; guarded by the lock, with all that is in them but the answer */

/* The threads that asked are not in the child. */
static void forget(void *unused) {
    (void)unused;
    flights = NULL;
    pthread_cond_init(&over, NULL);
}

static void prepare(void) {
    static zb__fork_guard guard = {.lock = &lock, .in_child = forget};
    zb__fork_guard_add(&guard);
}

static void free_flight(flight *f) {
    free(f->key);
    free(f->bytes);
    free(f);
}

/* ---- Asking ---- */

static enum zb_code ask(zb_store *store, const char *key, zb__remote_object **out, zb_error *err) {
    zb_fetch fetch = {
        .key = key, .range = {.length = ZB_WHOLE}, .most = zb_limits_get()->consolidated_bytes};
    enum zb_code code = zb__fetch_one(store, &fetch, err);
    if (code) {
        free(fetch.range.buffer);
        return code;
    }
    *out = (zb__remote_object *)fetch.object;
    (*out)->head = fetch.range.buffer;
    (*out)->head_size = fetch.range.got;
    return ZB_OK;
}

/* ---- Sharing ---- */

static bool is_same(const zb__remote *a, const zb__remote *b) {
    return a == b || (a->protocol == b->protocol && a->protocol->is_same &&
                      a->missing_403 == b->missing_403 && a->protocol->is_same(a, b));
}

/* With the lock. */
static flight *find(const zb_store *store, const char *key, uint64_t changes) {
    flight *at = flights;
    while (at && (at->changes != changes || strcmp(at->key, key) != 0 ||
                  !is_same((const zb__remote *)at->store, (const zb__remote *)store)))
        at = at->next;
    return at;
}

/* With the lock. NULL: no memory. */
static flight *begin(zb_store *store, const char *key, uint64_t changes) {
    flight *f = calloc(1, sizeof *f);
    if (!f || !(f->key = strdup(key))) {
        free(f);
        return NULL;
    }
    f->store = store;
    f->changes = changes;
    f->users = 1;
    f->next = flights;
    flights = f;
    return f;
}

/* Leaves the answer to those that wait. */
static void end(flight *f, const zb__remote_object *object, enum zb_code code,
                const zb_error *error) {
    pthread_mutex_lock(&lock);
    flight **at = &flights;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    const bool is_shared = --f->users > 0;
    if (is_shared) {
        f->code = code;
        f->error = *error;
        if (!code && (f->bytes = malloc(object->head_size + 1)) != NULL) {
            memcpy(f->bytes, object->head, object->head_size);
            f->version = object->version;
            f->size = object->head_size;
        }
        f->is_over = true;
        pthread_cond_broadcast(&over);
    }
    pthread_mutex_unlock(&lock);
    if (!is_shared)
        free_flight(f);
}

/* A handle of the store with the answer of another's request. */
static enum zb_code take(const flight *f, zb_store *store, zb__remote_object **out, zb_error *err) {
    if (f->code && err)
        *err = f->error;
    if (f->code)
        return f->code;
    zb__remote_object *object = f->bytes ? zb__object_new(store, f->key) : NULL;
    char *bytes = object ? malloc(f->size + 1) : NULL;
    if (!bytes) {
        zb__object_free(object);
        return zb_fail(err, ZB_ENOMEM, "no memory for a document");
    }
    object->head = memcpy(bytes, f->bytes, f->size);
    bytes[f->size] = '\0';
    object->head_size = f->size;
    object->version = f->version;
    *out = object;
    return ZB_OK;
}

/* Called with the lock, which is let go. *again: the one that asked did not wait for the answer. */
static enum zb_code wait_for(flight *f, zb_store *store, zb__remote_object **out, bool *again,
                             zb_error *err) {
    zb__stopper *stopper = ((zb__remote *)store)->stopper();
    bool goes_on = true;
    f->users++;
    while (!f->is_over && goes_on)
        goes_on = zb__wait(stopper, &over, &lock, ZB__FOR_EVER) != ZB__STOPPED;
    pthread_mutex_unlock(&lock);
    enum zb_code code = goes_on ? take(f, store, out, err) : zb__fail_stopped(err);
    *again = goes_on && code == ZB_ECANCELLED;
    pthread_mutex_lock(&lock);
    const bool is_last = --f->users == 0;
    pthread_mutex_unlock(&lock);
    if (is_last)
        free_flight(f);
    return code;
}

static enum zb_code share_once(zb_store *store, const char *key, zb__remote_object **out,
                               bool *again, zb_error *err) {
    const uint64_t changes = zb_store_changes(store);
    pthread_once(&once, prepare);
    pthread_mutex_lock(&lock);
    flight *f = find(store, key, changes);
    if (f)
        return wait_for(f, store, out, again, err);
    f = begin(store, key, changes);
    pthread_mutex_unlock(&lock);
    zb_error error = {.code = ZB_OK};
    enum zb_code code = ask(store, key, out, &error);
    if (f)
        end(f, *out, code, &error);
    if (code && err)
        *err = error;
    return code;
}

static enum zb_code share(zb_store *store, const char *key, zb__remote_object **out,
                          zb_error *err) {
    enum zb_code code;
    bool again;
    do {
        again = false;
        code = share_once(store, key, out, &again, err);
    } while (again);
    return code;
}

enum zb_code zb__document_open(zb_store *store, const char *key, zb_object **out,
                               zb_object_info *info, zb_error *err) {
    zb__remote *remote = (zb__remote *)store;
    zb__remote_object *object = NULL;
    const bool is_locked = remote->protocol->is_locked && remote->protocol->is_locked(remote, key);
    enum zb_code code = is_locked ? ask(store, key, &object, err) : share(store, key, &object, err);
    if (code)
        return code;
    *out = &object->base;
    if (info)
        *info = zb__object_info(&object->version);
    return ZB_OK;
}
