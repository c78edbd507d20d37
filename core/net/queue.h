/* SPDX-License-Identifier: MIT */
/*
 * The queue of a store: its requests that wait for a connection. All is guarded by the engine's
 * lock, which the callers hold.
 */
#ifndef ZB_NET_QUEUE_H
#define ZB_NET_QUEUE_H

#include "request.h"
#include "throughput.h"

typedef struct zb__queue {
    zb__request *first, *last; /* in the order of their submission, but tried ones first */
    unsigned running;          /* with a connection */
    unsigned width;            /* most of them: halved by a server that has too much to do */
    unsigned successes;        /* since the width was changed */
    int64_t halved;            /* when; monotonic nanoseconds */
    uint64_t typical;          /* size of objects that were asked for whole, lately */
    zb__throughput throughput; /* of its link */
    uint64_t reach;            /* zb__throughput_bandwidth_delay, for all threads: stored atomically
                                  */
    bool is_renewing;          /* a thread gets new credentials */
    zb__request *waiting;      /* requests that wait for it */
    zb__remote *next;          /* in the engine's list of stores */
} zb__queue;

/* An empty queue. */
void zb__queue_begin(zb__queue *queue, zb__remote *next);

void zb__queue_append(zb__queue *queue, zb__request *request);
void zb__queue_return(zb__queue *queue, zb__request *request); /* goes first */

/* The request whose turn it is; NULL: none, or the store has its share of connections. */
const zb__request *zb__queue_first(const zb__queue *queue);
zb__request *zb__queue_take(zb__queue *queue);

/* The request has left its connection, after its last try. */
void zb__queue_left(zb__queue *queue, const zb__request *request);

/* A request that is held back leaves its connection's place to others, and takes it again: above
   the width, where they have filled it. */
void zb__queue_step_aside(zb__queue *queue);
void zb__queue_step_back(zb__queue *queue);

/* Lets a request wait for credentials, and all of them go on. */
void zb__queue_wait(zb__queue *queue, zb__request *request);
void zb__queue_wake(zb__queue *queue);

/* Moves the requests of the group (NULL: all) to the list `ended`. */
void zb__queue_drop(zb__queue *queue, const void *const *group, zb__request **ended);

#endif
