/* SPDX-License-Identifier: MIT */
/* The chunk reads of a flow, from their admission to their end. */
#include <stdatomic.h>
#include <stdlib.h>

#include "node/node.h"
#include "read/cache.h"
#include "read/flow_state.h"
#include "util/reuse.h"

/* A stored chunk whose object changes each time that it is read is begun anew this often. */
#define MOST_TRIES 3

/* Bytes under way of all flows of the process, which share the window. */
static atomic_uint_fast64_t all_charged;

/* ---- The window --------------------------------------------------------------------------- */

void zb__flow_charge(uint64_t *account, uint64_t bytes) {
    *account += bytes;
    atomic_fetch_add(&all_charged, bytes);
}

void zb__flow_discharge(uint64_t *account) {
    atomic_fetch_sub(&all_charged, *account);
    *account = 0;
}

/* On a fast link four times the bytes that come in the time of a round trip are under way, and half
   as many wait for their step. */
static uint64_t window_of(const zb__flow *f) {
    const uint64_t reach = zb_store_bandwidth_delay(f->store),
                   wanted = reach < UINT64_MAX / 6 ? 6 * reach : UINT64_MAX;
    return wanted < ZB__LEAST_WINDOW ? ZB__LEAST_WINDOW : wanted;
}

/* A flow that would do nothing at all without a request may always make one. */
bool zb__flow_has_room(const zb__flow *f, uint64_t bytes) {
    const bool is_idle = f->under_way == 0 && f->ready.count == 0 && f->stepping == 0;
    const uint64_t charged = atomic_load(&all_charged) + bytes;
    return is_idle ||
           (charged <= f->window && (charged <= ZB__LEAST_WINDOW || charged <= window_of(f)));
}

/* ---- Chunk reads --------------------------------------------------------------------------------
   */

void zb__flow_fail(zb__flow *f, enum zb_code code, const zb_error *error) {
    if (f->code)
        return;
    f->code = code;
    f->error = *error;
}

void zb__flow_add(zb__flow *f, zb__chunk_request_list *more) {
    for (zb__chunk_request *request = more->first; request;) {
        zb__chunk_request *next = request->next;
        request->sibling = request->chunk_read->all;
        request->chunk_read->all = request;
        request->chunk_read->requests++;
        zb__chunk_request_append(request->size > 0 ? &f->wanting : &f->ready, request);
        request = next;
    }
    *more = (zb__chunk_request_list){0};
}

zb__chunk_request *zb__flow_take(zb__chunk_request_list *list) {
    zb__chunk_request *request = list->first;
    if (request && !(list->first = request->next))
        list->last = NULL;
    list->count -= request != NULL;
    return request;
}

void zb__flow_admit(zb__flow *f) {
    zb__chunk_request_list more = {0};
    zb_error error;
    zb__chunk_read *chunk_read =
        zb__chunk_read_new(&f->chunks[f->admitted], f->count, f->most, &more);
    if (!chunk_read) {
        zb__flow_fail(f, zb_fail(&error, ZB_ENOMEM, "no memory for a read"), &error);
        return;
    }
    f->admitted++;
    f->open++;
    chunk_read->changes = zb_store_changes(f->store);
    chunk_read->next = f->chunk_reads;
    if (f->chunk_reads)
        f->chunk_reads->previous = chunk_read;
    f->chunk_reads = chunk_read;
    zb__flow_add(f, &more);
}

/* The part of an open chunk read's data that has come. */
static double part_of(const zb__chunk_read *chunk_read) {
    uint64_t got = 0, size = 0;
    for (const zb__chunk_request *request = chunk_read->all; request; request = request->sibling) {
        if (request->kind == ZB__REQUEST_DATA) {
            got += request->got;
            size += request->size;
        }
    }
    return size ? (double)got / (double)size : 0;
}

double zb__flow_done(const zb__flow *f) {
    double done = (double)f->done;
    for (const zb__chunk_read *chunk_read = f->chunk_reads; chunk_read;
         chunk_read = chunk_read->next)
        done += part_of(chunk_read) * (double)zb__stored_chunk_wanted(chunk_read->chunk);
    return done;
}

void zb__flow_end_chunk_read(zb__flow *f, zb__chunk_read *chunk_read) {
    zb__chunk_request_list none = {0};
    f->done += f->progress ? zb__stored_chunk_wanted(chunk_read->chunk) : 0;
    zb__flow_discharge(&chunk_read->charged);
    zb__chunk_read_reset(chunk_read, false, &none, NULL);
    if (chunk_read->previous)
        chunk_read->previous->next = chunk_read->next;
    else
        f->chunk_reads = chunk_read->next;
    if (chunk_read->next)
        chunk_read->next->previous = chunk_read->previous;
    zb__chunk_read_free(chunk_read);
    f->open--;
}

/* Begins a chunk read anew whose object is another one by now. */
static void begin_anew(zb__flow *f, zb__chunk_read *chunk_read) {
    zb__chunk_request_list more = {0};
    zb_error error;
    enum zb_code code = ZB_OK;
    zb__version_cache_drop(chunk_read->chunk);
    zb__flow_discharge(&chunk_read->charged);
    if (chunk_read->tries++ == MOST_TRIES) {
        code = zb_fail(&error, ZB_ECONFLICT, "the object is replaced each time that it is read");
        zb__stored_chunk_add_context(chunk_read->chunk, code, &error);
    } else {
        chunk_read->changes = zb_store_changes(f->store);
        code = zb__chunk_read_reset(chunk_read, true, &more, &error);
    }
    if (code)
        zb__flow_fail(f, code, &error);
    zb__flow_add(f, &more);
}

void zb__flow_end_request(zb__flow *f, zb__chunk_request *request) {
    zb__chunk_read *chunk_read = request->chunk_read;
    const bool has_come = chunk_read->version != ZB__VERSION_OUTDATED && !f->code;
    zb__in_flight_share(&request->flight, NULL, has_come ? ZB_OK : ZB_ECANCELLED, NULL);
    zb__reuse_give(request->data); /* held bytes are the chunk read's by now */
    request->data = NULL;
    zb__flow_discharge(&request->charged);
    if (--chunk_read->requests > 0 || f->code)
        return;
    if (chunk_read->version == ZB__VERSION_OUTDATED)
        begin_anew(f, chunk_read);
    else
        zb__flow_end_chunk_read(f, chunk_read);
}
