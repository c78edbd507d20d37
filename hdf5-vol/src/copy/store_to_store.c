/* SPDX-License-Identifier: MIT */
/* Copies from store to store: see store_to_store.h. */
#include "copy/store_to_store.h"

#include "attributes/edit_attributes.h"
#include "dataset/unreadable.h"
#include "links/aliases.h"
#include "links/edit_links.h"
#include "links/link_store.h"
#include "links/links.h"
#include "links/place_text.h"
#include "objects/committed_paths.h"
#include "objects/paths.h"
#include "objects/reference_count.h"
#include "scales/scale_moves.h"
#include "scales/scale_names.h"
#include "scales/scales.h"
#include "tree/edit.h"
#include "tree/map.h"
#include "tree/side.h"
#include "tree/waiting_store.h"

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

/* ---- Links ---- */

typedef struct copy_job {
    vol_node *top; /* where the copy began */
    const vol_copying *how;
    bool shallow;      /* the top is a group, of which no group's content is copied */
    vol_map copies;    /* from the tokens of nodes that were copied with all below them */
    vol_node **copied; /* these nodes, in the order of copying */
    size_t count, capacity;
} copy_job;

/* The copy of a node; NULL when it was not copied. */
static vol_node *copy_of(const copy_job *job, vol_node *node) {
    vol_node *copy = vol_map_get(&job->copies, node->token);
    vol_node *above = copy || !node->parent || job->shallow ? NULL : copy_of(job, node->parent);
    vol_link *link;
    if (above && vol_child_find(above, node->name, &link, NULL) == ZB_OK &&
        vol_link_open(link, NULL) == ZB_OK)
        copy = link->node;
    return copy;
}

static enum zb_code copy_links_below(copy_job *job, vol_node *group, zb_error *err);

static enum zb_code remember(copy_job *job, vol_node *node, vol_node *copy, zb_error *err) {
    if (job->count == job->capacity) {
        size_t capacity = job->capacity ? 2 * job->capacity : 16;
        vol_node **grown = realloc(job->copied, capacity * sizeof(vol_node *));
        if (!grown)
            return zb_fail(err, ZB_ENOMEM, "no memory for a copy");
        job->copied = grown;
        job->capacity = capacity;
    }
    job->copied[job->count++] = node;
    return vol_map_set(&job->copies, node->token, copy)
               ? ZB_OK
               : zb_fail(err, ZB_ENOMEM, "no memory for a copy");
}

/* The copy of a group brought second copies of nodes that had been copied before: these become
   names of the first ones. */
static enum zb_code merge_copies(const copy_job *job, const vol_node *group, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < job->count && group->kind == VOL_GROUP && !code; i++) {
        vol_node *node = job->copied[i], *first = vol_map_get(&job->copies, node->token);
        vol_link *again;
        if (node == group || !vol_place_is_below(node, group))
            continue;
        const vol_place place = {.group = copy_of(job, node->parent), .name = strdup(node->name)};
        if (!place.group || !place.name)
            code = zb_fail(err, ZB_ENOMEM, "no memory for a copy");
        else if (vol_child_find(place.group, place.name, &again, err) == ZB_OK)
            code = vol_edit_delete(again, err);
        if (!code)
            code = vol_alias_create(&place, first, err);
        free(place.name);
    }
    return code;
}

/* Makes the copy of a link to a node: another name of the node's copy, which may have to be
   made. */
static enum zb_code copy_to_node(copy_job *job, const vol_link *link, const vol_place *place,
                                 vol_node *node, zb_error *err) {
    vol_node *copy = copy_of(job, node);
    if (copy)
        return vol_alias_create(place, copy, err);
    if (vol_place_is_below(job->top, node) || vol_place_is_below(place->group, node))
        return zb_fail(
            err, ZB_EUNSUPPORTED,
            "'%s' in %s leads to %s, which holds what is to be copied: copy that instead",
            link->name, link->group->path, node->path);
    enum zb_code code = copy_stored(node, place, !job->shallow, &copy, err);
    if (!code)
        code = remember(job, node, copy, err);
    if (!code && !job->shallow)
        code = merge_copies(job, node, err);
    return code || job->shallow ? code : copy_links_below(job, node, err);
}

/* What a link leads to, where its copy is not the link as it is. */
static vol_node *target_of(const copy_job *job, vol_link *link) {
    vol_route route = {.left = VOL_LINKS_FOLLOWED};
    vol_found found = {.link = link};
    vol_link_node(link, &found.node, NULL);
    if (link->kind == VOL_LINK_SOFT && job->how->expand_soft &&
        vol_path_enter(&route, &found, NULL) != ZB_OK)
        return NULL;
    return found.node;
}

static enum zb_code copy_link(copy_job *job, vol_link *link, zb_error *err) {
    const vol_place place = {.group = copy_of(job, link->group), .name = link->name};
    vol_link *shown, *old = place.group ? vol_link_entry_find(place.group, link->name) : NULL;
    if (!place.group || vol_child_find(link->group, link->name, &shown, NULL) != ZB_OK ||
        shown != link)
        return ZB_OK; /* a node hides it */
    if (link->kind == VOL_LINK_EXTERNAL && job->how->expand_external)
        return zb_fail(
            err, ZB_EUNSUPPORTED,
            "'%s' in %s leads to another file: what an external link leads to is not copied",
            link->name, link->group->path);
    vol_node *node = target_of(job, link);
    if (!node)
        return old || link->kind == VOL_LINK_ALIAS ? ZB_OK : vol_edit_copy_link(link, &place, err);
    if (old)
        vol_alias_remove(old);
    return copy_to_node(job, link, &place, node, err);
}

/* The group's list of links stays as it is: copies go elsewhere. */
static enum zb_code copy_links_below(copy_job *job, vol_node *group, zb_error *err) {
    if (group->kind != VOL_GROUP)
        return ZB_OK;
    const vol_link_list *named = vol_link_entries(group, err);
    enum zb_code code = named ? vol_node_list(group, err) : ZB_ENOMEM;
    for (size_t i = 0; !code && i < named->count; i++)
        if (named->link[i]->kind != VOL_LINK_FOREIGN)
            code = copy_link(job, named->link[i], err);
    for (size_t i = 0; !code && !job->shallow && i < vol_links_count(group); i++) {
        code = vol_link_open(vol_links_at(group, i), err);
        if (!code && vol_links_at(group, i)->node)
            code = copy_links_below(job, vol_links_at(group, i)->node, err);
        else if (code == ZB_ENOTFOUND) /* another process has deleted it */
            code = ZB_OK;
    }
    return code;
}

/* A shallow copy knows its children one by one. */
static bool map_children(copy_job *job, const vol_node *from, vol_node *to) {
    vol_link *link;
    for (size_t i = 0; i < vol_links_count(from); i++) {
        const vol_node *child = vol_links_at(from, i)->node;
        if (child && vol_child_find(to, child->name, &link, NULL) == ZB_OK &&
            vol_link_open(link, NULL) == ZB_OK && link->node &&
            !vol_map_set(&job->copies, child->token, link->node))
            return false;
    }
    return true;
}

/* Completes the copy `to` of the group `from`. ZB_EUNSUPPORTED where a link leads to a group above
   `from`, which would be copied into itself. */
static enum zb_code copy_links(vol_node *from, vol_node *to, const vol_copying *how,
                               zb_error *err) {
    const bool shallow = how->shallow && from->kind == VOL_GROUP;
    copy_job job = {.top = from, .how = how, .shallow = shallow};
    bool mapped = vol_map_set(&job.copies, from->token, to);
    if (mapped && shallow)
        mapped = vol_node_list(from, err) == ZB_OK && map_children(&job, from, to);
    enum zb_code code = mapped ? copy_links_below(&job, from, err)
                               : zb_fail(err, ZB_ENOMEM, "no memory for a copy");
    vol_map_clear(&job.copies);
    free(job.copied);
    return code;
}

/* ---- Whole copies ---- */

static enum zb_code copy_shallow(vol_node *node, const vol_place *place, vol_node **out,
                                 zb_error *err) {
    enum zb_code code = copy_stored(node, place, false, out, err);
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
            code = copy_stored(link->node, &inside, false, &made, err);
    }
    return code;
}

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
                       : copy_stored(node, place, true, made, err);
    if (!code)
        code = copy_links(node, *made, how, err);
    if (!code && shallow) /* nodes have been copied before the other links */
        vol_links_copy_order(node, *made);
    if (!code)
        code = vol_scales_copied(node, *made, err);
    if (!code)
        code = vol_committed_paths_copied(node, *made, err);
    if (!code)
        code = vol_reference_copied(*made, err);
    return !code && how->without_attributes ? remove_attributes(*made, err) : code;
}
