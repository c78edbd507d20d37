/* SPDX-License-Identifier: MIT */
/* What the answers of a store tell of its link: the time of a round trip, and the bytes that come
   in it. All is guarded by the engine's lock, which the callers hold. */
#ifndef ZB_NET_THROUGHPUT_H
#define ZB_NET_THROUGHPUT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct zb__throughput {
    int64_t trip;  /* the shortest wait for the first byte of an answer; nanoseconds, 0: none yet */
    uint64_t rate; /* bytes in a second, of all requests together; 0: not known */
    /* The sample: */
    int64_t begun;  /* monotonic nanoseconds */
    uint64_t bytes; /* that have come in it */
    bool from_rest; /* nothing could come in its first round trip */
} zb__throughput;

/* A request goes out where none was under way: a sample begins. */
void zb__throughput_begin(zb__throughput *throughput, int64_t now);

/* An answer of `bytes` has come to its end, the first of them after `waited` nanoseconds;
   `is_last`: no other request is under way. */
void zb__throughput_sample(zb__throughput *throughput, int64_t now, int64_t waited, uint64_t bytes,
                           bool is_last);

/* The bytes that come in the time of a round trip, at 10 MB/s where only that time is known; 0: not
   known yet. */
uint64_t zb__throughput_bandwidth_delay(const zb__throughput *throughput);

/* The bytes to have under way, so that the link is seldom idle: four times those that come in the
   time of a round trip, at least 32 MiB, but never more than `most`. */
uint64_t zb__throughput_in_flight(const zb__throughput *throughput, uint64_t most);

#endif
