/* SPDX-License-Identifier: MIT */
/*
 * The line of a store: its requests that wait for a connection. All is guarded by the engine's
 * lock, which the callers hold.
 */
#ifndef ZB_NET_LINE_H
#define ZB_NET_LINE_H

#include "pace.h"
#include "request.h"

typedef struct zb__line {
    zb__request *first, *last; /* in the order of their submission, but tried ones first */
    unsigned running;          /* with a connection */
    unsigned width;            /* most of them: halved by a server that has too much to do */
    unsigned successes;        /* since the width was changed */
    int64_t halved;            /* when; monotonic nanoseconds */
    uint64_t typical;          /* size of objects that were asked for whole, lately */
    zb__pace pace;             /* of its link */
    uint64_t reach;            /* zb__pace_reach, for all threads: stored atomically */
    bool is_renewing;          /* a thread gets new credentials */
    zb__request *parked;       /* requests that wait for it */
    zb__remote *next;          /* in the engine's list of stores */
} zb__line;

/* An empty line. */
void zb__line_begin(zb__line *line, zb__remote *next);

void zb__line_append(zb__line *line, zb__request *request);
void zb__line_return(zb__line *line, zb__request *request); /* goes first */

/* The request whose turn it is; NULL: none, or the store has its share of connections. */
const zb__request *zb__line_first(const zb__line *line);
zb__request *zb__line_take(zb__line *line);

/* The request has left its connection, after its last try. */
void zb__line_left(zb__line *line, const zb__request *request);

/* A request that is held back leaves its connection's place to others, and takes it again: above
   the width, where they have filled it. */
void zb__line_step_aside(zb__line *line);
void zb__line_step_back(zb__line *line);

/* Lets a request wait for credentials, and all of them go on. */
void zb__line_park(zb__line *line, zb__request *request);
void zb__line_unpark(zb__line *line);

/* Moves the requests of the group (NULL: all) to the list `ended`. */
void zb__line_drop(zb__line *line, const void *const *group, zb__request **ended);

#endif
