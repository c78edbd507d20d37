/* SPDX-License-Identifier: MIT */
#include "write/senders.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/scratch.h"
#include "base/thread.h"
#include "base/wait.h"
#include "zarrbridge/sys/store.h"

/* Chunks on their way are memory beside those that are being encoded. */
#define BYTES_UNDER_WAY ((uint64_t)64 << 20)
#define LEAST 4
#define MOST 32

struct zb__senders {
    zb__task_fn fn;
    void *context;
    size_t count, started; /* threads that there may be, and are */
    pthread_t thread[MOST];
    pthread_mutex_t lock; /* guards all below, and `started` */
    pthread_cond_t given, sent;
    size_t item[MOST], first; /* a ring of those that nobody has taken */
    size_t waiting, busy;     /* items in it, and in the hands of threads */
    bool is_closed;
    zb_error error; /* the first; its code is ZB_OK until then */
};

size_t zb__sender_count(const zb_store *store, uint64_t bytes) {
    if (store->hints.is_local)
        return 0;
    const uint64_t fit = BYTES_UNDER_WAY / (bytes ? bytes : 1);
    return fit < LEAST ? LEAST : fit > MOST ? MOST : (size_t)fit;
}

zb__senders *zb__senders_open(zb__task_fn fn, void *context, size_t count) {
    /* The threads change the store for the caller. */
    zb__senders *s = count > 0 && !zb__stop_or_begin(NULL) ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return NULL;
    s->fn = fn;
    s->context = context;
    s->count = count < MOST ? count : MOST;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->given, NULL);
    pthread_cond_init(&s->sent, NULL);
    return s;
}

/* Called with the lock, which is open while the item is sent. */
static void send(zb__senders *s, size_t item) {
    zb_error err = {.code = ZB_OK};
    if (s->error.code)
        return;
    s->busy++;
    pthread_mutex_unlock(&s->lock);
    zb__scratch *scratch = zb__scratch_take();
    enum zb_code code = scratch ? s->fn(s->context, item, scratch, &err)
                                : zb_fail(&err, ZB_ENOMEM, "no memory for storing a chunk");
    if (scratch)
        zb__scratch_put(scratch);
    pthread_mutex_lock(&s->lock);
    s->busy--;
    if (code && !s->error.code)
        s->error = err;
}

static void *run(void *argument) {
    zb__senders *s = argument;
    pthread_mutex_lock(&s->lock);
    while (s->waiting > 0 || !s->is_closed) {
        if (s->waiting == 0) {
            pthread_cond_wait(&s->given, &s->lock);
            continue;
        }
        const size_t item = s->item[s->first];
        s->first = (s->first + 1) % MOST;
        s->waiting--;
        send(s, item);
        pthread_cond_broadcast(&s->sent);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* With the lock. False where there is no thread at all. */
static bool has_thread(zb__senders *s) {
    if (s->started < s->count && s->busy + s->waiting >= s->started &&
        zb__thread_start(&s->thread[s->started], run, s) == 0)
        s->started++;
    return s->started > 0;
}

enum zb_code zb__senders_give(zb__senders *senders, size_t item, zb_error *err) {
    zb__senders *s = senders;
    pthread_mutex_lock(&s->lock);
    while (s->busy + s->waiting >= s->count && !s->error.code)
        pthread_cond_wait(&s->sent, &s->lock);
    if (!s->error.code && has_thread(s)) {
        s->item[(s->first + s->waiting++) % MOST] = item;
        pthread_cond_signal(&s->given);
    } else {
        send(s, item);
    }
    const enum zb_code code = s->error.code;
    if (code && err)
        *err = s->error;
    pthread_mutex_unlock(&s->lock);
    return code;
}

enum zb_code zb__senders_close(zb__senders *senders, zb_error *err) {
    if (!senders)
        return ZB_OK;
    pthread_mutex_lock(&senders->lock);
    senders->is_closed = true;
    pthread_cond_broadcast(&senders->given);
    pthread_mutex_unlock(&senders->lock);
    for (size_t i = 0; i < senders->started; i++)
        pthread_join(senders->thread[i], NULL);
    const enum zb_code code = senders->error.code;
    if (code && err)
        *err = senders->error;
    pthread_cond_destroy(&senders->given);
    pthread_cond_destroy(&senders->sent);
    pthread_mutex_destroy(&senders->lock);
    free(senders);
    return code;
}
