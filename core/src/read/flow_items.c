/* SPDX-License-Identifier: MIT */
/* The items of a flow, from their admission to their end. */
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
    const uint64_t reach = zb_store_reach(f->store),
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

/* ---- Items -------------------------------------------------------------------------------- */

void zb__flow_fail(zb__flow *f, enum zb_code code, const zb_error *error) {
    if (f->code)
        return;
    f->code = code;
    f->error = *error;
}

void zb__flow_add(zb__flow *f, zb__ask_list *more) {
    for (zb__ask *ask = more->first; ask;) {
        zb__ask *next = ask->next;
        ask->sibling = ask->item->all;
        ask->item->all = ask;
        ask->item->asks++;
        zb__ask_append(ask->size > 0 ? &f->wanting : &f->ready, ask);
        ask = next;
    }
    *more = (zb__ask_list){0};
}

zb__ask *zb__flow_take(zb__ask_list *list) {
    zb__ask *ask = list->first;
    if (ask && !(list->first = ask->next))
        list->last = NULL;
    list->count -= ask != NULL;
    return ask;
}

void zb__flow_admit(zb__flow *f) {
    zb__ask_list more = {0};
    zb_error error;
    zb__item *item = zb__item_new(&f->chunks[f->admitted], &more);
    if (!item) {
        zb__flow_fail(f, zb_fail(&error, ZB_ENOMEM, "no memory for a read"), &error);
        return;
    }
    f->admitted++;
    f->open++;
    item->changes = zb_store_changes(f->store);
    item->next = f->items;
    if (f->items)
        f->items->previous = item;
    f->items = item;
    zb__flow_add(f, &more);
}

/* The part of an open item's data that has come. */
static double part_of(const zb__item *item) {
    uint64_t got = 0, size = 0;
    for (const zb__ask *ask = item->all; ask; ask = ask->sibling) {
        if (ask->kind == ZB__ASK_DATA) {
            got += ask->got;
            size += ask->size;
        }
    }
    return size ? (double)got / (double)size : 0;
}

double zb__flow_done(const zb__flow *f) {
    double done = (double)f->done;
    for (const zb__item *item = f->items; item; item = item->next)
        done += part_of(item) * (double)zb__stored_chunk_wanted(item->chunk);
    return done;
}

void zb__flow_end_item(zb__flow *f, zb__item *item) {
    zb__ask_list none = {0};
    f->done += f->progress ? zb__stored_chunk_wanted(item->chunk) : 0;
    zb__flow_discharge(&item->charged);
    zb__item_reset(item, false, &none, NULL);
    if (item->previous)
        item->previous->next = item->next;
    else
        f->items = item->next;
    if (item->next)
        item->next->previous = item->previous;
    zb__item_free(item);
    f->open--;
}

/* Begins an item anew whose object is another one by now. */
static void begin_anew(zb__flow *f, zb__item *item) {
    zb__ask_list more = {0};
    zb_error error;
    enum zb_code code = ZB_OK;
    zb__known_forget(item->chunk);
    zb__flow_discharge(&item->charged);
    if (item->tries++ == MOST_TRIES) {
        code = zb_fail(&error, ZB_ECONFLICT, "the object is replaced each time that it is read");
        zb__stored_chunk_add_context(item->chunk, code, &error);
    } else {
        item->changes = zb_store_changes(f->store);
        code = zb__item_reset(item, true, &more, &error);
    }
    if (code)
        zb__flow_fail(f, code, &error);
    zb__flow_add(f, &more);
}

void zb__flow_end_ask(zb__flow *f, zb__ask *ask) {
    zb__item *item = ask->item;
    const bool has_come = item->version != ZB__VERSION_OUTDATED && !f->code;
    zb__in_flight_share(&ask->flight, NULL, has_come ? ZB_OK : ZB_ECANCELLED, NULL);
    zb__reuse_give(ask->data); /* held bytes are the item's by now */
    ask->data = NULL;
    zb__flow_discharge(&ask->charged);
    if (--item->asks > 0 || f->code)
        return;
    if (item->version == ZB__VERSION_OUTDATED)
        begin_anew(f, item);
    else
        zb__flow_end_item(f, item);
}
