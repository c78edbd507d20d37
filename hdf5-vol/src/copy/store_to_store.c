/* SPDX-License-Identifier: MIT */
/*
 * H5Ocopy within a store and from store to store: nodes are copied as they stand in the store, a
 * group with all below it at once, and then what must not stay as it stood: links, and what tells
 * paths.
 */
#include "copy/walk.h"

#include "waiting/edit_attribute.h"
#include "attributes/write.h"
#include "copy/references.h"
#include "dataset/unreadable.h"
#include "file/forget.h"
#include "hdf5/errors.h"
#include "links/link_store.h"
#include "links/links.h"
#include "links/place_text.h"
#include "objects/committed_paths.h"
#include "objects/reference_count.h"
#include "scales/scale_moves.h"
#include "scales/scale_names.h"
#include "scales/scales.h"
#include "tree/moved.h"
#include "tree/side.h"
#include "waiting/waiting_store.h"

#include "zarrbridge/change.h"

#include <stdlib.h>
#include <string.h>

/* ---- Nodes as they stand ---- */

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
    return code ? code : vol_side_set(*out, ZB_HDF5_LINKS, NULL, err);
}

/* Copies a node with all below it; or, not `whole`, a group alone, without its links. */
static enum zb_code copy_stored(vol_node *node, const vol_place *place, bool whole, vol_node **out,
                                zb_error *err) {
    return node->kind == VOL_GROUP && !whole ? copy_group_alone(node, place, out, err)
                                             : copy_whole(node, place, out, err);
}

/* ---- Objects ---- */

/* Whether nodes below a copied group came with it. */
static bool is_whole(const vol_copy *copy) {
    return !(copy->flags & H5O_COPY_SHALLOW_HIERARCHY_FLAG) || copy->first->node->kind != VOL_GROUP;
}

/* Datasets of dimensions are made anew, and what cannot be read is in the copy as it is. */
static bool passes(const vol_copy *copy, const vol_copy_link *link) {
    const vol_node *node = link->stored->node;
    return link->is_place &&
           ((node && node->is_dimension) || (is_whole(copy) && (!node || node->is_unreadable)));
}

/* Whether the copy of the node's group has brought one of the node. */
static bool is_there(const vol_copy *copy, const vol_node *node, const vol_copy_place *at) {
    return is_whole(copy) && at->group && node->parent == at->group->node &&
           strcmp(node->name, at->name) == 0;
}

/* The node that was brought; *out stays where another process has deleted the original before. */
static enum zb_code find_brought(const vol_place *place, vol_node **out, zb_error *err) {
    vol_link *link;
    enum zb_code code = vol_child_find(place->group, place->name, &link, err);
    if (!code)
        code = vol_link_open(link, err);
    if (!code)
        *out = link->node;
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

/* A node outside of what is copied gets a copy where a link leads to it. */
static enum zb_code check_outside(const vol_copy *copy, const vol_node *node,
                                  const vol_copy_place *at, zb_error *err) {
    if (!at->group || (!vol_place_is_below(copy->first->node, node) &&
                       !vol_place_is_below(at->group->copy, node)))
        return ZB_OK;
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "'%s' in %s leads to %s, which holds what is to be copied: copy that instead",
                   at->name, at->group->node->path, node->path);
}

static herr_t make(vol_copy *copy, const vol_copy_object *object, const vol_copy_place *at,
                   vol_copied *out) {
    const vol_place place = vol_copy_store_place(copy, at);
    zb_error err = {0};
    enum zb_code code;
    if (is_there(copy, object->node, at)) {
        code = find_brought(&place, &out->copy, &err);
    } else {
        code = check_outside(copy, object->node, at, &err);
        if (!code)
            code = vol_unreadable_refuse(object->node, &err);
        if (!code)
            code = copy_stored(object->node, &place, is_whole(copy), &out->copy, &err);
    }
    return code ? vol_push_making(copy->lib, *copy->lib->H5E_CANTCOPY_g, &err) : 0;
}

/* ---- Attributes ---- */

/* The names of dimensions go with them: HDF5 would see scales and labels in them, which are
   attributes. */
static enum zb_code forget_scales(vol_node *node, zb_error *err) {
    bool has_some = node->kind == VOL_DATASET && vol_side_get(node, ZB_HDF5_SCALES);
    for (uint32_t d = 0; node->kind == VOL_DATASET && d < zb_node_array(node->zarr)->ndim; d++)
        has_some |= vol_scales_name_now(node, d) != NULL;
    return has_some ? vol_scales_set(node, NULL, NULL, err) : ZB_OK;
}

/* What side.h keeps besides attributes stays: links above all. */
static enum zb_code remove_attributes(vol_node *node, zb_error *err) {
    enum zb_code code = forget_scales(node, err);
    if (!code)
        code = vol_side_set(node, ZB_HDF5_ATTRIBUTE_LIST, NULL, err);
    zb_node *before = zb_node_retain(node->zarr); /* what waits may be stored meanwhile */
    for (const zb_json *one = zb_json_first(zb_node_attributes(before)); one && !code;
         one = zb_json_next(one))
        if (!vol_side_hides(node, zb_json_name(one)))
            code = vol_edit_attribute(node, zb_json_name(one), NULL, NULL, err);
    zb_node_release(before);
    return code;
}

/* All of them came with the node. */
static herr_t complete(vol_copy *copy, const vol_copy_object *object, vol_copied *copied,
                       bool attributes) {
    zb_error err = {0};
    (void)object;
    return attributes || remove_attributes(copied->copy, &err) == ZB_OK
               ? 0
               : vol_push_making(copy->lib, *copy->lib->H5E_CANTCOPY_g, &err);
}

/* ---- Links ---- */

/* Where the copy of a group has brought a second copy of the node, that one goes. */
static herr_t link_again(vol_copy *copy, const vol_copy_place *at, const vol_copied *copied) {
    const vol_place place = vol_copy_store_place(copy, at);
    zb_error err = {0};
    vol_link *brought;
    if (is_there(copy, copied->node, at) &&
        vol_child_find(place.group, place.name, &brought, NULL) == ZB_OK &&
        vol_edit_delete(brought, &err) != ZB_OK)
        return vol_copy_failed(copy->lib, at->name, &err);
    return vol_copy_link_in_store(copy, at, copied);
}

/* ---- What leads from node to node ---- */

/* A dataset of a dimension has been made anew in the copy of its group. */
static vol_node *copy_of(void *context, const vol_node *node) {
    const vol_copied *copied = vol_copy_of(context, node);
    vol_node *group = node->is_dimension ? copy_of(context, node->parent) : NULL;
    vol_link *link;
    if (!group || vol_child_find(group, node->name, &link, NULL) != ZB_OK)
        return copied ? copied->copy : NULL;
    return link->node;
}

/* References are names (tree/moved.h), which in another store lead to no object, or to another one.
   As HDF5 does, they become null there, unless what was copied has kept its path and nothing that
   is referred to has moved in either store. */
static bool keeps_references(const vol_copied *top) {
    vol_file *from = top->node->file, *to = top->copy->file;
    return from == to || (strcmp(top->node->path, top->copy->path) == 0 &&
                          vol_moved_is_plain(from) && vol_moved_is_plain(to));
}

static enum zb_code finish_one(vol_copy *copy, const vol_copied *one, zb_error *err) {
    const vol_copies copies = {.top = copy->first->node, .copy_of = copy_of, .context = copy};
    enum zb_code code = vol_scales_copied(&copies, one->node, one->copy, err);
    if (!code)
        code = vol_committed_paths_copied(&copies, one->copy, err);
    return code ? code : vol_reference_copied(one->copy, err);
}

static herr_t finish(vol_copy *copy) {
    const vol_copied *top = copy->first;
    zb_error err = {0};
    herr_t result = 0;
    if (!is_whole(copy)) /* nodes have been copied before the other links */
        vol_links_copy_order(top->node, top->copy);
    vol_scales_before_copies(top->node->file, top->copy->file);
    for (const vol_copied *one = top; one && result >= 0; one = one->next)
        if (one->copy && finish_one(copy, one, &err) != ZB_OK)
            result = vol_push_making(copy->lib, *copy->lib->H5E_CANTCOPY_g, &err);
    const bool keeps = result < 0 || keeps_references(top);
    for (const vol_copied *one = keeps ? NULL : top; one && result >= 0; one = one->next)
        if (one->copy)
            result = vol_references_change(one->copy, &vol_references_null);
    return result;
}

static const vol_copy_target into_store = {.has_places = true,
                                           .passes = passes,
                                           .make = make,
                                           .complete = complete,
                                           .link_again = link_again,
                                           .make_link = vol_copy_value_in_store,
                                           .finish = finish};

/* ---- All ---- */

static enum zb_code check_top(const vol_node *node, const vol_place *place, zb_error *err) {
    if (!node->zarr || node->is_dimension)
        return zb_fail(err, ZB_EINVAL, "'%s' is not in the store", node->path);
    if (vol_place_is_below(place->group, node))
        return zb_fail(err, ZB_EINVAL, "'%s' cannot be copied into itself", node->path);
    return ZB_OK;
}

herr_t vol_copy_in_stores(vol_node *node, const vol_place *place, const vol_copy_request *request,
                          vol_node **begun) {
    h5_lib *lib = request->to->lib;
    vol_copy copy = {.from = &vol_copy_store, .to = &into_store, .place = place};
    const vol_copy_object top = vol_copy_node(&copy, node);
    vol_file *files[] = {node->file, place->group->file};
    zb_error err = {0};
    if (check_top(node, place, &err) != ZB_OK)
        return vol_push_making(lib, *lib->H5E_CANTCOPY_g, &err);
    vol_file_hold(files[0]);
    vol_file_hold(files[1]);
    herr_t result = vol_attr_store_unwritten_below(node);
    if (result >= 0)
        result = vol_copy_begin(&copy, request);
    if (result >= 0)
        result = vol_copy_run(&copy, &top);
    if (copy.first)
        *begun = copy.first->copy;
    vol_copy_end(&copy);
    vol_file_let_go(files[1]);
    vol_file_let_go(files[0]);
    return result;
}
