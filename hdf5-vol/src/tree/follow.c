/* SPDX-License-Identifier: MIT */
/* Ranks that follow another: see follow.h. */
#include "tree/follow.h"

#include "tree/edit.h"
#include "waiting/waiting.h"

/* The order of new links is in the group's document. */
static enum zb_code unlist(vol_node *node, zb_error *err) {
    enum zb_code code = ZB_OK;
    if (node->kind == VOL_GROUP && node->zarr && !node->loose) {
        code = vol_order_flags(node) ? vol_edit_refresh(node, err) : ZB_OK;
        vol_links_set_listed(node, false);
    }
    size_t at = 0;
    for (vol_node *child; !code && (child = vol_links_opened(node, &at));)
        code = unlist(child, err);
    return code;
}

enum zb_code vol_follow_made(vol_file *file, zb_error *err) {
    return unlist(file->root, err);
}

/* A group lets go of what is not there any more before it is walked. One node may have gone since:
   its ids say so. */
static enum zb_code look_below(vol_node *node, zb_error *err) {
    enum zb_code code = vol_edit_refresh(node, err);
    if (code && code != ZB_ENOTFOUND && code != ZB_ECONFLICT)
        return code;
    if (node->kind == VOL_GROUP && node->zarr)
        vol_links_set_listed(node, false);
    size_t at = 0;
    for (vol_node *child; (child = vol_links_opened(node, &at));) {
        code = look_below(child, err);
        if (code)
            return code;
    }
    return ZB_OK;
}

enum zb_code vol_follow_change(vol_file *file, zb_error *err) {
    return look_below(file->root, err);
}

static enum zb_code forget(vol_node *node, zb_error *err) {
    enum zb_code code = ZB_OK;
    if (vol_waiting_now(node)) {
        vol_waiting_forget(node);
        code = vol_edit_refresh(node, err);
    }
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

enum zb_code vol_follow_flush(vol_file *file, zb_error *err) {
    return vol_node_each_below(file->root, forget, err);
}
