/* SPDX-License-Identifier: MIT */
/* Threads of the core's own, and numbers of any threads. */
#ifndef ZB_UTIL_THREAD_H
#define ZB_UTIL_THREAD_H

#include <pthread.h>
#include <stdint.h>

/* Starts a thread, which is detached where `out` is NULL. Returns 0, or errno. Signals are blocked
   in it: they are for the program's threads. */
int zb__thread_start(pthread_t *out, void *(*run)(void *), void *context);

/* A number of the calling thread, never 0, that no other thread of this process has or had, also
   before the process was forked: pthread_self() is given again when a thread is gone. The thread
   that forks keeps its own in the child. */
uint64_t zb__thread_id(void);

#endif
