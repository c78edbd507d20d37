/* SPDX-License-Identifier: MIT */
/* Whose data wait: see owners.h. */
#include "file/owners.h"

#include "attributes/attribute_list.h"
#include "links/aliases.h"
#include "links/link_entries.h"
#include "waiting/waiting.h"

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

bool vol_owners_links_changed(const vol_node *node) {
    return vol_link_entries_changed(node) || vol_order_is_changed(node) ||
           vol_alias_is_changed(node);
}

bool vol_owners_wait(const vol_node *node) {
    return vol_writer_is_dirty(node) || vol_waiting_now(node) || vol_owners_links_changed(node) ||
           vol_node_attrs_wait(node);
}

void vol_owners_note(vol_node *node) {
    if (node->file->acting == 0)
        return;
    /* The owners of before were those of data that have been stored since. */
    node->owners = (vol_owners_wait(node) ? node->owners : 0) | node->file->acting;
}

void vol_owners_note_links(vol_node *node) {
    vol_owners_note(node);
    node->file->links_changed = true;
}

bool vol_owners_alone(const vol_node *node, vol_owners handles) {
    return handles == VOL_OWNERS_ALL || (node->owners && !(node->owners & ~handles));
}

bool vol_owners_concern(const vol_node *node, vol_owners handle) {
    return !node->owners || node->owners & (handle | VOL_OWNERS_EVERYONE);
}

void vol_owners_drop(vol_node *node, vol_owners handles) {
    node->owners = vol_owners_alone(node, handles) ? 0 : node->owners & ~handles;
}
