/* SPDX-License-Identifier: MIT */
/* Making a block of consolidated metadata where there is none, or one that may not be true. */
#include "change/change.h"
#include "change/consolidated.h"
#include "change/hierarchy.h"
#include "change/owed.h"
#include "node/document.h"
#include "node/node.h"
#include "node/v2.h"
#include "zarrbridge/change.h"
#include "zarrbridge/limits.h"

static enum zb_code make(zb_store *store, zb__change *change, const char *path, zb_error *err) {
    zb__document group = {.text = NULL};
    zb__text_parts text = {.count = 0};
    enum zb_code code = zb__node_outline(store, path, &group, err);
    if (!code)
        code = zb__consolidated_rebuild(store, path, &group, &text, err);
    if (!code && text.size > zb_limits_get()->consolidated_bytes)
        code = zb_fail(err, ZB_ELIMIT,
                       "consolidated metadata would have %zu bytes, above the limit "
                       "consolidated_bytes",
                       text.size);
    if (!code)
        code = zb__change_put_parts(change, path, text.part, text.count, err);
    if (!code)
        code = zb__owed_forget(store, path, err);
    zb__text_parts_free(&text);
    zb__document_free(&group);
    return code;
}

/* What is no group of version 3 is refused before anything is written. */
static enum zb_code check(zb_store *store, const char *path, zb_error *err) {
    zb_node *node;
    enum zb_code code = zb_node_open(store, path, &node, err);
    if (code)
        return code;
    code =
        node->array
            ? zb__node_blame(store, "array", path,
                             zb_fail(err, ZB_EINVAL, "only groups have consolidated metadata"), err)
            : zb_node_may_change(node, err);
    zb_node_release(node);
    return code;
}

enum zb_code zb_group_consolidate(zb_store *store, const char *path, zb_error *err) {
    zb__change change;
    enum zb_code code = check(store, path, err);
    if (!code)
        code = zb__change_begin(store, &change, err);
    if (code)
        return code;
    code = make(store, &change, path, err);
    if (code)
        zb__node_blame(store, "group", path, code, err);
    return zb__change_end(&change, code, err);
}
