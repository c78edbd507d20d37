/* SPDX-License-Identifier: MIT */
#include "throughput.h"

#include "util/clock.h"

/* Fewer bytes tell nothing: they come with the first packets. More, in as many round trips, begin
   another sample, so that a long read follows its link: answers that share it end together, in
   bursts, of which each would seem to have come in no time. */
#define FEWEST ((uint64_t)1 << 20)
#define MOST ((uint64_t)16 << 20)
#define TRIPS 2
/* Of a link of which only the round trip is known: bytes in a second. */
#define USUAL_RATE ((uint64_t)10 * 1000 * 1000)
/* Bytes under way while the link is not known, or slow. */
#define LEAST_FLIGHT ((uint64_t)32 << 20)
/* Requests that go out together end together, and leave the link idle for a round trip: with G
   times its bytes under way it brings (G - 1) / G of its rate, from which the next G times are
   taken. */
#define GAIN 4

void zb__throughput_begin(zb__throughput *throughput, int64_t now) {
    throughput->begun = now;
    throughput->bytes = 0;
    throughput->from_rest = true;
}

/* A faster sample counts at once, a slower one for a quarter: it may be the reader that was
   slow. */
static void take_sample(zb__throughput *throughput, int64_t nanoseconds) {
    if (nanoseconds < 1)
        nanoseconds = 1;
    double rate = (double)throughput->bytes / (double)nanoseconds * ZB__SECOND;
    rate = rate < 1e15 ? rate : 1e15;
    uint64_t now = (uint64_t)rate;
    throughput->rate =
        now >= throughput->rate ? now : throughput->rate - (throughput->rate - now) / 4;
}

void zb__throughput_sample(zb__throughput *throughput, int64_t now, int64_t waited, uint64_t bytes,
                           bool is_last) {
    if (waited > 0 && (!throughput->trip || waited < throughput->trip))
        throughput->trip = waited;
    throughput->bytes += bytes;
    const int64_t since = now - throughput->begun;
    const bool is_whole = throughput->bytes >= MOST && since >= TRIPS * throughput->trip;
    if (!is_whole && !(is_last && throughput->bytes >= FEWEST))
        return;
    take_sample(throughput, since - (throughput->from_rest ? throughput->trip : 0));
    throughput->begun = now;
    throughput->bytes = 0;
    throughput->from_rest = false;
}

uint64_t zb__throughput_bandwidth_delay(const zb__throughput *throughput) {
    const uint64_t rate = throughput->rate ? throughput->rate : USUAL_RATE;
    return (uint64_t)((double)rate * ((double)throughput->trip / ZB__SECOND));
}

uint64_t zb__throughput_in_flight(const zb__throughput *throughput, uint64_t most) {
    const uint64_t wanted = GAIN * zb__throughput_bandwidth_delay(throughput),
                   flight = wanted < LEAST_FLIGHT ? LEAST_FLIGHT : wanted;
    return flight < most ? flight : most;
}
