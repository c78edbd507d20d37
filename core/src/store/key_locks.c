/* SPDX-License-Identifier: MIT */
#include "store/key_locks.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/wait.h"
#include "zarrbridge/limits.h"

void zb__key_locks_init(zb__key_locks *locks, pthread_mutex_t *mutex) {
    *locks = (zb__key_locks){.mutex = mutex};
    pthread_cond_init(&locks->released, NULL);
}

void zb__key_locks_clear(zb__key_locks *locks) {
    pthread_cond_destroy(&locks->released);
}

void zb__key_locks_keep_own(zb__key_locks *locks) {
    zb__thread_locks_keep_own(&locks->held);
    pthread_cond_init(&locks->released, NULL);
}

/* Called with the mutex. */
static bool is_held(const zb__key_locks *locks, const char *key) {
    const zb__thread_lock *l = locks->held;
    while (l && strcmp(l->key, key) != 0)
        l = l->next;
    return l != NULL;
}

/* But the hierarchy's lock. */
static bool is_held_below(const zb__key_locks *locks, const char *prefix) {
    size_t length = strlen(prefix);
    const zb__thread_lock *l = locks->held;
    while (l && (strcmp(l->key, "zarr.json") == 0 || strncmp(l->key, prefix, length) != 0 ||
                 (length > 0 && l->key[length] != '\0' && l->key[length] != '/')))
        l = l->next;
    return l != NULL;
}

/* Waits while `held` is true of the key. Called with the mutex. */
static enum zb__waited wait_while(zb__key_locks *locks,
                                  bool (*held)(const zb__key_locks *, const char *),
                                  const char *key) {
    const int64_t end = zb__deadline(zb_limits_get()->lock_seconds);
    enum zb__waited waited = ZB__WOKEN;
    while (held(locks, key) && waited == ZB__WOKEN)
        waited = zb__wait(zb__stopper_mine(), &locks->released, locks->mutex, end);
    return waited;
}

static enum zb_code fail_locked(const char *key, enum zb__waited waited, zb_error *err) {
    if (waited == ZB__STOPPED)
        return zb__fail_stopped(err);
    return zb_fail(err, ZB_ECONFLICT, "'%s' is locked for longer than the limit lock_seconds", key);
}

enum zb_code zb__key_locks_take(zb__key_locks *locks, zb_store *store, const char *key,
                                zb_lock **out, zb_error *err) {
    zb__thread_lock *l = malloc(sizeof *l);
    char *copy = strdup(key);
    if (!l || !copy) {
        free(l);
        free(copy);
        return zb_fail(err, ZB_ENOMEM, "no memory for a lock of '%s'", key);
    }
    pthread_mutex_lock(locks->mutex);
    const enum zb__waited waited = wait_while(locks, is_held, key);
    if (waited != ZB__WOKEN) {
        pthread_mutex_unlock(locks->mutex);
        free(l);
        free(copy);
        return fail_locked(key, waited, err);
    }
    *l = (zb__thread_lock){.base.store = store, .key = copy};
    zb__thread_lock_enter(&locks->held, l);
    pthread_mutex_unlock(locks->mutex);
    *out = &l->base;
    return ZB_OK;
}

void zb__key_locks_release(zb__key_locks *locks, zb_lock *lock) {
    zb__thread_lock *l = (zb__thread_lock *)lock;
    pthread_mutex_lock(locks->mutex);
    zb__thread_lock_leave(&locks->held, l);
    pthread_cond_broadcast(&locks->released);
    pthread_mutex_unlock(locks->mutex);
    free(l->key);
    free(l);
}

enum zb_code zb__key_locks_await(zb__key_locks *locks, const char *prefix, zb_error *err) {
    pthread_mutex_lock(locks->mutex);
    const enum zb__waited waited = wait_while(locks, is_held_below, prefix);
    pthread_mutex_unlock(locks->mutex);
    return waited == ZB__WOKEN ? ZB_OK : fail_locked(prefix, waited, err);
}
