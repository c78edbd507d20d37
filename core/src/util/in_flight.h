/* SPDX-License-Identifier: MIT */
/*
 * Requests in flight: what several want at the same time is asked for once (single-flight). The
 * first one leads, and asks; the others wait, asleep or to be called, and share what has come.
 * Where the leader leaves without that, the next one leads.
 */
#ifndef ZB_UTIL_IN_FLIGHT_H
#define ZB_UTIL_IN_FLIGHT_H

#include <stdatomic.h>

#include "util/wait.h"

/* What has come, at the head of a struct or within it; it is not changed any more. */
typedef struct zb__answer {
    void (*free)(struct zb__answer *answer);
    atomic_size_t others; /* who have it, too */
} zb__answer;

void zb__answer_drop(zb__answer *answer); /* NULL is allowed */

/* One who wants something, at the head of a struct that tells what. The caller's. */
typedef struct zb__in_flight zb__in_flight;
struct zb__in_flight {
    /* Whether two want the same; a function for each kind. NULL: has not joined, or has left. */
    bool (*is_same)(const zb__in_flight *one, const zb__in_flight *other);
    void (*wake)(zb__in_flight *own); /* in another thread, and must not wait; NULL: it sleeps */
    enum { ZB__WAITS, ZB__LEADS, ZB__SHARES } state;
    enum zb_code code; /* with ZB__SHARES, as the next ones */
    zb_error *err;     /* the caller's, or NULL */
    zb__answer *answer;
    zb__in_flight *next;
};

/* True: it leads. Else `wake` is called once, when it leads or shares, unless it leaves before. */
bool zb__in_flight_join(zb__in_flight *own);

/* The leader leaves, and tells what has come: an answer or NULL, or an error. One of its own call
   (zb__is_of_call) it does not tell. Nothing where it has not joined. */
void zb__in_flight_share(zb__in_flight *own, zb__answer *answer, enum zb_code code,
                         const zb_error *error);

/* `wake` is not running any more. Nothing where it has not joined. */
void zb__in_flight_leave(zb__in_flight *own);

/* All of that for a thread, which calls `ask` where it leads. ZB_ECANCELLED: the thread is not to
   wait. The caller drops *out. */
typedef enum zb_code (*zb__ask_fn)(zb__in_flight *own, zb__answer **out, zb_error *err);
enum zb_code zb__in_flight_ask(zb__in_flight *own, zb__stopper *stopper, zb__ask_fn ask,
                               zb__answer **out, zb_error *err);

#endif
