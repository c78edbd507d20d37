/* SPDX-License-Identifier: MIT */
/* Pauses between tries, of random length: of those who try at the same time, one is first. */
#ifndef ZB_UTIL_BACK_OFF_H
#define ZB_UTIL_BACK_OFF_H

#include <stdint.h>

/* A random time between half of a pause and all of it. */
int64_t zb__jitter(int64_t pause);

/* Sleeps for such a part, nanoseconds, in what was begun and is made to its end: nobody is asked
   whether the thread is to wait (wait.h). */
void zb__back_off(int64_t pause);

#endif
