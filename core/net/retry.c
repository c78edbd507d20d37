/* SPDX-License-Identifier: MIT */
#include "retry.h"

#include <stdlib.h>
#include <sys/random.h>

#include "util/clock.h"
#include "zarrbridge/limits.h"

#define FIRST_PAUSE (ZB__SECOND / 10)
#define LONGEST_PAUSE (8 * ZB__SECOND)
#define LONGEST_ASKED 30

bool zb__retry_status(int status) {
    const bool final = status == 501 || status == 505;
    return status == 408 || status == 429 || (status >= 500 && status <= 599 && !final);
}

static uint64_t random_number(void) {
    uint64_t number;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != (ssize_t)sizeof number)
        number = (uint64_t)zb__now() * 0x9e3779b97f4a7c15u >> 11;
    return number;
}

int64_t zb__retry_pause(unsigned tries, int64_t retry_after) {
    int64_t bound = FIRST_PAUSE << (tries < 10 ? tries : 10);
    if (bound > LONGEST_PAUSE)
        bound = LONGEST_PAUSE;
    const int64_t pause = (int64_t)(random_number() % (uint64_t)bound);
    if (retry_after < 0)
        return pause;
    return (retry_after < LONGEST_ASKED ? retry_after : LONGEST_ASKED) * ZB__SECOND +
           pause % FIRST_PAUSE;
}

bool zb__retry_may(unsigned tries, int64_t begun, int64_t due) {
    const zb_limits *limits = zb_limits_get();
    if (tries >= limits->remote_tries)
        return false;
    return (uint64_t)((due - begun) / ZB__SECOND) < limits->remote_seconds;
}
