/* SPDX-License-Identifier: MIT */
/*
 * Requests wait in the lines of their stores, which take turns, so that a store with thousands of
 * them does not hold up another. Those with a connection, and those that rest between two tries,
 * are known to the I/O thread alone.
 */
#include "io.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "queue.h"
#include "remote.h"
#include "transfer.h"
#include "util/clock.h"
#include "util/fork.h"
#include "util/thread.h"
#include "util/wait.h"
#include "zarrbridge/limits.h"

#define IDLE_HANDLES 64
#define LONGEST_SLEEP_MS 10000

/* The end of requests that zb__io_cancel waits for. */
typedef struct order {
    zb__remote *store;
    const void *group;
    bool is_done;
    struct order *next;
} order;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* Guarded by the lock. */
static zb__remote *stores; /* the first one has the next turn */
static order *orders;
static pthread_t thread;
static bool is_running, is_ending;
static CURLM *multi; /* libcurl allows waking by any thread; all else is the I/O thread's */

/* The I/O thread's. */
static CURLSH *share;
static zb__request *active, *resting;
static uint64_t active_count, active_bytes;
static CURL *idle[IDLE_HANDLES];
static size_t idle_count;

/* ---- Lists of requests ---- */

static void push(zb__request **list, zb__request *request) {
    request->previous = NULL;
    request->next = *list;
    if (*list)
        (*list)->previous = request;
    *list = request;
}

static void take_out(zb__request **list, zb__request *request) {
    *(request->previous ? &request->previous->next : list) = request->next;
    if (request->next)
        request->next->previous = request->previous;
    request->next = request->previous = NULL;
}

/* ---- Tries ---- */

static CURL *get_handle(void) {
    return idle_count ? idle[--idle_count] : curl_easy_init();
}

/* It points at nothing of its last request any more. */
static void put_handle(CURL *handle) {
    curl_easy_reset(handle);
    if (idle_count < IDLE_HANDLES)
        idle[idle_count++] = handle;
    else
        curl_easy_cleanup(handle);
}

/* The bytes that a request will have under way. A body lies in its sender's memory whether it waits
   or goes, and counts as one part at most: else the body of one shard would let no other put
   begin. */
static uint64_t bytes_of(const zb__request *request) {
    const uint64_t typical = request->store->queue.typical;
    const uint64_t part = zb_limits_get()->remote_part_bytes;
    if (request->span != ZB__ALL || request->method != ZB__GET)
        return request->length + (request->body_size < part ? request->body_size : part);
    return request->most < typical ? request->most : typical;
}

static void give_back(zb__request *request) {
    zb__request_clear(request);
    request->done(request);
}

/* A request that is held back may wait for the answer of another one, which needs room. */
static void step_aside(zb__request *request) {
    request->hold = ZB__ASIDE;
    active_count--;
    active_bytes -= request->counted;
    pthread_mutex_lock(&lock);
    zb__queue_step_aside(&request->store->queue);
    pthread_mutex_unlock(&lock);
}

static void step_back(zb__request *request) {
    request->hold = ZB__PAUSED;
    active_count++;
    active_bytes += request->counted;
    pthread_mutex_lock(&lock);
    zb__queue_step_back(&request->store->queue);
    pthread_mutex_unlock(&lock);
}

static bool is_held(const zb__request *request) {
    pthread_mutex_lock(&lock);
    const bool held = request->is_held;
    pthread_mutex_unlock(&lock);
    return held;
}

static void leave_connection(zb__request *request) {
    pthread_mutex_lock(&lock);
    zb__queue_left(&request->store->queue, request);
    pthread_mutex_unlock(&lock);
}

static void begin(zb__request *request) {
    zb_error err = {.code = ZB_ENOMEM, .message = "no memory for a transfer"};
    CURL *handle = get_handle();
    zb__request_begin(request);
    request->hold = is_held(request) ? ZB__HELD : ZB__FREE;
    enum zb_code code = handle ? zb__transfer_set_up(request, handle, share, &err) : ZB_ENOMEM;
    if (!code && curl_multi_add_handle(multi, handle) != CURLM_OK)
        code = zb_fail(&err, ZB_EIO, "libcurl does not take the request");
    if (!code) {
        push(&active, request);
        active_count++;
        active_bytes += request->counted = bytes_of(request);
        return;
    }
    zb__transfer_clear(request);
    if (handle)
        put_handle(handle);
    leave_connection(request);
    zb__request_fail(request, code, "%s", err.message);
    give_back(request);
}

/* Takes a request off its connection. */
static void detach(zb__request *request) {
    CURL *handle = request->handle;
    if (request->hold == ZB__ASIDE)
        step_back(request);
    curl_multi_remove_handle(multi, handle);
    zb__transfer_clear(request);
    put_handle(handle);
    take_out(&active, request);
    active_count--;
    active_bytes -= request->counted;
    leave_connection(request);
}

/* A thread of its own: getting credentials may take seconds, while other requests go on. */
static void *renew(void *context) {
    zb__remote *store = context;
    store->protocol->renew(store);
    pthread_mutex_lock(&lock);
    zb__queue_wake(&store->queue);
    store->queue.is_renewing = false;
    pthread_cond_broadcast(&changed);
    if (multi)
        curl_multi_wakeup(multi);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* The first one to park has the credentials renewed. */
static void wait_for_credentials(zb__request *request) {
    zb__queue *queue = &request->store->queue;
    pthread_mutex_lock(&lock);
    if (!queue->is_renewing)
        queue->is_renewing = zb__thread_start(NULL, renew, request->store) == 0;
    const bool waiting = queue->is_renewing;
    if (waiting)
        zb__queue_wait(queue, request);
    pthread_mutex_unlock(&lock);
    if (!waiting) {
        zb__request_fail(request, ZB_ENOMEM, "no thread to renew the credentials");
        give_back(request);
    }
}

static void finish(zb__request *request, CURLcode result) {
    char failure[sizeof request->failure + ZB__ADVICE_SIZE];
    const bool may_again = zb__transfer_may_again(request, result);
    snprintf(failure, sizeof failure, "%s%s", zb__transfer_words(request, result),
             zb__transfer_advice(request, result));
    detach(request);
    switch (zb__request_end(request, result ? failure : NULL, may_again)) {
    case ZB__DONE:
        give_back(request);
        break;
    case ZB__AT_ONCE:
        request->due = zb__now();
        push(&resting, request);
        break;
    case ZB__PAUSE:
        push(&resting, request);
        break;
    case ZB__AFTER_RENEW:
        wait_for_credentials(request);
        break;
    }
}

/* ---- Turns of the I/O thread ---- */

/* With the lock held. */
static bool has_room(const zb__queue *queue, uint64_t counted) {
    const zb_limits *limits = zb_limits_get();
    const uint64_t most = zb__throughput_in_flight(&queue->throughput, limits->remote_flight_bytes);
    return !active_count || (active_count < limits->remote_requests && active_bytes < most &&
                             counted <= most - active_bytes);
}

/* The next request of the stores in turn, for which there is room. */
static zb__request *next_of_lines(void) {
    zb__request *found = NULL;
    pthread_mutex_lock(&lock);
    zb__remote **at = &stores;
    while (*at && !found) {
        const zb__request *first = zb__queue_first(&(*at)->queue);
        if (first && has_room(&(*at)->queue, bytes_of(first)))
            found = zb__queue_take(&(*at)->queue);
        else
            at = &(*at)->queue.next;
    }
    if (found && (*at)->queue.next) { /* to the end of the list */
        zb__remote *store = *at;
        *at = store->queue.next;
        while (*at)
            at = &(*at)->queue.next;
        *at = store;
        store->queue.next = NULL;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* A rested request goes to the head of its queue. Returns the milliseconds until the next one. */
static int wake_rested(void) {
    const int64_t now = zb__now();
    int64_t soonest = now + LONGEST_SLEEP_MS * 1000000ll;
    for (zb__request *request = resting, *next; request; request = next) {
        next = request->next;
        if (request->due <= now) {
            take_out(&resting, request);
            pthread_mutex_lock(&lock);
            zb__queue_return(&request->store->queue, request);
            pthread_mutex_unlock(&lock);
        } else if (request->due < soonest) {
            soonest = request->due;
        }
    }
    return (int)((soonest - now) / 1000000) + 1;
}

/* Those whose body has come to its held end. */
static void let_paused_step_aside(void) {
    for (zb__request *request = active; request; request = request->next) {
        if (request->hold == ZB__PAUSED)
            step_aside(request);
    }
}

/* One that libcurl does not let go on ends as any that makes no progress, and is tried again. */
static void let_released_go_on(void) {
    for (zb__request *request = active; request; request = request->next) {
        if (request->hold == ZB__FREE || is_held(request))
            continue;
        if (request->hold == ZB__ASIDE)
            step_back(request);
        if (request->hold == ZB__PAUSED)
            (void)curl_easy_pause(request->handle, CURLPAUSE_CONT);
        request->hold = ZB__FREE;
    }
}

static bool is_meant(const zb__request *request, const order *what) {
    return !what || (request->store == what->store && request->group == what->group);
}

static void end_one(zb__request *request) {
    request->code = zb__fail_stopped(&request->error);
    give_back(request);
}

/* Ends the requests of the order, or all of them. */
static void carry_out(const order *what) {
    zb__request *ended = NULL;
    for (zb__request *request = active, *next; request; request = next) {
        next = request->next;
        if (is_meant(request, what)) {
            detach(request);
            push(&ended, request);
        }
    }
    for (zb__request *request = resting, *next; request; request = next) {
        next = request->next;
        if (is_meant(request, what)) {
            take_out(&resting, request);
            push(&ended, request);
        }
    }
    pthread_mutex_lock(&lock);
    for (zb__remote *store = stores; store; store = store->queue.next) {
        if (!what || store == what->store)
            zb__queue_drop(&store->queue, what ? &what->group : NULL, &ended);
    }
    pthread_mutex_unlock(&lock);
    for (zb__request *request = ended, *next; request; request = next) {
        next = request->next;
        end_one(request);
    }
}

static void carry_out_orders(void) {
    pthread_mutex_lock(&lock);
    while (orders) {
        order *what = orders;
        orders = what->next;
        pthread_mutex_unlock(&lock);
        carry_out(what);
        pthread_mutex_lock(&lock);
        what->is_done = true;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
}

static void finish_ended(void) {
    int left;
    for (const CURLMsg *message; (message = curl_multi_info_read(multi, &left)) != NULL;) {
        char *request;
        if (message->msg == CURLMSG_DONE &&
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &request) == CURLE_OK)
            finish((zb__request *)(void *)request, message->data.result);
    }
}

static bool must_end(void) {
    pthread_mutex_lock(&lock);
    const bool ends = is_ending;
    pthread_mutex_unlock(&lock);
    return ends;
}

static void clean_up(void) {
    carry_out(NULL);
    while (idle_count)
        curl_easy_cleanup(idle[--idle_count]);
    pthread_mutex_lock(&lock);
    CURLM *ended = multi;
    multi = NULL;
    orders = NULL; /* nothing is left to be cancelled */
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    curl_multi_cleanup(ended);
    curl_share_cleanup(share);
    share = NULL;
}

static void *run(void *unused) {
    (void)unused;
    (void)pthread_setname_np(pthread_self(), "zarrbridge-io");
    while (!must_end()) {
        int running;
        carry_out_orders();
        const int milliseconds = wake_rested();
        let_released_go_on();
        for (zb__request *request; (request = next_of_lines()) != NULL;)
            begin(request);
        curl_multi_perform(multi, &running);
        const uint64_t before = active_count;
        finish_ended();
        let_paused_step_aside();
        if (active_count == before) /* else there is room for others */
            curl_multi_poll(multi, NULL, 0, milliseconds, NULL);
    }
    clean_up();
    return NULL;
}

/* ---- The thread's life ---- */

/* The handlers of the process's end run in the reverse order of their registration: this one
   before OpenSSL's, whose clean-up must not meet a thread that uses it. */
static void end_thread(void) {
    pthread_mutex_lock(&lock);
    const bool ran = is_running;
    is_ending = true;
    if (multi)
        curl_multi_wakeup(multi);
    pthread_mutex_unlock(&lock);
    if (ran) {
        /* glibc joins until a moment of the monotonic clock from 2.31 on. */
        const int64_t end = zb__deadline(1);
        while (pthread_tryjoin_np(thread, NULL) == EBUSY && zb__now() < end)
            nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
}

/* What a child has of its parent, reachable for those that look for leaks. */
static struct {
    CURLM *multi;
    CURLSH *share;
    zb__request *active, *resting;
    CURL *idle[IDLE_HANDLES];
} volatile inherited;

/* A child has none of the threads. Handles of the parent are not even freed: that would end its
   sessions of TLS. */
static void forget(void *unused) {
    (void)unused;
    inherited.multi = multi;
    inherited.share = share;
    inherited.active = active;
    inherited.resting = resting;
    for (size_t i = 0; i < idle_count; i++)
        inherited.idle[i] = idle[i];
    multi = NULL;
    share = NULL;
    active = resting = NULL;
    active_count = active_bytes = idle_count = 0;
    orders = NULL;
    is_running = false;
    for (zb__remote *store = stores; store; store = store->queue.next)
        zb__queue_begin(&store->queue, store->queue.next);
    pthread_cond_init(&changed, NULL);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_ready;

static void prepare(void) {
    static zb__fork_guard guard = {.lock = &lock, .in_child = forget};
    is_ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK && atexit(end_thread) == 0;
    zb__fork_guard_add(&guard);
}

/* Called with the lock. */
static enum zb_code start(zb_error *err) {
    if (is_ending)
        return zb_fail(err, ZB_EIO, "the process is ending: nothing is read from the network now");
    if (is_running)
        return ZB_OK;
    multi = curl_multi_init();
    share = curl_share_init();
    if (share)
        curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    if (multi)
        curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 2L * IDLE_HANDLES);
    is_running = multi && share && zb__thread_start(&thread, run, NULL) == 0;
    if (is_running)
        return ZB_OK;
    curl_multi_cleanup(multi);
    curl_share_cleanup(share);
    multi = NULL;
    share = NULL;
    return zb_fail(err, ZB_ENOMEM, "no thread for requests to the network");
}

/* ---- For all threads ---- */

enum zb_code zb__io_enter(zb__remote *store, zb_error *err) {
    pthread_once(&once, prepare);
    if (!is_ready)
        return zb_fail(err, ZB_EIO, "libcurl cannot be initialised");
    pthread_mutex_lock(&lock);
    zb__queue_begin(&store->queue, stores);
    stores = store;
    pthread_mutex_unlock(&lock);
    return ZB_OK;
}

void zb__io_leave(zb__remote *store) {
    pthread_mutex_lock(&lock);
    while (store->queue.is_renewing)
        pthread_cond_wait(&changed, &lock);
    zb__remote **at = &stores;
    while (*at != store)
        at = &(*at)->queue.next;
    *at = store->queue.next;
    pthread_mutex_unlock(&lock);
}

enum zb_code zb__io_submit(zb__request *list, zb_error *err) {
    pthread_mutex_lock(&lock);
    const enum zb_code code = start(err);
    for (zb__request *request = code ? NULL : list, *next; request; request = next) {
        next = request->next;
        zb__queue_append(&request->store->queue, request);
    }
    if (!code)
        curl_multi_wakeup(multi);
    pthread_mutex_unlock(&lock);
    return code;
}

void zb__io_release(zb__request *request) {
    pthread_mutex_lock(&lock);
    request->is_held = false;
    if (multi)
        curl_multi_wakeup(multi);
    pthread_mutex_unlock(&lock);
}

void zb__io_cancel(zb__remote *store, const void *group) {
    order what = {.store = store, .group = group};
    pthread_mutex_lock(&lock);
    if (is_running && multi) {
        what.next = orders;
        orders = &what;
        curl_multi_wakeup(multi);
        while (!what.is_done && multi)
            pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
}
