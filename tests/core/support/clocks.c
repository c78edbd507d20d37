/* SPDX-License-Identifier: MIT */
#include "support/clocks.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#define SECOND 1000000000

static atomic_int_fast64_t passed; /* nanoseconds */
static bool is_stopped;
static struct timespec stopped_at;

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now) {
    if (clock == CLOCK_REALTIME_COARSE && is_stopped) {
        *now = stopped_at;
        return 0;
    }
    if (__real_clock_gettime(clock, now) != 0)
        return -1;
    if (clock == CLOCK_REALTIME_COARSE || clock == CLOCK_MONOTONIC) {
        const int64_t later = now->tv_nsec + atomic_load(&passed);
        now->tv_sec += later / SECOND;
        now->tv_nsec = later % SECOND;
    }
    return 0;
}

void clocks_pass(int64_t nanoseconds) {
    atomic_fetch_add(&passed, nanoseconds);
}

void clocks_let_files_age(void) {
    struct timespec begin, now;
    __real_clock_gettime(CLOCK_REALTIME_COARSE, &begin);
    do {
        sched_yield();
        __real_clock_gettime(CLOCK_REALTIME_COARSE, &now);
    } while (now.tv_sec == begin.tv_sec && now.tv_nsec == begin.tv_nsec);
    clocks_pass((int64_t)2 * SECOND);
}

void clocks_stop(struct timespec moment) {
    is_stopped = true;
    stopped_at = moment;
}

void clocks_reset(void) {
    is_stopped = false;
    atomic_store(&passed, 0);
}
