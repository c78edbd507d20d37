/* SPDX-License-Identifier: MIT */
#include "util/back_off.h"

#include <time.h>

#include "util/clock.h"
#include "util/hash.h"
#include "util/thread.h"

int64_t zb__jitter(int64_t pause) {
    const uint64_t chance = zb__hash_add((uint64_t)zb__now(), zb__thread_id());
    return pause / 2 + (int64_t)(chance % (uint64_t)(pause / 2 + 1));
}

void zb__back_off(int64_t pause) {
    const int64_t length = zb__jitter(pause);
    const struct timespec time = {.tv_sec = length / ZB__SECOND, .tv_nsec = length % ZB__SECOND};
    nanosleep(&time, NULL);
}
