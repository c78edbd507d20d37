/* SPDX-License-Identifier: MIT */
/* The requests of a flow and their answers. */
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
    zb__request *r = (zb__request *)fetch;
    pthread_mutex_lock(&f->answer_lock);
    r->answered = f->answers;
    f->answers = r;
    pthread_cond_signal(&f->answer_came);
    pthread_mutex_unlock(&f->answer_lock);
}

/* The store opened the object for this request, or found none (flow_state.h). */
static void take_opened(zb__item *item, const zb_fetch *fetch) {
    zb__stored_chunk *chunk = item->chunk;
    bool is_missing = fetch->code == ZB_ENOTFOUND;
    if (is_missing)
        zb__array_note_missing(chunk->node);
    if (zb__item_expects(item)) {
        const bool agrees =
            !is_missing && zb_validator_same(&fetch->info.validator, &chunk->info.validator);
        item->version = agrees ? ZB__VERSION_CONFIRMED : ZB__VERSION_OUTDATED;
    } else if (item->version != ZB__VERSION_OUTDATED) {
        item->version = is_missing ? ZB__VERSION_ABSENT : ZB__VERSION_ANSWERED;
        chunk->info = is_missing ? (zb_object_info){0} : fetch->info;
    }
    if (item->version != ZB__VERSION_OUTDATED)
        zb__known_note(chunk, is_missing ? NULL : &fetch->info, item->changes);
}

/* Keeps the bytes that came, or part of them. */
static void take_bytes(zb__ask *ask, zb_fetch *fetch) {
    ask->got += fetch->range.got;
    if (ask->size != ZB_WHOLE)
        return;
    ask->data = fetch->range.buffer;
    fetch->range.buffer = NULL;
    zb__flow_discharge(&ask->charged);
    zb__flow_charge(&ask->charged, ask->got);
}

static void unlink_request(zb__flow *f, zb__request *r) {
    if (r->previous)
        r->previous->next = r->next;
    else
        f->requests = r->next;
    if (r->next)
        r->next->previous = r->previous;
    f->under_way--;
}

/* The object that the store opened stays the item's, the first of them. */
static void end_request(zb__request *r) {
    zb__stored_chunk *chunk = r->ask->item->chunk;
    if (r->opens && r->fetch.object && !chunk->object && r->fetch.code == ZB_OK)
        chunk->object = r->fetch.object;
    else if (r->opens)
        zb_object_close(r->fetch.object);
    if (r->ask->size == ZB_WHOLE)
        zb__reuse_give(r->fetch.range.buffer);
    free(r);
}

static bool is_all_asked(const zb__ask *ask) {
    return ask->size == ZB_WHOLE ? ask->asked > 0 : ask->asked == ask->size;
}

static void take_answer(zb__flow *f, zb__request *r) {
    zb__ask *ask = r->ask;
    zb__item *item = ask->item;
    zb_fetch *fetch = &r->fetch;
    unlink_request(f, r);
    ask->requests--;
    if (r->opens && (fetch->code == ZB_OK || fetch->code == ZB_ENOTFOUND)) {
        take_opened(item, fetch);
    } else if (fetch->code == ZB_ECONFLICT || fetch->code == ZB_ENOTFOUND) {
        item->version = ZB__VERSION_OUTDATED; /* it was there when it was opened */
    } else if (fetch->code == ZB_ELIMIT && ask->size == ZB_WHOLE && item->chunk->layout->shard &&
               !item->never_whole) {
        item->never_whole = true;
        item->version = ZB__VERSION_OUTDATED;
    } else if (fetch->code) {
        zb__stored_chunk_add_context(item->chunk, fetch->code, &fetch->error);
        zb__flow_fail(f, fetch->code, &fetch->error);
    }
    if (fetch->code == ZB_OK)
        take_bytes(ask, fetch);
    end_request(r);
    if (ask->requests > 0 || !is_all_asked(ask))
        return;
    if (item->version == ZB__VERSION_OUTDATED || f->code)
        zb__flow_end_ask(f, ask);
    else
        zb__ask_append(&f->ready, ask);
}

/* Called by other flows. */
static void note_wake(zb__in_flight *flight) {
    zb__ask *ask = (zb__ask *)flight;
    zb__flow *f = ask->item->flow;
    pthread_mutex_lock(&f->answer_lock);
    ask->next = f->woken;
    f->woken = ask;
    pthread_cond_signal(&f->answer_came);
    pthread_mutex_unlock(&f->answer_lock);
}

static bool is_same_index(const zb__in_flight *one, const zb__in_flight *other) {
    const zb__stored_chunk *a = ((const zb__ask *)one)->item->chunk,
                           *b = ((const zb__ask *)other)->item->chunk;
    return a->number == b->number && a->node->array->cache_id == b->node->array->cache_id;
}

/* True if the ask is for an index that another read asks for: then it is left aside until that has
   come, once. Afterwards it asks itself, where the index was not kept. */
static bool waits_for_other(zb__flow *f, zb__ask *ask) {
    zb__item *item = ask->item;
    if (ask->kind != ZB__ASK_INDEX || ask->shard || item->has_waited || ask->flight.is_same ||
        item->chunk->number == UINT64_MAX)
        return false;
    item->flow = f;
    ask->flight = (zb__in_flight){.is_same = is_same_index, .wake = note_wake};
    return !zb__in_flight_join(&ask->flight);
}

void zb__flow_take_answers(zb__flow *f) {
    pthread_mutex_lock(&f->answer_lock);
    zb__request *list = f->answers, *in_order = NULL;
    zb__ask *woken = f->woken;
    f->answers = NULL;
    f->woken = NULL;
    pthread_mutex_unlock(&f->answer_lock);
    while (woken) {
        zb__ask *ask = woken;
        woken = ask->next;
        const bool leads = ask->flight.state == ZB__LEADS; /* the other read asks no more */
        if (!leads)
            zb__ask_again(ask);
        zb__ask_append(leads ? &f->wanting : &f->ready, ask);
    }
    while (list) {
        zb__request *r = list;
        list = r->answered;
        r->answered = in_order;
        in_order = r;
    }
    while (in_order) {
        zb__request *r = in_order;
        in_order = r->answered;
        take_answer(f, r);
    }
}

/* ---- Requests ----------------------------------------------------------------------------- */

/* The bytes to ask for next. Of an object of unknown size that is wanted whole, what it has as a
   rule. The request that opens an object is not divided: all are to come from one version. */
static uint64_t next_length(const zb__flow *f, const zb__ask *ask) {
    const zb__item *item = ask->item;
    if (ask->size == ZB_WHOLE) {
        uint64_t guess = item->chunk->layout->decoded_size;
        return guess < ask->most ? guess : ask->most;
    }
    uint64_t left = ask->size - ask->asked;
    return left <= zb_part_most(f->part) || !(zb__item_expects(item) || item->chunk->object)
               ? left
               : f->part;
}

/* Makes the next request of an ask; NULL when memory runs out. */
static zb__request *make_request(zb__flow *f, zb__ask *ask, uint64_t length) {
    zb__request *r = calloc(1, sizeof *r);
    if (r && ask->size != ZB_WHOLE && !ask->data)
        ask->data = zb__reuse_take((size_t)ask->size);
    if (!r || (ask->size != ZB_WHOLE && !ask->data)) {
        free(r);
        return NULL;
    }
    r->ask = ask;
    r->fetch.object = ask->item->chunk->object;
    r->fetch.key = ask->item->name;
    r->opens = !r->fetch.object;
    r->fetch.most = ask->size == ZB_WHOLE ? ask->most : ask->item->chunk->layout->encoded_bound;
    if (ask->size == ZB_WHOLE)
        r->fetch.range.length = ZB_WHOLE;
    else
        r->fetch.range = (zb_range){.offset = ask->offset == ZB_FROM_END ? ZB_FROM_END
                                                                         : ask->offset + ask->asked,
                                    .length = (size_t)length,
                                    .buffer = ask->data + ask->asked};
    ask->asked += length;
    ask->requests++;
    zb__flow_charge(&ask->charged, length);
    r->next = f->requests;
    if (f->requests)
        f->requests->previous = r;
    f->requests = r;
    f->under_way++;
    return r;
}

/* The next request that there is room for, or NULL. Asks of items that are to be begun anew end
   here. */
static zb__request *next_request(zb__flow *f) {
    zb_error error;
    for (zb__ask *ask; !f->code && f->under_way < f->most && (ask = f->wanting.first);) {
        if (ask->item->version == ZB__VERSION_OUTDATED) {
            zb__flow_take(&f->wanting);
            ask->asked = ask->size;
            if (ask->requests == 0)
                zb__flow_end_ask(f, ask);
            continue;
        }
        if (waits_for_other(f, ask)) {
            zb__flow_take(&f->wanting);
            continue;
        }
        uint64_t length = next_length(f, ask);
        if (!zb__flow_has_room(f, length))
            return NULL;
        zb__request *r = make_request(f, ask, length);
        if (!r)
            zb__flow_fail(f, zb_fail(&error, ZB_ENOMEM, "no memory for a request"), &error);
        else if (is_all_asked(ask))
            zb__flow_take(&f->wanting);
        return r;
    }
    return NULL;
}

void zb__flow_send(zb__flow *f) {
    zb_fetch *list = NULL, **end = &list;
    zb_error error;
    for (zb__request *r; (r = next_request(f)); end = &r->fetch.next)
        *end = &r->fetch;
    enum zb_code code = list ? zb_store_submit(f->store, list, note_answer, f, &error) : ZB_OK;
    if (code)
        zb__flow_fail(f, code, &error);
}

void zb__flow_cancel(zb__flow *f) {
    if (f->requests)
        zb_store_cancel(f->store, f);
    while (f->requests) {
        zb__request *r = f->requests;
        unlink_request(f, r);
        end_request(r);
    }
}
