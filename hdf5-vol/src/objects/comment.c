/* SPDX-License-Identifier: MIT */
/* See comment.h. */
#include "objects/comment.h"

#include "tree/side.h"

#include <stdlib.h>

const char *vol_comment(vol_node *node) {
    const char *text =
        node->is_unreadable ? NULL : zb_json_string(vol_side_get(node, ZB_HDF5_COMMENT));
    return text ? text : "";
}

static enum zb_code set(vol_node *node, const char *text, zb_error *err) {
    if (!text || !*text)
        return vol_side_set(node, ZB_HDF5_COMMENT, NULL, err);
    zb_json_writer *out = zb_json_writer_new();
    zb_json_write_string(out, text);
    char *json = zb_json_writer_end(out, NULL);
    enum zb_code code = json ? vol_side_set(node, ZB_HDF5_COMMENT, json, err)
                             : zb_fail(err, ZB_ENOMEM, "no memory for a comment");
    free(json);
    return code;
}

enum zb_code vol_comment_set(vol_node *node, const char *text, zb_error *err) {
    const enum zb_code code = set(node, text, err);
    if (code)
        zb_error_prefix(err, code, "the comment of '%s'", node->path);
    return code;
}
