/* SPDX-License-Identifier: MIT */
#include "pace.h"

#include "base/clock.h"

/* Fewer bytes tell nothing: they come with the first packets. More begin another sample, so that a
   long read follows its link. */
#define FEWEST ((uint64_t)1 << 20)
#define MOST ((uint64_t)16 << 20)

void zb__pace_begin(zb__pace *pace, int64_t now) {
    pace->begun = now;
    pace->bytes = 0;
    pace->from_rest = true;
}

/* A faster sample counts at once, a slower one for a quarter: it may be the reader that was slow. */
static void take_sample(zb__pace *pace, int64_t nanoseconds) {
    if (nanoseconds < 1)
        nanoseconds = 1;
    double rate = (double)pace->bytes / (double)nanoseconds * ZB__SECOND;
    rate = rate < 1e15 ? rate : 1e15;
    uint64_t now = (uint64_t)rate;
    pace->rate = now >= pace->rate ? now : pace->rate - (pace->rate - now) / 4;
}

void zb__pace_note(zb__pace *pace, int64_t now, int64_t waited, uint64_t bytes, bool is_last) {
    if (waited > 0 && (!pace->trip || waited < pace->trip))
        pace->trip = waited;
    pace->bytes += bytes;
    if (pace->bytes < MOST && !(is_last && pace->bytes >= FEWEST))
        return;
    take_sample(pace, now - pace->begun - (pace->from_rest ? pace->trip : 0));
    pace->begun = now;
    pace->bytes = 0;
    pace->from_rest = false;
}

uint64_t zb__pace_reach(const zb__pace *pace) {
    return (uint64_t)((double)pace->rate * ((double)pace->trip / ZB__SECOND));
}
