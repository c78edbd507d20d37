/* SPDX-License-Identifier: MIT */
/*
 * Waiting for the network, and for locks of others, as long as the thread may (zarrbridge/stop.h).
 * tests/core/test_waits.py checks that no source waits in another way unless it has a reason.
 */
#ifndef ZB_UTIL_WAIT_H
#define ZB_UTIL_WAIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "zarrbridge/stop.h"

/* What the waits of one thread ask. */
typedef struct zb__stopper {
    zb_stop ask;
    int64_t next; /* of the monotonic clock: when to ask again */
    bool is_stopped;
} zb__stopper;

/* That of the calling thread. A module with a copy of this source is handed this function. */
zb__stopper *zb__stopper_mine(void);

/* From now on the waits of the calling thread ask nothing: what waits in memory is stored. */
void zb__stop_no_more(void);

/* The same for a change, which is not begun where the thread was told to stop. */
enum zb_code zb__stop_or_begin(zb_error *err);

/* How often a waiting thread asks. Nanoseconds. */
#define ZB__ASK_NS 200000000

/* No end of a wait. */
#define ZB__FOR_EVER INT64_MAX

enum zb__waited {
    ZB__WOKEN,  /* or not: the caller looks */
    ZB__LATE,   /* the end has come */
    ZB__STOPPED /* the thread is not to wait any longer */
};

/* As pthread_cond_clockwait, until a moment of the monotonic clock. */
enum zb__waited zb__wait(zb__stopper *stopper, pthread_cond_t *cond, pthread_mutex_t *mutex,
                         int64_t end);

/* Sleeps for so many nanoseconds, less than 200 ms. False: the thread is not to wait. */
bool zb__pause(zb__stopper *stopper, int64_t nanoseconds);

/* True if the thread is not to wait. Asks when it is time. */
bool zb__is_stopped(zb__stopper *stopper);

/* The error of a wait that was ended so. */
enum zb_code zb__fail_stopped(zb_error *err);

/* True of an error of the call, which tells nothing of what it has asked for. */
static inline bool zb__is_of_call(enum zb_code code) {
    return code == ZB_ENOMEM || code == ZB_ECANCELLED;
}

#endif
