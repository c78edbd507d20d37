/* SPDX-License-Identifier: MIT */
/*
 * Requests for backends that answer only while one waits: threads for work that waits (lane.h) do
 * so in their place. A child of a fork has none of its parent's requests.
 */
#include "store/fetch.h"

#include <pthread.h>
#include <stdlib.h>

#include "util/fork.h"
#include "util/lane.h"
#include "util/latch.h"
#include "zarrbridge/sys/store.h"

/* As many requests go on at once. */
#define MOST_THREADS 16

/* The requests of one call. */
typedef struct submission {
    zb_store *store;
    zb_fetch *left; /* not begun */
    zb_fetch_fn done;
    void *context;
    zb_fetch_serve_fn at_once; /* or NULL */
    size_t running;
    struct submission *next;
} submission;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static pthread_cond_t submission_ended = PTHREAD_COND_INITIALIZER;
static submission *submissions; /* in the order in which they came */
static size_t waiting;          /* requests that are not begun */
static size_t threads, busy;    /* that serve requests or are coming; those at one */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void forget_threads(void *unused) {
    (void)unused;
    submissions = NULL;
    waiting = threads = busy = 0;
    pthread_cond_init(&submission_ended, NULL);
}

static void init(void) {
    static zb__fork_guard guard = {.lock = &lock, .in_child = forget_threads};
    zb__fork_guard_add(&guard);
}

/* ---- Serving ------------------------------------------------------------------------------ */

static enum zb_code check_size(zb_fetch *fetch) {
    const uint64_t size = fetch->info.size;
    const bool counts = fetch->range.length == ZB_WHOLE || fetch->info.is_packed;
    return !counts || size <= fetch->most
               ? ZB_OK
               : zb_fail(&fetch->error, ZB_ELIMIT, "it has %llu bytes, more than the %llu allowed",
                         (unsigned long long)size, (unsigned long long)fetch->most);
}

static enum zb_code read_whole(zb_fetch *fetch, uint64_t size) {
    zb_range range = {.length = (size_t)size, .buffer = malloc(size ? (size_t)size : 1)};
    if (!range.buffer)
        return zb_fail(&fetch->error, ZB_ENOMEM, "no memory for an object");
    enum zb_code code = zb_object_read(fetch->object, &range, 1, &fetch->error);
    if (code == ZB_OK && range.got != size)
        code = zb_fail(&fetch->error, ZB_EIO, "the object became shorter while it was read");
    fetch->range.buffer = range.buffer;
    fetch->range.got = range.got;
    return code;
}

static enum zb_code read_range(zb_fetch *fetch) {
    if (!fetch->range.buffer)
        fetch->range.buffer = malloc(fetch->range.length ? fetch->range.length : 1);
    if (!fetch->range.buffer)
        return zb_fail(&fetch->error, ZB_ENOMEM, "no memory for a range");
    return zb_object_read(fetch->object, &fetch->range, 1, &fetch->error);
}

/* Answers a request by at_once(), if there is one, or by the store's open() and read(), and returns
   the code, which the caller sets in it. */
static enum zb_code serve_fetch(zb_store *store, zb_fetch_serve_fn at_once, zb_fetch *fetch) {
    const bool is_whole = fetch->range.length == ZB_WHOLE;
    if (fetch->object)
        return is_whole ? zb_fail(&fetch->error, ZB_EUNSUPPORTED,
                                  "an open object is read by ranges here")
                        : read_range(fetch);
    enum zb_code code = at_once ? at_once(store, fetch) : ZB_EUNSUPPORTED;
    if (code != ZB_EUNSUPPORTED)
        return code;
    zb_object *object;
    code = zb_object_open(store, fetch->key, &object, &fetch->info, &fetch->error);
    if (code)
        return code;
    fetch->object = object;
    if (is_whole)
        fetch->range = (zb_range){.length = ZB_WHOLE};
    code = check_size(fetch);
    if (code)
        return code;
    return is_whole ? read_whole(fetch, fetch->info.size) : read_range(fetch);
}

/* The first submission with requests that are not begun, or NULL. */
static submission *find_work(void) {
    submission *b = submissions;
    while (b && !b->left)
        b = b->next;
    return b;
}

/* Takes a submission out of the list whose requests have all been answered. */
static void end_submission(submission *ended) {
    if (ended->left || ended->running > 0)
        return;
    for (submission **at = &submissions; *at; at = &(*at)->next) {
        if (*at == ended) {
            *at = ended->next;
            break;
        }
    }
    free(ended);
    pthread_cond_broadcast(&submission_ended);
}

/* Answers requests until none is left. */
static void serve(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    for (submission *b; (b = find_work());) {
        zb_fetch *fetch = b->left;
        b->left = fetch->next;
        b->running++;
        waiting--;
        busy++;
        pthread_mutex_unlock(&lock);
        fetch->code = serve_fetch(b->store, b->at_once, fetch);
        b->done(b->context, fetch);
        pthread_mutex_lock(&lock);
        busy--;
        b->running--;
        end_submission(b);
    }
    threads--;
    pthread_mutex_unlock(&lock);
}

/* Calls threads where the free ones are too few for all that waits; where none can be had, the
   caller answers. Called without the lock. */
static void call_threads(void) {
    bool can = true;
    pthread_mutex_lock(&lock);
    while (can && threads - busy < waiting && threads < MOST_THREADS) {
        threads++;
        pthread_mutex_unlock(&lock); /* it has a fork guard */
        can = zb__blocking_call(serve, NULL);
        pthread_mutex_lock(&lock);
        threads -= !can;
    }
    const bool is_alone = threads == 0 && waiting > 0;
    threads += is_alone;
    pthread_mutex_unlock(&lock);
    if (is_alone)
        serve(NULL);
}

static size_t count(const zb_fetch *list) {
    size_t n = 0;
    for (; list; list = list->next)
        n++;
    return n;
}

/* ---- The interface ------------------------------------------------------------------------ */

enum zb_code zb_store_submit_by_threads(zb_store *store, zb_fetch *list, zb_fetch_fn done,
                                        void *context, zb_fetch_serve_fn at_once, zb_error *err) {
    pthread_once(&once, init);
    const size_t requests = count(list);
    if (requests == 0)
        return ZB_OK;
    submission *b = calloc(1, sizeof *b);
    if (!b)
        return zb_fail(err, ZB_ENOMEM, "no memory for requests");
    *b = (submission){
        .store = store, .left = list, .done = done, .context = context, .at_once = at_once};
    pthread_mutex_lock(&lock);
    submission **end = &submissions;
    while (*end)
        end = &(*end)->next;
    *end = b;
    waiting += requests;
    pthread_mutex_unlock(&lock);
    call_threads();
    return ZB_OK;
}

static bool has_submission(const zb_store *store, const void *context) {
    const submission *b = submissions;
    while (b && (b->store != store || b->context != context))
        b = b->next;
    return b != NULL;
}

void zb_store_cancel_by_threads(zb_store *store, void *context) {
    pthread_mutex_lock(&lock);
    for (submission *b = submissions, *next; b; b = next) {
        next = b->next;
        if (b->store == store && b->context == context) {
            waiting -= count(b->left);
            b->left = NULL;
            end_submission(b);
        }
    }
    while (has_submission(store, context))
        pthread_cond_wait(&submission_ended, &lock);
    pthread_mutex_unlock(&lock);
}

/* ---- Several requests side by side -------------------------------------------------------- */

/* Called by the store's threads. */
static void note_answer(void *context, zb_fetch *fetch) {
    (void)fetch;
    zb__latch_count_down(context);
}

enum zb_code zb__fetch_all(zb_store *store, zb_fetch *list, size_t count, zb_error *err) {
    zb__latch answered;
    if (count == 0)
        return ZB_OK;
    zb__latch_begin(&answered, count);
    for (zb_fetch *fetch = list; fetch; fetch = fetch->next)
        fetch->code = zb__fail_stopped(&fetch->error); /* unless it is answered */
    enum zb_code code = zb_store_submit(store, list, note_answer, &answered, err);
    if (!code && !zb__latch_wait(&answered, zb__stopper_mine()))
        zb_store_cancel(store, &answered);
    zb__latch_end(&answered);
    return code;
}
