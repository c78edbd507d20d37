/* SPDX-License-Identifier: MIT */
/* Whose data wait: see owners.h. */
#include "model/owners.h"

#include "model/aliases.h"
#include "model/link_order.h"
#include "model/links.h"
#include "model/named_links.h"
#include "model/node_attrs.h"
#include "model/tree.h"
#include "model/waiting_store.h"
#include "model/writers.h"

/* ---- Handles ---- */

vol_owners vol_owners_enter(vol_file *file) {
    const vol_owners is_free = ~(file->owners | VOL_OWNERS_EVERYONE);
    const vol_owners one = is_free & (~is_free + 1); /* the lowest bit */
    file->owners |= one;
    return one ? one : VOL_OWNERS_EVERYONE;
}

void vol_owners_leave(vol_file *file, vol_owners handle) {
    file->owners &= ~handle;
    file->acting &= ~handle;
}

void vol_owners_act(vol_file *file, vol_owners handle) {
    file->acting = handle;
}

/* ---- Nodes ---- */

static bool have_links_changed(const vol_node *node) {
    return vol_named_is_changed(node) || vol_order_is_changed(node) || vol_alias_is_changed(node);
}

/* Whether more than data and attributes of the node's own waits. */
static bool has_links_waiting(const vol_node *node) {
    return have_links_changed(node) || vol_waiting_has_links(node);
}

static bool waits(const vol_node *node) {
    return vol_writer_is_dirty(node) || vol_waiting_now(node) || have_links_changed(node) ||
           vol_node_attrs_wait(node);
}

void vol_owners_note(vol_node *node) {
    if (node->file->acting == 0)
        return;
    /* The owners of before were those of data that have been stored since. */
    node->owners = (waits(node) ? node->owners : 0) | node->file->acting;
}

void vol_owners_note_links(vol_node *node) {
    vol_owners_note(node);
    node->file->links_changed = true;
}

static bool concerns(const vol_node *node, vol_owners handle) {
    return !node->owners || node->owners & (handle | VOL_OWNERS_EVERYONE);
}

enum zb_code vol_owners_flush_below(vol_node *node, vol_owners handle, zb_error *err) {
    zb_error unheard;
    zb_error *heard = concerns(node, handle) ? err : &unheard;
    enum zb_code data = vol_writer_flush(node, heard);
    enum zb_code first = vol_waiting_flush(node, data ? &unheard : heard);
    first = heard == err ? (data ? data : first) : ZB_OK;
    for (size_t i = 0; i < vol_links_count(node); i++) {
        vol_node *child = vol_links_at(node, i)->node;
        enum zb_code code =
            child ? vol_owners_flush_below(child, handle, first ? &unheard : err) : ZB_OK;
        first = first ? first : code;
    }
    return first;
}

bool vol_owners_wait_below(vol_node *node, vol_owners handle) {
    bool any = waits(node) && concerns(node, handle);
    for (size_t i = 0; i < vol_links_count(node) && !any; i++)
        any = vol_links_at(node, i)->node &&
              vol_owners_wait_below(vol_links_at(node, i)->node, handle);
    return any;
}

bool vol_owners_alone(const vol_node *node, vol_owners handles) {
    return handles == VOL_OWNERS_ALL || (node->owners && !(node->owners & ~handles));
}

void vol_owners_abandon_below(vol_node *node, vol_owners handles) {
    const bool alone = vol_owners_alone(node, handles);
    if (alone && (handles == VOL_OWNERS_ALL || !has_links_waiting(node))) {
        vol_waiting_forget(node);
        vol_writer_abandon(node);
        vol_node_attrs_outdate(node);
    }
    node->owners = alone ? 0 : node->owners & ~handles;
    for (size_t i = 0; i < vol_links_count(node); i++)
        if (vol_links_at(node, i)->node)
            vol_owners_abandon_below(vol_links_at(node, i)->node, handles);
}
