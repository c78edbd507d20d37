/* SPDX-License-Identifier: MIT */
/*
 * Mutexes held over a fork. A child has only the thread that forked: a mutex that another thread
 * held at that moment would stay locked there for ever, and the data that it guards could be half
 * changed.
 *
 * The mutexes are taken one after the other before the fork. So no thread may wait for one of them
 * while it holds another.
 */
#ifndef ZB_UTIL_FORK_H
#define ZB_UTIL_FORK_H

#include <pthread.h>

typedef struct zb__fork_guard {
    pthread_mutex_t *lock;
    void (*in_child)(void *context); /* called with the mutex held; may be NULL */
    void *context;
    struct zb__fork_guard *next, *previous;
} zb__fork_guard;

/* The guard belongs to the caller, which takes it out before the mutex goes. Any thread. */
void zb__fork_guard_add(zb__fork_guard *guard);
void zb__fork_guard_remove(zb__fork_guard *guard);

#endif
