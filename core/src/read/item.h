/* SPDX-License-Identifier: MIT */
/*
 * The course of one stored chunk through a flow (flow.h): which bytes of its object it asks for,
 * and what it does when they have come. No step waits, and none talks to the store.
 *
 * A stored chunk without anything known asks for the tail of its shard (index and inner chunks near
 * it), for all of a small shard of which much is wanted, or for all of a chunk that is no shard.
 * Where the version of the object and its index are in the caches, it asks for the data at once and
 * expects that version: an answer from another one sends the stored chunk back to its start.
 *
 * What is known of the object's version is the item's state:
 *
 *                  +-- in no cache ----> UNKNOWN --- answer: no object -----> ABSENT
 *                  |                        '------- answer ----------------> ANSWERED
 *     begin -------+
 *                  |                        .------- answer: this version --> CONFIRMED
 *                  +-- in the cache ---> EXPECTED -- answer: another -------> OUTDATED
 *                  '-- and fresh ------> CONFIRMED - answer: another -------> OUTDATED
 *
 * Any later answer from another version leads to OUTDATED, too: then no more steps are taken, and
 * the item begins anew when its requests have ended.
 */
#ifndef ZB_READ_ITEM_H
#define ZB_READ_ITEM_H

#include <pthread.h>

#include "base/in_flight.h"
#include "read/task.h"

typedef struct zb__item zb__item;

typedef enum zb__version_state {
    ZB__VERSION_UNKNOWN,
    ZB__VERSION_EXPECTED,  /* chunk->info is that of a former answer; each one has to agree */
    ZB__VERSION_CONFIRMED, /* likewise, and one has agreed, or the former one is fresh */
    ZB__VERSION_ANSWERED,  /* chunk->info is that of the answer which opened the object */
    ZB__VERSION_ABSENT,    /* there is no object */
    ZB__VERSION_OUTDATED
} zb__version_state;

typedef enum zb__ask_kind {
    ZB__ASK_START,  /* nothing is asked yet */
    ZB__ASK_OBJECT, /* all of the object */
    ZB__ASK_INDEX,  /* the index of a shard, with bytes beside it */
    ZB__ASK_DATA    /* the leaves of a task */
} zb__ask_kind;

/* Bytes that an item asks for, and the step that follows when they have come. */
typedef struct zb__ask {
    zb__in_flight flight;    /* first; the flow's: of the first index of its stored chunk */
    struct zb__ask *next;    /* in a list of asks to be served */
    struct zb__ask *sibling; /* of the same item */
    zb__item *item;
    zb__ask_kind kind;
    zb__version_state version; /* of the item, when the step began */
    uint64_t offset;           /* in the object; ZB_FROM_END for its last bytes */
    uint64_t size;             /* ZB_WHOLE: all of the object; 0: nothing is asked for */
    uint64_t most;             /* with ZB_WHOLE: bytes of a sane object */
    zb__task task;             /* of ZB__ASK_DATA */
    zb__leaf *shard;           /* of ZB__ASK_INDEX: an inner shard; NULL: the object itself */
    /* The flow's: */
    uint8_t *data;
    uint64_t got;     /* bytes that came */
    uint64_t asked;   /* bytes for which requests were made */
    size_t requests;  /* under way */
    uint64_t charged; /* bytes of the window */
} zb__ask;

typedef struct zb__ask_list {
    zb__ask *first, *last;
    size_t count;
} zb__ask_list;

/* Bytes of the object that stay until the item ends. */
typedef struct zb__held {
    struct zb__held *next;
    uint8_t *data;
    uint64_t offset, size;
} zb__held;

struct zb__item {
    zb__stored_chunk *chunk;
    char *name;     /* of the object */
    zb__held *held; /* under `turn`, as the stored chunk's leaves are while indexes come */
    pthread_mutex_t turn;
    size_t indexes;            /* asked for and not expanded; under `turn` */
    zb__ask_list later;        /* for when the object has been opened; used by one step alone */
    bool never_whole;          /* the object is too large to be read whole */
    bool has_waited;           /* for another read, which has got the index */
    zb__version_state version; /* the flow's, under its lock, but in the step ZB__ASK_START */
    /* The flow's, under its lock: */
    void *flow;                /* that it is in */
    zb__item *next, *previous; /* of the items that are open */
    zb__ask *all;              /* its asks */
    size_t asks;               /* not ended */
    unsigned tries;            /* times that it was begun anew */
    uint64_t changes;          /* of the store, when it was begun */
    uint64_t charged;          /* bytes of the window that it holds */
};

/* True where chunk->info is known before the store has opened the object. */
static inline bool zb__item_expects(const zb__item *item) {
    return item->version == ZB__VERSION_EXPECTED || item->version == ZB__VERSION_CONFIRMED;
}

/* A new item with a start among *more. NULL when memory runs out. */
zb__item *zb__item_new(zb__stored_chunk *chunk, zb__ask_list *more);

/* Takes the step of an ask whose bytes have come. Adds what the item asks for next to *more: asks
   of size 0 have their step taken without further ado. Different asks of one item may run at
   once. */
enum zb_code zb__item_step(zb__ask *ask, zb__ask_list *more, zb__scratch *scratch, zb_error *err);

/* Makes the ask for the first index of a stored chunk a start again: another read has asked for
   it. */
void zb__ask_again(zb__ask *ask);

/* Lets go of all that belongs to the stored chunk's present course; none of its asks is open. Its
   asks are freed, and with `anew` there is a start among *more. ZB_ENOMEM. */
enum zb_code zb__item_reset(zb__item *item, bool anew, zb__ask_list *more, zb_error *err);

/* After zb__item_reset. */
void zb__item_free(zb__item *item);

/* Adds an ask at the end of a list. */
void zb__ask_append(zb__ask_list *list, zb__ask *ask);

#endif
