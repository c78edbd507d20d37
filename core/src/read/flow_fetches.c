/* SPDX-License-Identifier: MIT */
/* The fetches of a flow and their answers. */
#include <stdlib.h>

#include "codec/chunk_layout.h"
#include "node/current.h"
#include "node/node.h"
#include "read/cache.h"
#include "read/flow_state.h"
#include "util/reuse.h"

/* ---- Answers ------------------------------------------------------------------------------ */

/* Called by the store's threads. */
static void note_answer(void *context, zb_fetch *fetch) {
    zb__flow *f = context;
    zb__flow_fetch *r = (zb__flow_fetch *)fetch;
    pthread_mutex_lock(&f->answer_lock);
    r->answered = f->answers;
    f->answers = r;
    pthread_cond_signal(&f->answer_came);
    pthread_mutex_unlock(&f->answer_lock);
}

/* The store opened the object for this fetch, or found none (flow_state.h). */
static void take_opened(zb__chunk_read *chunk_read, const zb_fetch *fetch) {
    zb__stored_chunk *chunk = chunk_read->chunk;
    bool is_missing = fetch->code == ZB_ENOTFOUND;
    if (is_missing)
        zb__array_note_missing(chunk->node);
    if (zb__chunk_read_expects(chunk_read)) {
        const bool agrees =
            !is_missing && zb_validator_same(&fetch->info.validator, &chunk->info.validator);
        chunk_read->version = agrees ? ZB__VERSION_CONFIRMED : ZB__VERSION_OUTDATED;
    } else if (chunk_read->version != ZB__VERSION_OUTDATED) {
        chunk_read->version = is_missing ? ZB__VERSION_ABSENT : ZB__VERSION_ANSWERED;
        chunk->info = is_missing ? (zb_object_info){0} : fetch->info;
    }
    if (chunk_read->version != ZB__VERSION_OUTDATED)
        zb__version_cache_put(chunk, is_missing ? NULL : &fetch->info, chunk_read->changes);
}

/* Keeps the bytes that came, or part of them. */
static void take_bytes(zb__chunk_request *request, zb_fetch *fetch) {
    request->got += fetch->range.got;
    if (request->size != ZB_WHOLE)
        return;
    request->data = fetch->range.buffer;
    fetch->range.buffer = NULL;
    zb__flow_discharge(&request->charged);
    zb__flow_charge(&request->charged, request->got);
}

static void unlink_fetch(zb__flow *f, zb__flow_fetch *r) {
    if (r->previous)
        r->previous->next = r->next;
    else
        f->fetches = r->next;
    if (r->next)
        r->next->previous = r->previous;
    f->under_way--;
}

/* The object that the store opened stays the chunk read's, the first of them. */
static void end_fetch(zb__flow_fetch *r) {
    zb__stored_chunk *chunk = r->request->chunk_read->chunk;
    if (r->opens && r->fetch.object && !chunk->object && r->fetch.code == ZB_OK)
        chunk->object = r->fetch.object;
    else if (r->opens)
        zb_object_close(r->fetch.object);
    if (r->request->size == ZB_WHOLE)
        zb__reuse_give(r->fetch.range.buffer);
    free(r);
}

static bool is_all_requested(const zb__chunk_request *request) {
    return request->size == ZB_WHOLE ? request->requested > 0 : request->requested == request->size;
}

static void take_answer(zb__flow *f, zb__flow_fetch *r) {
    zb__chunk_request *request = r->request;
    zb__chunk_read *chunk_read = request->chunk_read;
    zb_fetch *fetch = &r->fetch;
    unlink_fetch(f, r);
    request->fetches--;
    if (r->opens && (fetch->code == ZB_OK || fetch->code == ZB_ENOTFOUND)) {
        take_opened(chunk_read, fetch);
    } else if (fetch->code == ZB_ECONFLICT || fetch->code == ZB_ENOTFOUND) {
        chunk_read->version = ZB__VERSION_OUTDATED; /* it was there when it was opened */
    } else if (fetch->code == ZB_ELIMIT && request->size == ZB_WHOLE &&
               chunk_read->chunk->layout->shard && !chunk_read->never_whole) {
        chunk_read->never_whole = true;
        chunk_read->version = ZB__VERSION_OUTDATED;
    } else if (fetch->code) {
        zb__stored_chunk_add_context(chunk_read->chunk, fetch->code, &fetch->error);
        zb__flow_fail(f, fetch->code, &fetch->error);
    }
    if (fetch->code == ZB_OK)
        take_bytes(request, fetch);
    end_fetch(r);
    if (request->fetches > 0 || !is_all_requested(request))
        return;
    if (chunk_read->version == ZB__VERSION_OUTDATED || f->code)
        zb__flow_end_request(f, request);
    else
        zb__chunk_request_append(&f->ready, request);
}

/* Called by other flows. */
static void note_wake(zb__in_flight *flight) {
    zb__chunk_request *request = (zb__chunk_request *)flight;
    zb__flow *f = request->chunk_read->flow;
    pthread_mutex_lock(&f->answer_lock);
    request->next = f->woken;
    f->woken = request;
    pthread_cond_signal(&f->answer_came);
    pthread_mutex_unlock(&f->answer_lock);
}

static bool is_same_index(const zb__in_flight *one, const zb__in_flight *other) {
    const zb__stored_chunk *a = ((const zb__chunk_request *)one)->chunk_read->chunk,
                           *b = ((const zb__chunk_request *)other)->chunk_read->chunk;
    return a->number == b->number && a->node->array->cache_id == b->node->array->cache_id;
}

/* True if the request is for an index that another read asks for: then it is left aside until that
   has come, once. Afterwards it asks itself, where the index was not kept. */
static bool waits_for_other(zb__flow *f, zb__chunk_request *request) {
    zb__chunk_read *chunk_read = request->chunk_read;
    if (f->is_nested || request->kind != ZB__REQUEST_INDEX || request->shard ||
        chunk_read->has_waited || request->flight.is_same ||
        chunk_read->chunk->number == UINT64_MAX)
        return false;
    chunk_read->flow = f;
    request->flight = (zb__in_flight){.is_same = is_same_index, .wake = note_wake};
    return !zb__in_flight_join(&request->flight);
}

void zb__flow_take_answers(zb__flow *f) {
    pthread_mutex_lock(&f->answer_lock);
    zb__flow_fetch *list = f->answers, *in_order = NULL;
    zb__chunk_request *woken = f->woken;
    f->answers = NULL;
    f->woken = NULL;
    pthread_mutex_unlock(&f->answer_lock);
    while (woken) {
        zb__chunk_request *request = woken;
        woken = request->next;
        const bool leads = request->flight.state == ZB__LEADS; /* the other read asks no more */
        if (!leads)
            zb__chunk_request_again(request);
        zb__chunk_request_append(leads ? &f->wanting : &f->ready, request);
    }
    while (list) {
        zb__flow_fetch *r = list;
        list = r->answered;
        r->answered = in_order;
        in_order = r;
    }
    while (in_order) {
        zb__flow_fetch *r = in_order;
        in_order = r->answered;
        take_answer(f, r);
    }
}

/* ---- Fetches ------------------------------------------------------------------------------ */

/* The bytes to ask for next. Of an object of unknown size that is wanted whole, what it has as a
   rule. The fetch that opens an object is not divided: all are to come from one version. */
static uint64_t next_length(const zb__flow *f, const zb__chunk_request *request) {
    const zb__chunk_read *chunk_read = request->chunk_read;
    if (request->size == ZB_WHOLE) {
        uint64_t guess = chunk_read->chunk->layout->decoded_size;
        return guess < request->most ? guess : request->most;
    }
    uint64_t left = request->size - request->requested;
    return left <= zb_part_most(f->part) ||
                   !(zb__chunk_read_expects(chunk_read) || chunk_read->chunk->object)
               ? left
               : f->part;
}

/* Makes the next fetch of a request; NULL when memory runs out. */
static zb__flow_fetch *make_fetch(zb__flow *f, zb__chunk_request *request, uint64_t length) {
    zb__flow_fetch *r = calloc(1, sizeof *r);
    if (r && request->size != ZB_WHOLE && !request->data)
        request->data = zb__reuse_take((size_t)request->size);
    if (!r || (request->size != ZB_WHOLE && !request->data)) {
        free(r);
        return NULL;
    }
    r->request = request;
    r->fetch.object = request->chunk_read->chunk->object;
    r->fetch.key = request->chunk_read->name;
    r->opens = !r->fetch.object;
    r->fetch.most = request->size == ZB_WHOLE ? request->most
                                              : request->chunk_read->chunk->layout->encoded_bound;
    if (request->size == ZB_WHOLE)
        r->fetch.range.length = ZB_WHOLE;
    else
        r->fetch.range = (zb_range){.offset = request->offset == ZB_FROM_END
                                                  ? ZB_FROM_END
                                                  : request->offset + request->requested,
                                    .length = (size_t)length,
                                    .buffer = request->data + request->requested};
    request->requested += length;
    request->fetches++;
    zb__flow_charge(&request->charged, length);
    r->next = f->fetches;
    if (f->fetches)
        f->fetches->previous = r;
    f->fetches = r;
    f->under_way++;
    return r;
}

/* The next fetch that there is room for, or NULL. Requests of chunk reads that are to be begun anew
   end here. */
static zb__flow_fetch *next_fetch(zb__flow *f) {
    zb_error error;
    for (zb__chunk_request *request;
         !f->code && f->under_way < f->most && (request = f->wanting.first);) {
        if (request->chunk_read->version == ZB__VERSION_OUTDATED) {
            zb__flow_take(&f->wanting);
            request->requested = request->size;
            if (request->fetches == 0)
                zb__flow_end_request(f, request);
            continue;
        }
        if (waits_for_other(f, request)) {
            zb__flow_take(&f->wanting);
            continue;
        }
        uint64_t length = next_length(f, request);
        if (!zb__flow_has_room(f, length))
            return NULL;
        zb__flow_fetch *r = make_fetch(f, request, length);
        if (!r)
            zb__flow_fail(f, zb_fail(&error, ZB_ENOMEM, "no memory for a request"), &error);
        else if (is_all_requested(request))
            zb__flow_take(&f->wanting);
        return r;
    }
    return NULL;
}

void zb__flow_send(zb__flow *f) {
    zb_fetch *list = NULL, **end = &list;
    zb_error error;
    for (zb__flow_fetch *r; (r = next_fetch(f)); end = &r->fetch.next)
        *end = &r->fetch;
    enum zb_code code = list ? zb_store_submit(f->store, list, note_answer, f, &error) : ZB_OK;
    if (code)
        zb__flow_fail(f, code, &error);
}

void zb__flow_cancel(zb__flow *f) {
    if (f->fetches)
        zb_store_cancel(f->store, f);
    while (f->fetches) {
        zb__flow_fetch *r = f->fetches;
        unlink_fetch(f, r);
        end_fetch(r);
    }
}
