/* SPDX-License-Identifier: MIT */
#include "util/lane.h"

#include <stdlib.h>
#include <string.h>

#include "util/fork.h"
#include "util/scratch.h"
#include "util/thread.h"
#include "util/wait.h"

/* ---- Threads ------------------------------------------------------------------------------ */

/* As many stay when they have nothing to do; a thread costs some 20 µs to start. */
#define SLEEPERS_MOST 32

typedef struct call {
    void (*fn)(void *context);
    void *context;
} call;

/* A thread without a call, on its own stack. */
typedef struct sleeper {
    call next; /* fn is NULL until there is one */
    pthread_cond_t called;
    struct sleeper *link;
} sleeper;

static pthread_mutex_t sleepers_lock = PTHREAD_MUTEX_INITIALIZER;
static sleeper *sleepers;
static size_t sleeper_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The threads are not in the child. */
static void forget_sleepers(void *unused) {
    (void)unused;
    sleepers = NULL;
    sleeper_count = 0;
}

static void init(void) {
    static zb__fork_guard guard = {.lock = &sleepers_lock, .in_child = forget_sleepers};
    zb__fork_guard_add(&guard);
}

/* The next call, or false where enough others sleep already. */
static bool await_call(call *next) {
    sleeper own = {.link = NULL};
    pthread_mutex_lock(&sleepers_lock);
    const bool stays = sleeper_count < SLEEPERS_MOST;
    if (stays) {
        pthread_cond_init(&own.called, NULL);
        own.link = sleepers;
        sleepers = &own;
        sleeper_count++;
        while (!own.next.fn)
            pthread_cond_wait(&own.called, &sleepers_lock);
        pthread_cond_destroy(&own.called);
        *next = own.next;
    }
    pthread_mutex_unlock(&sleepers_lock);
    return stays;
}

static void *thread_main(void *first) {
    call next = *(call *)first;
    free(first);
    do
        next.fn(next.context);
    while (await_call(&next));
    return NULL;
}

bool zb__blocking_call(void (*fn)(void *context), void *context) {
    const call next = {fn, context};
    pthread_once(&once, init);
    pthread_mutex_lock(&sleepers_lock);
    sleeper *free_one = sleepers;
    if (free_one) {
        sleepers = free_one->link;
        sleeper_count--;
        free_one->next = next;
        pthread_cond_signal(&free_one->called);
    }
    pthread_mutex_unlock(&sleepers_lock);
    if (free_one)
        return true;
    call *first = malloc(sizeof *first);
    if (!first)
        return false;
    *first = next;
    const bool started = zb__thread_start(NULL, thread_main, first) == 0;
    if (!started)
        free(first);
    return started;
}

/* ---- Lanes -------------------------------------------------------------------------------- */

static void begin(zb__lane *lane, void *context, size_t width) {
    memset(lane, 0, sizeof *lane);
    lane->context = context;
    lane->width = width < ZB__LANE_WIDTH_MOST ? width : ZB__LANE_WIDTH_MOST;
    pthread_mutex_init(&lane->lock, NULL);
    pthread_cond_init(&lane->changed, NULL);
}

void zb__lane_begin_reading(zb__lane *lane, zb__task_fn fn, void *context, size_t width) {
    begin(lane, context, width);
    lane->fn = fn;
    lane->stopper = *zb__stopper_mine();
}

void zb__lane_begin(zb__lane *lane, zb__task_fn fn, void *context, size_t width) {
    begin(lane, context, width);
    lane->fn = fn;
    (void)zb__stop_or_begin(&lane->error);
}

void zb__lane_begin_keys(zb__lane *lane, zb__lane_key_fn fn, void *context, size_t width) {
    begin(lane, context, width);
    lane->key_fn = fn;
    (void)zb__stop_or_begin(&lane->error);
}

static enum zb_code call_fn(zb__lane *lane, const zb__lane_item *item, zb_error *err) {
    if (lane->key_fn)
        return lane->key_fn(lane->context, item->key, err);
    zb__scratch *scratch = zb__scratch_take();
    if (!scratch)
        return zb_fail(err, ZB_ENOMEM, "no memory for a thread's scratch");
    const enum zb_code code = lane->fn(lane->context, item->number, scratch, err);
    zb__scratch_put(scratch);
    return code;
}

/* Does the work of an item, unless something has failed. Called with the lock, which is open
   meanwhile. */
static void work_on(zb__lane *lane, zb__lane_item item) {
    zb_error err = {.code = ZB_OK};
    zb__stopper *mine = zb__stopper_mine();
    const zb__stopper before = *mine;
    lane->busy++;
    if (!lane->error.code) {
        *mine = lane->stopper;
        pthread_mutex_unlock(&lane->lock);
        const enum zb_code code = call_fn(lane, &item, &err);
        pthread_mutex_lock(&lane->lock);
        lane->stopper.is_stopped |= mine->is_stopped;
        *mine = before;
        if (code && !lane->error.code)
            lane->error = err;
    }
    free(item.key);
    lane->busy--;
    pthread_cond_broadcast(&lane->changed);
}

static void serve(void *context) {
    zb__lane *lane = context;
    pthread_mutex_lock(&lane->lock);
    while (lane->waiting > 0) {
        const zb__lane_item item = lane->item[lane->first];
        lane->first = (lane->first + 1) % ZB__LANE_WIDTH_MOST;
        lane->waiting--;
        work_on(lane, item);
    }
    lane->threads--;
    pthread_cond_broadcast(&lane->changed); /* the lane may end with the lock's release */
    pthread_mutex_unlock(&lane->lock);
}

/* With the lock. False where no thread serves the lane, and none can be had. */
static bool has_thread(zb__lane *lane) {
    if (lane->threads < lane->width && lane->threads <= lane->busy + lane->waiting) {
        lane->threads++;
        if (!zb__blocking_call(serve, lane))
            lane->threads--;
    }
    return lane->threads > 0;
}

/* The item's key is freed. */
static enum zb_code give(zb__lane *lane, zb__lane_item item, zb_error *err) {
    pthread_mutex_lock(&lane->lock);
    while (lane->width > 0 && lane->busy + lane->waiting >= lane->width && !lane->error.code)
        pthread_cond_wait(&lane->changed, &lane->lock);
    if (!lane->error.code && has_thread(lane))
        lane->item[(lane->first + lane->waiting++) % ZB__LANE_WIDTH_MOST] = item;
    else
        work_on(lane, item);
    const enum zb_code code = lane->error.code;
    if (code && err)
        *err = lane->error;
    pthread_mutex_unlock(&lane->lock);
    return code;
}

enum zb_code zb__lane_give(zb__lane *lane, size_t number, zb_error *err) {
    return give(lane, (zb__lane_item){.number = number}, err);
}

enum zb_code zb__lane_give_key(zb__lane *lane, const char *key, zb_error *err) {
    char *copy = strdup(key);
    return copy ? give(lane, (zb__lane_item){.key = copy}, err)
                : zb_fail(err, ZB_ENOMEM, "out of memory for a key");
}

enum zb_code zb__lane_end(zb__lane *lane, enum zb_code code, zb_error *err) {
    pthread_mutex_lock(&lane->lock);
    while (lane->threads > 0)
        pthread_cond_wait(&lane->changed, &lane->lock);
    pthread_mutex_unlock(&lane->lock);
    zb__stopper_mine()->is_stopped |= lane->stopper.is_stopped;
    if (!code && lane->error.code) {
        code = lane->error.code;
        if (err)
            *err = lane->error;
    }
    pthread_cond_destroy(&lane->changed);
    pthread_mutex_destroy(&lane->lock);
    return code;
}
