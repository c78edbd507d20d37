/* SPDX-License-Identifier: MIT */
/* Nodes as they stand in the store: see copy_stored.h. */
#include "copy/copy_stored.h"

#include "dataset/writers_below.h"
#include "links/link_store.h"
#include "tree/edit.h"
#include "tree/side.h"
#include "tree/waiting_store.h"

#include "zarrbridge/change.h"

#include <stdlib.h>

/* The whole of it, as it stands in the store. */
static enum zb_code copy_whole(vol_node *node, const vol_place *place, vol_node **out,
                               zb_error *err) {
    vol_file *to = place->group->file;
    zb_node *made = NULL;
    char *path;
    enum zb_code code = vol_node_child_path(place->group, place->name, &path, err);
    if (!code)
        code = vol_links_store_below(node, err);
    if (!code)
        code = vol_writer_flush_below(node, err);
    if (!code)
        code = zb_node_copy(zb_node_hierarchy(node->zarr), zb_node_path(node->zarr), to->hierarchy,
                            path, err);
    const bool is_there = !code;
    if (!code)
        code = zb_node_open(to->hierarchy, path, &made, err);
    if (!code)
        code = vol_edit_add(place, made, out, err);
    if (code && is_there)
        code = vol_edit_take_back(to, path, true, code, err);
    free(path);
    return code;
}

static enum zb_code copy_group_alone(vol_node *node, const vol_place *place, vol_node **out,
                                     zb_error *err) {
    enum zb_code code = vol_links_store_below(node, err);
    if (!code)
        code = vol_waiting_flush(node, err);
    if (code)
        return code;
    const zb_json *attributes = zb_node_attributes(node->zarr);
    char *text = attributes ? zb_json_print(attributes) : NULL;
    code = !attributes || text ? vol_edit_create_group(place, text, out, err)
                               : zb_fail(err, ZB_ENOMEM, "no memory for the attributes");
    free(text);
    if (!code)
        code = zb_hidden_copy(node->zarr, (*out)->zarr, err);
    /* Its links are not in it yet. */
    return code ? code : vol_side_set(*out, VOL_SIDE_LINKS, NULL, err);
}

enum zb_code vol_copy_stored(vol_node *node, const vol_place *place, bool whole, vol_node **out,
                             zb_error *err) {
    return node->kind == VOL_GROUP && !whole ? copy_group_alone(node, place, out, err)
                                             : copy_whole(node, place, out, err);
}
