/* SPDX-License-Identifier: MIT */
/* What the parts of a flow share: its state, its items (flow_items.c), its requests
   (flow_requests.c), and its steps (flow.c). All is called with the lock of the flow unless it says
   otherwise. */
#ifndef ZB_READ_FLOW_STATE_H
#define ZB_READ_FLOW_STATE_H

#include <pthread.h>

#include "base/pool.h"
#include "read/item.h"
#include "read/progress.h"
#include "zarrbridge/sys/store.h"

/* The window of a link that is not known, or slow. Bytes. */
#define ZB__LEAST_WINDOW ((uint64_t)64 << 20)

/* A request of an ask for all or a part of its bytes. */
typedef struct zb__request {
    zb_fetch fetch; /* first: an answer is known by it */
    zb__ask *ask;
    bool opens;                          /* the store opens the object for it */
    struct zb__request *answered;        /* the next in the list of answers */
    struct zb__request *next, *previous; /* under way */
} zb__request;

typedef struct zb__flow {
    zb_store *store;
    uint64_t part, window;
    size_t most;            /* requests under way */
    zb__progress *progress; /* the caller's alone; or NULL */

    pthread_mutex_t lock; /* guards all from here; held while requests are submitted */
    zb__stored_chunk *chunks;
    size_t count, admitted;
    zb__item *items; /* open */
    size_t open;
    uint64_t done;               /* elements of the stored chunks whose item has ended */
    zb__ask_list wanting, ready; /* bytes; a thread to take their step */
    zb__request *requests;       /* under way */
    size_t under_way;
    size_t stepping; /* threads that take a step */
    size_t called;   /* workers that were called and have not left */
    enum zb_code code;
    zb_error error;
    zb__pool_job *job;

    pthread_mutex_t answer_lock; /* guards the rest; no other lock is taken under it */
    pthread_cond_t answer_came;
    zb__request *answers; /* the last first */
    zb__ask *woken;       /* asks for an index that another read had asked for; by `next` */
    bool is_nudged;       /* the caller is to look around though no answer came */
} zb__flow;

/* ---- The window: bytes that are under way or wait for their step ---- */

/* The account is an ask's or an item's. */
void zb__flow_charge(uint64_t *account, uint64_t bytes);
void zb__flow_discharge(uint64_t *account);
bool zb__flow_has_room(const zb__flow *f, uint64_t bytes);

/* ---- Items ---- */

/* Keeps the first error; the flow comes to its end. */
void zb__flow_fail(zb__flow *f, enum zb_code code, const zb_error *error);

/* Opens the item of the next stored chunk. */
void zb__flow_admit(zb__flow *f);

/* Elements that have come, of stored chunks whose bytes come bit by bit about as many. */
double zb__flow_done(const zb__flow *f);

/* Puts the asks of a list, which is empty then, where they belong: bytes are wanted, or they are
   ready. */
void zb__flow_add(zb__flow *f, zb__ask_list *more);

/* The first ask of a list, taken out; or NULL. */
zb__ask *zb__flow_take(zb__ask_list *list);

/* Ends an ask whose step was taken, or is not taken any more; with the last one its item, which is
   begun anew when it is outdated. */
void zb__flow_end_ask(zb__flow *f, zb__ask *ask);
void zb__flow_end_item(zb__flow *f, zb__item *item);

/* ---- Requests ---- */

/* Sends requests as long as there is room. */
void zb__flow_send(zb__flow *f);

/* Takes what the store's threads, and other flows, have put on lists. */
void zb__flow_take_answers(zb__flow *f);

/* After an error: when it returns, nothing is under way. Without the lock: no worker is in the
   flow. */
void zb__flow_cancel(zb__flow *f);

#endif
