/* SPDX-License-Identifier: MIT */
/* What waits below a node, by its owners: see owners_below.h. */
#include "file/owners_below.h"

#include "attributes/node_attrs.h"
#include "dataset/writers.h"
#include "links/aliases.h"
#include "links/links.h"
#include "tree/tree.h"
#include "tree/waiting_store.h"

/* Whether more than data and attributes of the node's own waits. */
static bool has_links_waiting(const vol_node *node) {
    return vol_owners_links_changed(node) || vol_waiting_has_links(node);
}

enum zb_code vol_owners_flush_below(vol_node *node, vol_owners handle, zb_error *err) {
    zb_error unheard;
    zb_error *heard = vol_owners_concern(node, handle) ? err : &unheard;
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
    bool any = vol_owners_wait(node) && vol_owners_concern(node, handle);
    for (size_t i = 0; i < vol_links_count(node) && !any; i++)
        any = vol_links_at(node, i)->node &&
              vol_owners_wait_below(vol_links_at(node, i)->node, handle);
    return any;
}

void vol_owners_abandon_below(vol_node *node, vol_owners handles) {
    const bool alone = vol_owners_alone(node, handles);
    if (alone && (handles == VOL_OWNERS_ALL || !has_links_waiting(node))) {
        vol_waiting_forget(node);
        vol_writer_abandon(node);
        vol_node_attrs_outdate(node);
    }
    vol_owners_drop(node, handles);
    for (size_t i = 0; i < vol_links_count(node); i++)
        if (vol_links_at(node, i)->node)
            vol_owners_abandon_below(vol_links_at(node, i)->node, handles);
}
