/* SPDX-License-Identifier: MIT */
/* Threads of the core's own. Signals are blocked in them: they are for the program's threads. */
#ifndef ZB_BASE_THREAD_H
#define ZB_BASE_THREAD_H

#include <pthread.h>

/* Starts a thread, which is detached where `out` is NULL. Returns 0, or errno. */
int zb__thread_start(pthread_t *out, void *(*run)(void *), void *context);

#endif
