/* SPDX-License-Identifier: MIT */
/* Storing what waits: see waiting_store.h. */
#include "waiting/waiting_store.h"

#include "attributes/attribute_list.h"
#include "attributes/attribute_order.h"
#include "attributes/large_attributes.h"
#include "dataset/writers.h"
#include "links/aliases.h"
#include "links/links.h"
#include "tree/node_life.h"
#include "tree/side.h"
#include "tree/tree.h"

#include "zarrbridge/node_edit.h"

#include <stdlib.h>

/* Without a value: an attribute that another program has removed meanwhile needs no removal. False
   when memory runs out. */
static bool add_change(zb_node_edits *edits, const vol_change *change, const zb_json *now) {
    if (!change->name)
        return true;
    if ((!change->value || change->anew) && zb_json_get(now, change->name) &&
        !zb_node_edits_add(edits, (zb_attribute_edit){.name = change->name}))
        return false;
    if (!change->value)
        return true;
    char *text = zb_json_print(change->value);
    return text && zb_node_edits_add(edits, (zb_attribute_edit){change->name, .value = text});
}

/* `_hdf5` is made of the store's own of now, and stored only while that is the same. */
static enum zb_code add_side(zb_node_edits *edits, const vol_node *node, const zb_json *now,
                             zb_error *err) {
    char *text;
    const enum zb_code code = vol_side_print(node, now, &text, err);
    return code ? code : zb_node_edits_remake(edits, now, ZB_HDF5_EXTENSION, text, err);
}

/* A zb_node_edit_fn. */
static enum zb_code make_edits(void *context, const zb_node *now, zb_node_edits *out,
                               zb_error *err) {
    const vol_node *node = context;
    const vol_waiting *waiting = vol_waiting_now(node);
    const zb_json *attributes = zb_node_attributes(now);
    bool complete = true;
    for (size_t i = 0; i < waiting->attributes.count && complete; i++)
        complete = add_change(out, &waiting->attributes.change[i], attributes);
    if (!complete)
        return zb_fail(err, ZB_ENOMEM, "no memory for the attributes of %s", node->path);
    if (waiting->members.count > 0 || waiting->entries.count > 0 || waiting->links.count > 0)
        return add_side(out, node, attributes, err);
    return ZB_OK;
}

/* What waited is in the store. Another program may have made a dataset larger: a writer that cannot
   go on with the shape of now keeps its data, and says so when it is flushed. */
static void take(vol_node *node, zb_node *changed) {
    size_t count;
    char **arrays = vol_waiting_take_arrays(node, &count);
    vol_waiting_forget(node);
    if (changed) {
        (void)vol_writer_after_resize(node, changed, NULL);
        vol_node_replace(node, changed);
    }
    vol_large_sweep(node, arrays, count);
    vol_waiting_free_arrays(arrays, count);
}

enum zb_code vol_waiting_flush(vol_node *node, zb_error *err) {
    zb_node *changed;
    if (!vol_waiting_now(node) || !h5_ranks_lead(node->file->ranks))
        return ZB_OK; /* rank 0 stores the same (follow.h) */
    enum zb_code code = vol_attribute_order_keep(node, err);
    if (code)
        return code;
    code = zb_node_edit(node->zarr, make_edits, node, &changed, err);
    if (!code)
        take(node, changed);
    return code;
}

/* ---- A node and all below it ---- */

static enum zb_code flush_all(vol_node *node, zb_error *err) {
    zb_error other;
    enum zb_code data = vol_writer_flush(node, err);
    enum zb_code attributes = vol_waiting_flush(node, data ? &other : err);
    return data ? data : attributes;
}

enum zb_code vol_writer_flush_below(vol_node *node, zb_error *err) {
    return vol_node_each_below(node, flush_all, err);
}

static enum zb_code close_all(vol_node *node, zb_error *err) {
    enum zb_code code = vol_writer_close(node, err);
    return code ? code : vol_waiting_flush(node, err);
}

enum zb_code vol_writer_close_below(vol_node *node, zb_error *err) {
    return vol_node_each_below(node, close_all, err);
}

static enum zb_code abandon_all(vol_node *node, zb_error *err) {
    (void)err;
    vol_waiting_forget(node);
    vol_writer_abandon(node);
    return ZB_OK;
}

void vol_writer_abandon_below(vol_node *node) {
    vol_node_each_below(node, abandon_all, NULL);
}

/* ---- By owners ---- */

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
    size_t at = 0;
    for (vol_node *child; (child = vol_links_opened(node, &at));) {
        const enum zb_code code = vol_owners_flush_below(child, handle, first ? &unheard : err);
        first = first ? first : code;
    }
    return first;
}

bool vol_owners_wait_below(vol_node *node, vol_owners handle) {
    bool any = vol_owners_wait(node) && vol_owners_concern(node, handle);
    size_t at = 0;
    for (vol_node *child; !any && (child = vol_links_opened(node, &at));)
        any = vol_owners_wait_below(child, handle);
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
    size_t at = 0;
    for (vol_node *child; (child = vol_links_opened(node, &at));)
        vol_owners_abandon_below(child, handles);
}
