/* SPDX-License-Identifier: MIT */
/*
 * The locks that threads of this process hold, of a store whose locks are no file's. The owner of a
 * list guards it with a mutex, which is held in all calls, and in a child that has been forked.
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
    char *key; /* whose memory is the business of the list's owner */
} zb__thread_lock;

/* From now on the calling thread holds the lock. */
void zb__thread_lock_enter(zb__thread_lock **list, zb__thread_lock *lock);

/* Takes the lock out of the list, unless zb__thread_locks_keep_own has. */
void zb__thread_lock_leave(zb__thread_lock **list, const zb__thread_lock *lock);

/* In a child: it has only the thread that forked. The others, which hold locks, are the parent's.
   Their locks stay whole, for whoever lets them go. */
void zb__thread_locks_keep_own(zb__thread_lock **list);

#endif
