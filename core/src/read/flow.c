/* SPDX-License-Identifier: MIT */
#include "read/flow.h"

#include <pthread.h>

#include "node/node.h"
#include "read/flow_state.h"
#include "util/pool.h"
#include "util/wait.h"

/* For a store that does not say. */
#define IN_FLIGHT 16

/* Sends fetches as long as there is room, and lets stored chunks in when nobody wants any. */
static void pump(zb__flow *f) {
    zb__flow_send(f);
    while (!f->code && !f->wanting.first && f->admitted < f->count && f->open < 2 * f->most &&
           f->ready.count < f->most)
        zb__flow_admit(f);
}

/* ---- Steps -------------------------------------------------------------------------------- */

/* What is held stays charged until its chunk read ends. */
static void charge_held(zb__chunk_request *request) {
    if (request->data || request->size == 0 || request->version == ZB__VERSION_ABSENT)
        return;
    request->chunk_read->charged += request->charged;
    request->charged = 0;
}

/* Takes one step, if there is one to take. Called with the lock, which it lets go meanwhile. */
static bool take_step(zb__flow *f, zb__scratch *scratch) {
    zb__chunk_request *request = f->code ? NULL : zb__flow_take(&f->ready);
    if (!request)
        return false;
    request->version = request->chunk_read->version;
    if (request->version == ZB__VERSION_OUTDATED) {
        zb__flow_end_request(f, request);
        return true;
    }
    size_t idle = zb__pool_width() - 1 - f->called;
    size_t helpers = f->ready.count < idle ? f->ready.count : idle;
    f->called += helpers;
    f->stepping++;
    pthread_mutex_unlock(&f->lock);
    zb__chunk_request_list more = {0};
    zb_error error;
    zb__pool_call(f->job, helpers);
    enum zb_code code = zb__chunk_read_step(request, &more, scratch, &error);
    pthread_mutex_lock(&f->lock);
    f->stepping--;
    if (code)
        zb__flow_fail(f, code, &error);
    zb__flow_add(f, &more);
    charge_held(request);
    zb__flow_end_request(f, request);
    return true;
}

/* Takes answers, and the step of one. False when there is none to take. Called with the lock. */
static bool go_on(zb__flow *f, zb__scratch *scratch) {
    zb__flow_take_answers(f);
    pump(f);
    return take_step(f, scratch);
}

static void nudge_caller(zb__flow *f) {
    pthread_mutex_lock(&f->answer_lock);
    f->is_nudged = true;
    pthread_cond_signal(&f->answer_came);
    pthread_mutex_unlock(&f->answer_lock);
}

static enum zb_code help(void *context, size_t i, zb__scratch *scratch, zb_error *err) {
    (void)i;
    (void)err;
    zb__flow *f = context;
    pthread_mutex_lock(&f->lock);
    while (go_on(f, scratch))
        continue;
    f->called--;
    pthread_mutex_unlock(&f->lock);
    nudge_caller(f);
    return ZB_OK;
}

/* ---- The caller --------------------------------------------------------------------------- */

/* Tells the caller how far the flow has come, when it is time. Called with the lock, which it lets
   go meanwhile. */
static void tell(zb__flow *f) {
    zb_error error;
    if (f->code || !zb__progress_is_due(f->progress))
        return;
    const double done = zb__flow_done(f);
    pthread_mutex_unlock(&f->lock);
    const enum zb_code code = zb__progress_tell(f->progress, done, &error);
    pthread_mutex_lock(&f->lock);
    if (code)
        zb__flow_fail(f, code, &error);
}

/* Until there is one, or it is time to tell. False: the thread is not to wait. */
static bool await_answer(zb__flow *f) {
    const int64_t end = f->progress ? f->progress->next : ZB__FOR_EVER;
    enum zb__waited waited = ZB__WOKEN;
    pthread_mutex_lock(&f->answer_lock);
    while (!f->answers && !f->woken && !f->is_nudged && waited == ZB__WOKEN)
        waited = zb__wait(zb__stopper_mine(), &f->answer_came, &f->answer_lock, end);
    f->is_nudged = false;
    pthread_mutex_unlock(&f->answer_lock);
    return waited != ZB__STOPPED;
}

static void run(zb__flow *f, zb__scratch *scratch) {
    zb_error error;
    pthread_mutex_lock(&f->lock);
    for (;;) {
        while (go_on(f, scratch))
            tell(f);
        tell(f);
        if (f->code || (f->open == 0 && f->admitted == f->count))
            break;
        pthread_mutex_unlock(&f->lock);
        const bool goes_on = await_answer(f);
        pthread_mutex_lock(&f->lock);
        if (!goes_on)
            zb__flow_fail(f, zb__fail_stopped(&error), &error);
    }
    pthread_mutex_unlock(&f->lock);
}

/* Lets go of what is left after an error. */
static void stop(zb__flow *f) {
    zb__flow_cancel(f);
    while (f->chunk_reads) {
        for (zb__chunk_request *request = f->chunk_reads->all; request;
             request = request->sibling) {
            zb__in_flight_leave(&request->flight);
            zb__flow_discharge(&request->charged);
        }
        zb__flow_end_chunk_read(f, f->chunk_reads);
    }
}

static void begin_locks(zb__flow *f) {
    pthread_mutex_init(&f->lock, NULL);
    pthread_mutex_init(&f->answer_lock, NULL);
    pthread_cond_init(&f->answer_came, NULL);
}

static void end_locks(zb__flow *f) {
    pthread_mutex_destroy(&f->lock);
    pthread_mutex_destroy(&f->answer_lock);
    pthread_cond_destroy(&f->answer_came);
}

enum zb_code zb__flow_run(zb__stored_chunk *chunks, size_t count, zb__progress *progress,
                          zb_error *err) {
    zb_store *store = zb__node_store(chunks->node);
    const zb_store_hints *hints = &store->hints;
    zb__flow f = {.store = store,
                  .part = hints->part ? hints->part : UINT64_MAX,
                  .window = hints->window ? hints->window : ZB__LEAST_WINDOW,
                  .most = hints->in_flight ? hints->in_flight : IN_FLIGHT,
                  .progress = progress,
                  .is_nested = zb__progress_is_calling(),
                  .chunks = chunks,
                  .count = count};
    zb__scratch *scratch = zb__scratch_take();
    f.job = zb__pool_open(help, &f);
    if (!scratch || !f.job)
        f.code = zb_fail(&f.error, ZB_ENOMEM, "no memory for a read");
    begin_locks(&f);
    if (!f.code)
        run(&f, scratch);
    zb__pool_close(f.job);
    stop(&f);
    end_locks(&f);
    if (scratch)
        zb__scratch_put(scratch);
    if (f.code && err)
        *err = f.error;
    return f.code;
}
