/* SPDX-License-Identifier: MIT */
/* Copying nodes: see copy_nodes.h. */
#include "model/copy_nodes.h"

#include "model/copy_links.h"
#include "model/copy_stored.h"
#include "model/edit_attributes.h"
#include "model/links.h"
#include "model/named_paths.h"
#include "model/place_text.h"
#include "model/reference_count.h"
#include "model/scale_moves.h"
#include "model/scale_names.h"
#include "model/scales.h"
#include "model/side.h"
#include "model/unreadable.h"

#include "zarrbridge/change.h"

#include <stdlib.h>
#include <string.h>

static enum zb_code copy_shallow(vol_node *node, const vol_place *place, vol_node **out,
                                 zb_error *err) {
    enum zb_code code = vol_copy_stored(node, place, false, out, err);
    if (!code)
        code = vol_node_list(node, err);
    for (size_t i = 0; i < vol_links_count(node) && !code; i++) {
        vol_link *link = vol_links_in_order(node, true, false, i);
        vol_node *made;
        const vol_place inside = {.group = *out, .name = link->name};
        code = vol_link_open(link, err);
        if (!code && link->reason)
            code = vol_link_add_context(link, err);
        else if (!code && link->node && !link->node->is_dimension)
            code = vol_copy_stored(link->node, &inside, false, &made, err);
    }
    return code;
}

/* The names of dimensions go with them: HDF5 would see scales and labels in them, which are
   attributes. */
static enum zb_code forget_scales(vol_node *node, zb_error *err) {
    bool has_some = node->kind == VOL_DATASET && vol_side_get(node, VOL_SCALES);
    for (uint32_t d = 0; node->kind == VOL_DATASET && d < zb_node_array(node->zarr)->ndim; d++)
        has_some |= vol_scales_name_now(node, d) != NULL;
    return has_some ? vol_scales_set(node, NULL, NULL, err) : ZB_OK;
}

/* What side.h keeps besides attributes stays: links above all. */
static enum zb_code remove_attributes(vol_node *node, zb_error *err) {
    enum zb_code code = forget_scales(node, err);
    if (!code)
        code = vol_side_set(node, VOL_SIDE_ATTRIBUTES, NULL, err);
    zb_node *before = zb_node_retain(node->zarr); /* what waits may be stored meanwhile */
    for (const zb_json *one = zb_json_first(zb_node_attributes(before)); one && !code;
         one = zb_json_next(one))
        if (!vol_side_hides(node, zb_json_name(one)))
            code = vol_edit_attribute(node, zb_json_name(one), NULL, NULL, err);
    zb_node_release(before);
    if (!code && node->kind == VOL_GROUP)
        code = vol_node_list(node, err);
    for (size_t i = 0; i < vol_links_count(node) && !code; i++) {
        code = vol_link_open(vol_links_at(node, i), err);
        vol_node *child = vol_links_at(node, i)->node;
        if (!code && child && !child->is_dimension && !child->is_unreadable)
            code = remove_attributes(child, err);
    }
    return code;
}

enum zb_code vol_edit_copy(vol_node *node, const vol_place *place, const vol_copying *how,
                           vol_node **made, zb_error *err) {
    if (!node->zarr || node->is_dimension)
        return zb_fail(err, ZB_EINVAL, "'%s' is not in the store", node->path);
    if (vol_place_is_below(place->group, node))
        return zb_fail(err, ZB_EINVAL, "'%s' cannot be copied into itself", node->path);
    const bool shallow = how->shallow && node->kind == VOL_GROUP;
    enum zb_code code = vol_unreadable_refuse(node, err);
    if (!code)
        code = shallow ? copy_shallow(node, place, made, err)
                       : vol_copy_stored(node, place, true, made, err);
    if (!code)
        code = vol_copy_links(node, *made, how, err);
    if (!code && shallow) /* nodes have been copied before the other links */
        vol_links_copy_order(node, *made);
    if (!code)
        code = vol_scales_copied(node, *made, err);
    if (!code)
        code = vol_named_paths_copied(*made, node->path, err);
    if (!code)
        code = vol_reference_copied(*made, err);
    return !code && how->without_attributes ? remove_attributes(*made, err) : code;
}
