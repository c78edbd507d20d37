/* SPDX-License-Identifier: MIT */
/* Changing what the store has now, again and again while others change it, too. */
#include "zarrbridge/node_edit.h"

#include <stdbool.h>
#include <stdlib.h>

#include "change/change.h"

void zb_node_edits_clear(zb_node_edits *edits) {
    for (size_t i = 0; i < edits->count; i++) {
        free((char *)(uintptr_t)edits->edit[i].value);
        free((char *)(uintptr_t)edits->edit[i].former);
    }
    free(edits->edit);
    *edits = (zb_node_edits){.count = 0};
}

bool zb_node_edits_add(zb_node_edits *edits, zb_attribute_edit edit) {
    zb_attribute_edit *grown = realloc(edits->edit, (edits->count + 1) * sizeof *grown);
    if (!grown) {
        free((char *)(uintptr_t)edit.value);
        free((char *)(uintptr_t)edit.former);
        return false;
    }
    edits->edit = grown;
    edits->edit[edits->count++] = edit;
    return true;
}

enum zb_code zb_node_edits_remake(zb_node_edits *edits, const zb_json *attributes, const char *name,
                                  char *value, zb_error *err) {
    const zb_json *now = zb_json_get(attributes, name);
    char *former = now ? zb_json_print(now) : NULL;
    if (!now && !value)
        return ZB_OK;
    if (now && !former)
        free(value);
    else if (zb_node_edits_add(edits, (zb_attribute_edit){name, value, true, former}))
        return ZB_OK;
    return zb_fail(err, ZB_ENOMEM, "no memory for the attribute %s", name);
}

/* *again: what the edits were made of has changed since. An attribute that was to be removed and
   has gone counts as such a change. */
static enum zb_code try_once(const zb_node *node, zb_node_edit_fn fn, void *context, zb_node **out,
                             bool *again, zb_error *err) {
    zb_node *now = NULL;
    zb_node_edits edits = {.count = 0};
    *again = false;
    enum zb_code code = zb_node_refresh(node, &now, err);
    if (code)
        return code;
    code = fn(context, now, &edits, err);
    if (!code && edits.count > 0) {
        code = zb_node_set_attributes(node, edits.edit, edits.count, out, err);
        *again = code == ZB_ECONFLICT || code == ZB_ENOTFOUND;
    }
    zb_node_edits_clear(&edits);
    zb_node_release(now);
    return code;
}

enum zb_code zb_node_edit(const zb_node *node, zb_node_edit_fn fn, void *context, zb_node **out,
                          zb_error *err) {
    enum zb_code code = ZB_OK;
    zb_error why = {0}; /* of the last attempt: one that succeeds says nothing of those before */
    bool again = true;
    *out = NULL;
    for (int i = 0; i < ZB__EDIT_ATTEMPTS && again; i++)
        code = try_once(node, fn, context, out, &again, &why);
    if (code && err)
        *err = why;
    return code;
}
