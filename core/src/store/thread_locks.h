/* SPDX-License-Identifier: MIT */
/*
 * A list of the locks that threads of this process hold in a store without lock files (memory, S3).
 * The owner of the list has a mutex for it. The mutex is held in each call here, and across a fork.
 */
#ifndef ZB_STORE_THREAD_LOCKS_H
#define ZB_STORE_THREAD_LOCKS_H

#include <pthread.h>

#include "zarrbridge/sys/store.h"

/* The first part of such a lock. */
typedef struct zb__thread_lock {
    zb_lock base;
    struct zb__thread_lock *next;
    pthread_t owner;
    char *key; /* owned by the owner of the list */
} zb__thread_lock;

/* From now on the calling thread holds the lock. */
void zb__thread_lock_enter(zb__thread_lock **list, zb__thread_lock *lock);

/* Takes the lock out of the list, unless zb__thread_locks_keep_own has. */
void zb__thread_lock_leave(zb__thread_lock **list, const zb__thread_lock *lock);

/* In a child of fork(), which has only the thread that forked: takes the locks of all other threads
   out of the list. The locks themselves are left as they are, since the child may still have to
   release one. */
void zb__thread_locks_keep_own(zb__thread_lock **list);

#endif
