/* SPDX-License-Identifier: MIT */
#include "util/wait.h"

#include <time.h>

#include "util/clock.h"

/* glibc has it from 2.30 on. What is built for older ones, the Python wheel, has it where it runs
   with a newer one. */
#pragma weak pthread_cond_clockwait

/* How long a wait by the time of day may be, which somebody may set meanwhile. Nanoseconds. */
#define SLICE 100000000

static _Thread_local zb__stopper mine;

zb__stopper *zb__stopper_mine(void) {
    return &mine;
}

zb_stop zb_thread_may_stop(zb_stop stop) {
    const zb_stop before = mine.ask;
    mine = (zb__stopper){.ask = stop};
    return before;
}

void zb__stop_no_more(void) {
    mine = (zb__stopper){.is_stopped = false};
}

/* What a wait was to tell, and has not, may have been taken for something else on the way here. */
enum zb_code zb__stop_or_begin(zb_error *err) {
    if (mine.is_stopped)
        return zb__fail_stopped(err);
    zb__stop_no_more();
    return ZB_OK;
}

bool zb__is_stopped(zb__stopper *stopper) {
    if (stopper->is_stopped || !stopper->ask.fn || zb__now() < stopper->next)
        return stopper->is_stopped;
    stopper->is_stopped = stopper->ask.fn(stopper->ask.context) != 0;
    stopper->next = zb__now() + ZB__ASK_NS;
    return stopper->is_stopped;
}

/* The caller looks again after the function was asked: without the mutex a wake-up may have been
   missed. */
static enum zb__waited ask(zb__stopper *stopper, pthread_mutex_t *mutex) {
    pthread_mutex_unlock(mutex);
    const bool is_stopped = zb__is_stopped(stopper);
    pthread_mutex_lock(mutex);
    return is_stopped ? ZB__STOPPED : ZB__WOKEN;
}

static struct timespec timespec_of(int64_t nanoseconds) {
    return (struct timespec){.tv_sec = nanoseconds / ZB__SECOND,
                             .tv_nsec = nanoseconds % ZB__SECOND};
}

/* True when that moment has come before the condition. Both may be false: the caller looks. */
static bool wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t latest) {
    const struct timespec until = timespec_of(latest);
    if (pthread_cond_clockwait)
        return pthread_cond_clockwait(cond, mutex, CLOCK_MONOTONIC, &until) != 0;
    const int64_t left = latest - zb__now();
    struct timespec day;
    clock_gettime(CLOCK_REALTIME, &day);
    day = timespec_of(day.tv_sec * ZB__SECOND + day.tv_nsec + (left < SLICE ? left : SLICE));
    return left <= 0 || (pthread_cond_timedwait(cond, mutex, &day) != 0 && zb__now() >= latest);
}

enum zb__waited zb__wait(zb__stopper *stopper, pthread_cond_t *cond, pthread_mutex_t *mutex,
                         int64_t end) {
    const bool asks = stopper->ask.fn != NULL;
    if (stopper->is_stopped)
        return ZB__STOPPED;
    if (asks && zb__now() >= stopper->next)
        return ask(stopper, mutex);
    const int64_t latest = asks && stopper->next < end ? stopper->next : end;
    if (latest == ZB__FOR_EVER) {
        pthread_cond_wait(cond, mutex);
        return ZB__WOKEN;
    }
    return wait_until(cond, mutex, latest) && latest == end ? ZB__LATE : ZB__WOKEN;
}

bool zb__pause(zb__stopper *stopper, int64_t nanoseconds) {
    const struct timespec pause = {.tv_nsec = (long)nanoseconds};
    if (zb__is_stopped(stopper))
        return false;
    nanosleep(&pause, NULL);
    return true;
}

enum zb_code zb__fail_stopped(zb_error *err) {
    return zb_fail(err, ZB_ECANCELLED, "the call was interrupted while it waited");
}
