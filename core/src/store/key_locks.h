/* SPDX-License-Identifier: MIT */
/* Locks of keys for which the threads of one process wait: of a store in memory. */
#ifndef ZB_STORE_KEY_LOCKS_H
#define ZB_STORE_KEY_LOCKS_H

#include "store/thread_locks.h"

typedef struct zb__key_locks {
    pthread_mutex_t *mutex; /* the store's, which guards the list; no caller holds it */
    zb__thread_lock *held;
    pthread_cond_t released; /* a held lock has gone */
} zb__key_locks;

void zb__key_locks_init(zb__key_locks *locks, pthread_mutex_t *mutex);
void zb__key_locks_clear(zb__key_locks *locks);

/* ZB_ECONFLICT when the lock is not free within the limit lock_seconds. */
enum zb_code zb__key_locks_take(zb__key_locks *locks, zb_store *store, const char *key,
                                zb_lock **out, zb_error *err);
void zb__key_locks_release(zb__key_locks *locks, zb_lock *lock);

/* Waits until no lock below the prefix is held, but that of the hierarchy. */
enum zb_code zb__key_locks_await(zb__key_locks *locks, const char *prefix, zb_error *err);

/* In a child the threads that wait for locks, or hold them, are the parent's. Called with the
   mutex. */
void zb__key_locks_keep_own(zb__key_locks *locks);

#endif
