/* SPDX-License-Identifier: MIT */
/* Attributes that wait, stored: see waiting_store.h. */
#include "tree/waiting_store.h"

#include "attributes/attribute_order.h"
#include "attributes/large_attributes.h"
#include "tree/node_life.h"
#include "tree/side.h"
#include "dataset/writers.h"

#include "zarrbridge/node_edit.h"

#include <stdlib.h>

/* Without a value: an attribute that another program has removed meanwhile needs no removal. False
   when memory runs out. */
static bool add_change(zb_node_edits *edits, const vol_change *change, const zb_json *now) {
    if (!change->name)
        return true;
    if ((!change->value || change->anew) && zb_json_get(now, change->name))
        edits->edit[edits->count++] = (zb_attribute_edit){.name = change->name};
    if (!change->value)
        return true;
    char *text = zb_json_print(change->value);
    edits->edit[edits->count++] = (zb_attribute_edit){.name = change->name, .value = text};
    return text != NULL;
}

/* `_hdf5` is made of the store's own of now, and stored only while that is the same. */
static enum zb_code add_side(zb_node_edits *edits, const vol_node *node, const zb_json *now,
                             zb_error *err) {
    const zb_json *former = zb_json_get(now, ZB_HDF5_EXTENSION);
    char *text;
    enum zb_code code = vol_side_print(node, now, &text, err);
    if (code || (!text && !former))
        return code;
    zb_attribute_edit edit = {.name = ZB_HDF5_EXTENSION, .value = text, .checked = true};
    edit.former = former ? zb_json_print(former) : NULL;
    edits->edit[edits->count++] = edit;
    return former && !edit.former ? zb_fail(err, ZB_ENOMEM, "no memory for an attribute") : ZB_OK;
}

/* A zb_node_edit_fn. */
static enum zb_code make_edits(void *context, const zb_node *now, zb_node_edits *out,
                               zb_error *err) {
    const vol_node *node = context;
    const vol_waiting *waiting = vol_waiting_now(node);
    const zb_json *attributes = zb_node_attributes(now);
    const size_t most = 2 * waiting->attributes.count + 1;
    bool complete = (out->edit = calloc(most, sizeof *out->edit)) != NULL;
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
    enum zb_code code = vol_waiting_now(node) ? vol_attribute_order_keep(node, err) : ZB_OK;
    if (code || !vol_waiting_now(node))
        return code;
    code = zb_node_edit(node->zarr, make_edits, node, &changed, err);
    if (!code)
        take(node, changed);
    return code;
}
