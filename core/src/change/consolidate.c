/* SPDX-License-Identifier: MIT */
/* Making a block of consolidated metadata where there is none, or one that may not be true. */
#include "change/change.h"
#include "change/consolidated_block.h"
#include "change/put.h"
#include "change/write_back.h"
#include "node/document.h"
#include "node/node.h"
#include "node/v2.h"
#include "zarrbridge/change.h"
#include "zarrbridge/limits.h"

static enum zb_code make(zb_hierarchy *hierarchy, zb__change *change, const char *path,
                         zb_error *err) {
    zb__document group = {.text = NULL};
    zb__text_parts text = {.count = 0};
    enum zb_code code = zb__node_outline(hierarchy, path, &group, err);
    if (!code)
        code = zb__consolidated_rebuild(hierarchy, path, &group, &text, err);
    if (!code && text.size > zb_limits_get()->consolidated_bytes)
        code = zb_fail(err, ZB_ELIMIT,
                       "consolidated metadata would have %zu bytes, above the limit "
                       "consolidated_bytes",
                       text.size);
    if (!code)
        code = zb__change_put_parts(change, path, text.part, text.count, err);
    if (!code)
        code = zb__write_back_forget(hierarchy, path, err);
    zb__text_parts_free(&text);
    zb__document_free(&group);
    return code;
}

/* What is no group of version 3 is refused before anything is written. */
static enum zb_code check(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    zb_node *node;
    enum zb_code code = zb_node_open(hierarchy, path, &node, err);
    if (code)
        return code;
    code = node->array ? zb__node_add_context(
                             hierarchy, "array", path,
                             zb_fail(err, ZB_EINVAL, "only groups have consolidated metadata"), err)
                       : zb_node_may_change(node, err);
    zb_node_release(node);
    return code;
}

enum zb_code zb_group_consolidate(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    zb__change change;
    enum zb_code code = check(hierarchy, path, err);
    if (!code)
        code = zb__change_begin(hierarchy, &change, err);
    if (code)
        return code;
    code = make(hierarchy, &change, path, err);
    if (code)
        zb__node_add_context(hierarchy, "group", path, code, err);
    return zb__change_end(&change, code, err);
}
