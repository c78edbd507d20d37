/* SPDX-License-Identifier: MIT */
/* Storing what waits: see waiting_store.h. */
#include "tree/waiting_store.h"

#include "attributes/attribute_list.h"
#include "attributes/attribute_order.h"
#include "attributes/large_attributes.h"
#include "dataset/writers.h"
#include "links/aliases.h"
#include "links/links.h"
#include "tree/node_life.h"
#include "tree/side.h"
#include "tree/tree.h"

#include "zarrbridge/change.h"

#include <stdlib.h>

/* The edits of one change of the document, with the texts in them. */
typedef struct edits {
    zb_attribute_edit *edit;
    size_t count;
    bool failed; /* memory ran out */
} edits;

static void edits_clear(edits *e) {
    for (size_t i = 0; i < e->count; i++) {
        free((char *)(uintptr_t)e->edit[i].value);
        free((char *)(uintptr_t)e->edit[i].former);
    }
    free(e->edit);
}

/* Without a value: an attribute that another program has removed meanwhile needs no removal. */
static void add_change(edits *e, const vol_change *change, const zb_json *now) {
    if (!change->name)
        return;
    if ((!change->value || change->anew) && zb_json_get(now, change->name))
        e->edit[e->count++] = (zb_attribute_edit){.name = change->name};
    if (!change->value)
        return;
    char *text = zb_json_print(change->value);
    e->failed |= !text;
    e->edit[e->count++] = (zb_attribute_edit){.name = change->name, .value = text};
}

/* `_hdf5` is made of the store's own of now, and stored only while that is the same. */
static enum zb_code add_side(edits *e, const vol_node *node, const zb_json *now, zb_error *err) {
    const zb_json *former = zb_json_get(now, ZB_HDF5_EXTENSION);
    char *text;
    enum zb_code code = vol_side_print(node, now, &text, err);
    if (code || (!text && !former))
        return code;
    zb_attribute_edit edit = {.name = ZB_HDF5_EXTENSION, .value = text, .checked = true};
    edit.former = former ? zb_json_print(former) : NULL;
    e->failed |= former && !edit.former;
    e->edit[e->count++] = edit;
    return ZB_OK;
}

static enum zb_code make_edits(const vol_node *node, const zb_json *now, edits *out,
                               zb_error *err) {
    const vol_waiting *waiting = vol_waiting_now(node);
    const size_t most = 2 * waiting->attributes.count + 1;
    *out = (edits){.edit = calloc(most, sizeof *out->edit)};
    if (!out->edit)
        return zb_fail(err, ZB_ENOMEM, "no memory for the attributes of %s", node->path);
    for (size_t i = 0; i < waiting->attributes.count; i++)
        add_change(out, &waiting->attributes.change[i], now);
    enum zb_code code = ZB_OK;
    if (waiting->members.count > 0 || waiting->entries.count > 0 || waiting->links.count > 0)
        code = add_side(out, node, now, err);
    if (!code && out->failed)
        code = zb_fail(err, ZB_ENOMEM, "no memory for the attributes of %s", node->path);
    return code;
}

/* One attempt. ZB_ECONFLICT when another program has changed `_hdf5` in between. */
static enum zb_code store(vol_node *node, zb_error *err) {
    zb_node *now, *changed = NULL;
    edits e;
    enum zb_code code = zb_node_refresh(node->zarr, &now, err);
    if (code)
        return code;
    code = make_edits(node, zb_node_attributes(now), &e, err);
    if (!code && e.count > 0)
        code = zb_node_set_attributes(node->zarr, e.edit, e.count, &changed, err);
    edits_clear(&e);
    zb_node_release(now);
    if (code)
        return code;
    size_t count;
    char **arrays = vol_waiting_take_arrays(node, &count);
    vol_waiting_forget(node);
    /* Another program may have made a dataset larger. A writer that cannot go on with the shape of
       now keeps its data, and says so when it is flushed. */
    if (changed) {
        (void)vol_writer_after_resize(node, changed, NULL);
        vol_node_replace(node, changed);
    }
    vol_large_sweep(node, arrays, count);
    vol_waiting_free_arrays(arrays, count);
    return ZB_OK;
}

enum zb_code vol_waiting_flush(vol_node *node, zb_error *err) {
    enum { ATTEMPTS = 10 };
    enum zb_code code = vol_waiting_now(node) ? vol_attribute_order_keep(node, err) : ZB_OK;
    if (code || !vol_waiting_now(node))
        return code;
    for (int i = 0; i < ATTEMPTS; i++)
        if ((code = store(node, err)) != ZB_ECONFLICT)
            break;
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
