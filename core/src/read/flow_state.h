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
 * What is known of the object's version is the chunk read's state:
 *
 *                  +-- in no cache ----> UNKNOWN --- answer: no object -----> ABSENT
 *                  |                        '------- answer ----------------> ANSWERED
 *     begin -------+
 *                  |                        .------- answer: this version --> CONFIRMED
 *                  +-- in the cache ---> EXPECTED -- answer: another -------> OUTDATED
 *                  '-- and fresh ------> CONFIRMED - answer: another -------> OUTDATED
 *
 * Any later answer from another version leads to OUTDATED, too: then no more steps are taken, and
 * the chunk read begins anew when its fetches have ended.
 */
#ifndef ZB_READ_FLOW_STATE_H
#define ZB_READ_FLOW_STATE_H

#include <pthread.h>

#include "read/leaf.h"
#include "read/progress.h"
#include "util/in_flight.h"
#include "util/pool.h"
#include "zarrbridge/sys/store.h"

typedef struct zb__chunk_read zb__chunk_read;

typedef enum zb__version_state {
    ZB__VERSION_UNKNOWN,
    ZB__VERSION_EXPECTED,  /* chunk->info is that of a former answer; each one has to agree */
    ZB__VERSION_CONFIRMED, /* likewise, and one has agreed, or the former one is fresh */
    ZB__VERSION_ANSWERED,  /* chunk->info is that of the answer which opened the object */
    ZB__VERSION_ABSENT,    /* there is no object */
    ZB__VERSION_OUTDATED
} zb__version_state;

typedef enum zb__request_kind {
    ZB__REQUEST_START,  /* nothing is asked yet */
    ZB__REQUEST_OBJECT, /* all of the object */
    ZB__REQUEST_INDEX,  /* the index of a shard, with bytes beside it */
    ZB__REQUEST_DATA    /* the leaves of a task */
} zb__request_kind;

/* Bytes that a chunk read asks for, and the step that follows when they have come. */
typedef struct zb__chunk_request {
    zb__in_flight flight;           /* first; the flow's: of the first index of its stored chunk */
    struct zb__chunk_request *next; /* in a list of requests to be served */
    struct zb__chunk_request *sibling; /* of the same chunk read */
    zb__chunk_read *chunk_read;
    zb__request_kind kind;
    zb__version_state version;   /* of the chunk read, when the step began */
    uint64_t offset;             /* in the object; ZB_FROM_END for its last bytes */
    uint64_t size;               /* ZB_WHOLE: all of the object; 0: nothing is asked for */
    uint64_t most;               /* with ZB_WHOLE: bytes of a sane object */
    zb__ranged_read ranged_read; /* of ZB__REQUEST_DATA */
    zb__leaf *shard;             /* of ZB__REQUEST_INDEX: an inner shard; NULL: the object itself */
    /* The flow's: */
    uint8_t *data;
    uint64_t got;       /* bytes that came */
    uint64_t requested; /* bytes for which fetches were made */
    size_t fetches;     /* under way */
    uint64_t charged;   /* bytes of the window */
} zb__chunk_request;

typedef struct zb__chunk_request_list {
    zb__chunk_request *first, *last;
    size_t count;
} zb__chunk_request_list;

/* Bytes of the object that stay until the chunk read ends. */
typedef struct zb__held {
    struct zb__held *next;
    uint8_t *data;
    uint64_t offset, size;
} zb__held;

struct zb__chunk_read {
    zb__stored_chunk *chunk;
    char *name;     /* of the object */
    zb__held *held; /* under `turn`, as the stored chunk's leaves are while indexes come */
    pthread_mutex_t turn;
    size_t indexes; /* asked for and not expanded; under `turn` */
    uint64_t spare; /* bytes that may still come in vain, to save requests; likewise */
    size_t share;   /* requests under way at once, while the flow's others have as many */
    bool is_ahead;  /* all of its pieces are */
    zb__chunk_request_list later; /* for when the object has been opened; used by one step
                                     alone */
    bool never_whole;             /* the object is too large to be read whole */
    bool has_waited;              /* for another read, which has got the index */
    zb__version_state version; /* the flow's, under its lock, but in the step ZB__REQUEST_START */
    /* The flow's, under its lock: */
    void *flow;                      /* that it is in */
    zb__chunk_read *next, *previous; /* of the chunk reads that are open */
    zb__chunk_request *all;          /* its requests */
    size_t requests;                 /* not ended */
    unsigned tries;                  /* times that it was begun anew */
    uint64_t changes;                /* of the store, when it was begun */
    uint64_t charged;                /* bytes of the window that it holds */
};

/* True where chunk->info is known before the store has opened the object. */
static inline bool zb__chunk_read_expects(const zb__chunk_read *chunk_read) {
    return chunk_read->version == ZB__VERSION_EXPECTED ||
           chunk_read->version == ZB__VERSION_CONFIRMED;
}

/* Bytes that all chunk reads of a flow together may read in vain where that saves requests. Few: a
   reader of a window pays for each byte, and waits no longer for requests that go out together. */
#define ZB__SPARE_BYTES ((uint64_t)16 << 10)

/* A new chunk read with a start among *more, one of `count` that share `in_flight` requests. NULL
   when memory runs out. */
zb__chunk_read *zb__chunk_read_new(zb__stored_chunk *chunk, size_t count, size_t in_flight,
                                   zb__chunk_request_list *more);

/* Takes the step of a request whose bytes have come. Adds what the chunk read asks for next to
   *more: requests of size 0 have their step taken without further ado. Different requests of one
   chunk read may run at once. */
enum zb_code zb__chunk_read_step(zb__chunk_request *request, zb__chunk_request_list *more,
                                 zb__scratch *scratch, zb_error *err);

/* Makes the request for the first index of a stored chunk a start again: another read has asked for
   it. */
void zb__chunk_request_again(zb__chunk_request *request);

/* Lets go of all that belongs to the stored chunk's present course; none of its requests is open.
   Its requests are freed, and with `anew` there is a start among *more. ZB_ENOMEM. */
enum zb_code zb__chunk_read_reset(zb__chunk_read *chunk_read, bool anew,
                                  zb__chunk_request_list *more, zb_error *err);

/* After zb__chunk_read_reset. */
void zb__chunk_read_free(zb__chunk_read *chunk_read);

/* Adds a request at the end of a list. */
void zb__chunk_request_append(zb__chunk_request_list *list, zb__chunk_request *request);

/* What the parts of a flow share: its state, its chunk reads (flow_chunk_reads.c), its fetches
   (flow_fetches.c), and its steps (flow.c). All is called with the lock of the flow unless it says
   otherwise. */

/* The window of a link that is not known, or slow. Bytes. */
#define ZB__LEAST_WINDOW ((uint64_t)64 << 20)

/* A fetch of a request for all or a part of its bytes. */
typedef struct zb__flow_fetch {
    zb_fetch fetch; /* first: an answer is known by it */
    zb__chunk_request *request;
    bool opens;                             /* the store opens the object for it */
    struct zb__flow_fetch *answered;        /* the next in the list of answers */
    struct zb__flow_fetch *next, *previous; /* under way */
} zb__flow_fetch;

typedef struct zb__flow {
    zb_store *store;
    uint64_t part, window;
    size_t most;            /* requests under way */
    zb__progress *progress; /* the caller's alone; or NULL */
    bool is_nested;         /* the caller is in another read's progress function */

    pthread_mutex_t lock; /* guards all from here; held while requests are submitted */
    zb__stored_chunk *chunks;
    size_t count, admitted;
    zb__chunk_read *chunk_reads; /* open */
    size_t open;
    uint64_t done; /* elements of the stored chunks whose chunk read has ended */
    zb__chunk_request_list wanting, ready; /* bytes; a thread to take their step */
    zb__flow_fetch *fetches;               /* under way */
    size_t under_way;
    size_t stepping; /* threads that take a step */
    size_t called;   /* workers that were called and have not left */
    enum zb_code code;
    zb_error error;
    zb__pool_job *job;

    pthread_mutex_t answer_lock; /* guards the rest; no other lock is taken under it */
    pthread_cond_t answer_came;
    zb__flow_fetch *answers;  /* the last first */
    zb__chunk_request *woken; /* requests for an index that another read had asked for; by
                                 `next` */
    bool is_nudged;           /* the caller is to look around though no answer came */
} zb__flow;

/* ---- The window: bytes that are under way or wait for their step -------------------------- */

/* The account is a request's or a chunk read's. */
void zb__flow_charge(uint64_t *account, uint64_t bytes);
void zb__flow_discharge(uint64_t *account);
bool zb__flow_has_room(const zb__flow *f, uint64_t bytes);

/* ---- Chunk reads --------------------------------------------------------------------------------
   */

/* Keeps the first error; the flow comes to its end. */
void zb__flow_fail(zb__flow *f, enum zb_code code, const zb_error *error);

/* Opens the chunk read of the next stored chunk. */
void zb__flow_admit(zb__flow *f);

/* Elements that have come, of stored chunks whose bytes come bit by bit about as many. */
double zb__flow_done(const zb__flow *f);

/* Puts the requests of a list, which is empty then, where they belong: bytes are wanted, or they
   are ready. */
void zb__flow_add(zb__flow *f, zb__chunk_request_list *more);

/* The first request of a list, taken out; or NULL. */
zb__chunk_request *zb__flow_take(zb__chunk_request_list *list);

/* Ends a request whose step was taken, or is not taken any more; with the last one its chunk read,
   which is begun anew when it is outdated. */
void zb__flow_end_request(zb__flow *f, zb__chunk_request *request);
void zb__flow_end_chunk_read(zb__flow *f, zb__chunk_read *chunk_read);

/* ---- Fetches ------------------------------------------------------------------------------ */

/* Sends fetches as long as there is room. */
void zb__flow_send(zb__flow *f);

/* Takes what the store's threads, and other flows, have put on lists. */
void zb__flow_take_answers(zb__flow *f);

/* After an error: when it returns, nothing is under way. Without the lock: no worker is in the
   flow. */
void zb__flow_cancel(zb__flow *f);

#endif
