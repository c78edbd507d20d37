/* SPDX-License-Identifier: MIT */
/*
 * Work that waits: puts and requests over a network, credentials. Its threads sleep for most of
 * their time, so they are none of the pool's (pool.h), which compute and are as many as processors.
 *
 * A call gets a thread at once, a free one or a new one: it never waits behind other calls. So work
 * of one lane may wait for work of another. How much goes on at once is for each lane to say.
 */
#ifndef ZB_UTIL_LANE_H
#define ZB_UTIL_LANE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/pool.h"
#include "util/wait.h"

/* Calls fn(context) in another thread. False when none can be had: fn is not called then. Not to be
   called with a mutex that has a fork guard. */
bool zb__blocking_call(void (*fn)(void *context), void *context);

/* A row of items, of which at most `width` are under way at once. An item is a number, or a key. */

#define ZB__LANE_WIDTH_MOST 32

typedef enum zb_code (*zb__lane_key_fn)(void *context, const char *key, zb_error *err);

typedef struct zb__lane_item {
    size_t number;
    char *key; /* the lane's; NULL for numbers */
} zb__lane_item;

/* The caller's, from zb__lane_begin to zb__lane_end; all of it is the lane's. */
typedef struct zb__lane {
    zb__task_fn fn;
    zb__lane_key_fn key_fn;
    void *context;
    size_t width;
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t changed;
    zb__lane_item item[ZB__LANE_WIDTH_MOST]; /* a ring of those that no thread has taken */
    size_t first, waiting;
    size_t busy,
        threads;         /* items being worked on, and threads of which each has one or is coming */
    zb_error error;      /* the first; its code is ZB_OK until then */
    zb__stopper stopper; /* what waits of the work ask, and whether one was ended */
} zb__lane;

/* fn is called once for each number, or key, that is given. With width 0 the caller does the work
   itself. Lanes change stores: from now on no wait of the caller is ended (zb_thread_may_stop), and
   where one was, nothing is begun, and each give fails. */
void zb__lane_begin(zb__lane *lane, zb__task_fn fn, void *context, size_t width);
void zb__lane_begin_keys(zb__lane *lane, zb__lane_key_fn fn, void *context, size_t width);

/* The same for work that changes nothing: its waits in all threads ask what those of the caller do,
   and where one is ended, all are, and the caller's after zb__lane_end. */
void zb__lane_begin_reading(zb__lane *lane, zb__task_fn fn, void *context, size_t width);

/* Waits while `width` items are under way. After a failure it returns that; then fn is not called
   for this item any more. Any thread. */
enum zb_code zb__lane_give(zb__lane *lane, size_t number, zb_error *err);
enum zb_code zb__lane_give_key(zb__lane *lane, const char *key, zb_error *err);

/* Waits for all items. Returns `code` if it is an error already, else the first failure. */
enum zb_code zb__lane_end(zb__lane *lane, enum zb_code code, zb_error *err);

#endif
