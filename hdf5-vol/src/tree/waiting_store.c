/* SPDX-License-Identifier: MIT */
/* Attributes that wait, stored: see waiting_store.h. */
#include "tree/waiting_store.h"

#include "attributes/attribute_order.h"
#include "attributes/large_attributes.h"
#include "dataset/writers.h"
#include "tree/node_life.h"
#include "tree/side.h"

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
    const zb_json *former = zb_json_get(now, VOL_SIDE);
    char *text;
    enum zb_code code = vol_side_print(node, now, &text, err);
    if (code || (!text && !former))
        return code;
    zb_attribute_edit edit = {.name = VOL_SIDE, .value = text, .checked = true};
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
