/* SPDX-License-Identifier: MIT */
/* Waiting until a number of things have happened, in whatever threads. */
#ifndef ZB_UTIL_LATCH_H
#define ZB_UTIL_LATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/wait.h"

typedef struct zb__latch {
    pthread_mutex_t lock;
    pthread_cond_t all_done;
    size_t left;
} zb__latch;

void zb__latch_begin(zb__latch *latch, size_t count);
void zb__latch_count_down(zb__latch *latch); /* any thread */
/* False: the thread is not to wait for the rest. */
bool zb__latch_wait(zb__latch *latch, zb__stopper *stopper);
void zb__latch_end(zb__latch *latch);

#endif
