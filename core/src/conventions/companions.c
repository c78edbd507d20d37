/* SPDX-License-Identifier: MIT */
/*
 * What belongs to an array alone: the levels that were made of it, and its mask. They go with it,
 * and are why it may not leave its path.
 */
#include <stdlib.h>
#include <string.h>

#include "conventions/pyramids.h"
#include "hierarchy/path.h"
#include "zarrbridge/gdal_extension.h"
#include "zarrbridge/node_edit.h"

/* An array with its pyramid, and the levels on the list that were made of it. */
typedef struct owner {
    zb_hierarchy *hierarchy; /* not owned */
    const zb_node *array;
    zb_pyramid pyramid;
    zb_level_places places;
    zb_strings made;
} owner;

static void owner_clear(owner *one) {
    zb_strings_clear(&one->made);
    zb_level_places_clear(&one->places);
    zb_pyramid_clear(&one->pyramid);
}

static enum zb_code owner_find(const zb_node *array, zb__opened *opened, owner *out,
                               zb_error *err) {
    const zb_nodes nodes = zb__opened_nodes(opened);
    *out = (owner){.hierarchy = opened->hierarchy, .array = array};
    enum zb_code code = zb_pyramid_find(array, 2, &nodes, &out->pyramid, err);
    if (!code)
        code = zb__opened_check(opened, err);
    if (!code)
        code = zb_level_places_find(&out->pyramid, zb_node_path(array), &out->places, err);
    for (size_t i = 0; i < out->pyramid.levels.count && !code; i++) {
        const char *level = out->pyramid.levels.text[i];
        if (zb_level_is_made(&out->places, out->hierarchy, level) &&
            !zb_strings_add(&out->made, level))
            code = zb__no_memory(err);
    }
    if (code)
        owner_clear(out);
    return code;
}

/* Leaves the levels that say so themselves. */
static enum zb_code keep_marked(owner *one, zb_error *err) {
    zb_strings marked = {.count = 0};
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < one->made.count && !code; i++) {
        const char *level = one->made.text[i];
        if (zb__level_is_marked(&one->places, one->hierarchy, level) &&
            !zb_strings_add(&marked, level))
            code = zb__no_memory(err);
    }
    zb_strings_clear(&one->made);
    one->made = marked;
    return code;
}

/* ---- Masks ---- */

/* Nothing counts as a mask that is only called so, or that another array beside has as well: a copy
   of an array in its group has the same one. is_marked: nor what does not say so itself. */
static enum zb_code find_own_mask(const zb_node *array, bool is_marked, char **out, zb_error *err) {
    char *mask = zb_array_mask(array);
    const bool names_other = mask && strcmp(mask, zb_node_path(array)) != 0;
    zb_node *node = names_other ? zb__node_at(zb_node_hierarchy(array), mask) : NULL;
    const zb_array_info *info = node ? zb_node_array(node) : NULL;
    bool is_own = info && info->ndim == 2 && info->dtype.size == 1 &&
                  (!is_marked || zb__mask_is_of(node, zb_node_name(array)));
    zb_node_release(node);
    char *above = is_own ? zb__parent_path(mask) : NULL;
    zb_node *group = above ? zb__node_at(zb_node_hierarchy(array), above) : NULL;
    zb_children beside = {.count = 0};
    const enum zb_code code = group ? zb_group_children(group, &beside, err) : ZB_OK;
    for (size_t i = 0; i < beside.count && is_own; i++) {
        const zb_child *child = &beside.child[i];
        const bool is_other = child->node && strcmp(child->name, zb_node_name(array)) != 0;
        char *same = is_other ? zb_array_mask(child->node) : NULL;
        is_own = !same || strcmp(same, mask) != 0;
        free(same);
    }
    zb_children_free(&beside);
    zb_node_release(group);
    free(above);
    if (code || !is_own) {
        free(mask);
        mask = NULL;
    }
    *out = mask;
    return code;
}

/* ---- Deleting ---- */

typedef struct deletion {
    const zb_deleter *deleter;
    bool is_group; /* what is deleted is the group that the array is in */
    char *listed;  /* the path of the group whose list has changed */
} deletion;

/* True if the raster that goes, with its levels, leaves nothing on a list of groups but the entry
   of its own group, in which it is alone or which goes, too. */
static bool was_all(const owner *one, const deletion *job) {
    if (!one->places.of_groups || !one->places.leads ||
        one->pyramid.levels.count != one->made.count + 1)
        return false;
    char *home = zb_level_home(one->hierarchy, zb_node_path(one->array));
    const bool was = job->is_group || (home && strcmp(home, zb_node_path(one->array)) != 0);
    free(home);
    return was;
}

static enum zb_code leave_list(const owner *one, zb_error *err) {
    zb_strings assets = {.count = 0};
    char *asset = zb_level_asset(&one->places, zb_node_path(one->array));
    const bool good = asset && zb_strings_add(&assets, asset);
    const enum zb_code code =
        good ? zb__level_list_leave(one->hierarchy, one->places.above, &assets, true, err)
             : zb__no_memory(err);
    zb_strings_clear(&assets);
    free(asset);
    return code;
}

static enum zb_code delete_levels(const zb_node *array, zb__opened *opened, deletion *job,
                                  zb_error *err) {
    owner one;
    enum zb_code code = owner_find(array, opened, &one, err);
    if (code)
        return code;
    code = keep_marked(&one, err);
    const bool leaves = !code && was_all(&one, job);
    if (!code)
        code = zb__levels_remove(one.hierarchy, &one.places, &one.made, job->deleter, err);
    if (!code && leaves)
        code = leave_list(&one, err);
    if (!code && (leaves || one.made.count > 0) && !job->listed &&
        !(job->listed = strdup(one.places.above)))
        code = zb__no_memory(err);
    owner_clear(&one);
    return code;
}

static enum zb_code delete_mask(const zb_node *array, const zb_deleter *deleter, zb_error *err) {
    char *mask;
    enum zb_code code = find_own_mask(array, true, &mask, err);
    if (!code && mask)
        code = zb__companion_delete(zb_node_hierarchy(array), deleter, mask, err);
    free(mask);
    return code;
}

/* Levels of rasters in a group lie outside of it only where the group above lists groups. */
static enum zb_code delete_levels_of_group(const zb_node *group, zb__opened *opened, deletion *job,
                                           zb_error *err) {
    const zb_nodes nodes = zb__opened_nodes(opened);
    char *above = *zb_node_path(group) ? zb__parent_path(zb_node_path(group)) : NULL;
    const bool may_list = above && zb__level_layout(nodes.at(nodes.context, above));
    zb_children inside = {.count = 0};
    enum zb_code code = zb__opened_check(opened, err);
    if (!code && may_list)
        code = zb_group_children(group, &inside, err);
    for (size_t i = 0; i < inside.count && !code; i++) {
        const zb_node *child = inside.child[i].node;
        if (child && zb_node_array(child))
            code = delete_levels(child, opened, job, err);
    }
    zb_children_free(&inside);
    free(above);
    return code;
}

enum zb_code zb_companions_delete(const zb_node *node, const zb_deleter *deleter, char **listed,
                                  zb_error *err) {
    zb__opened opened = {.hierarchy = zb_node_hierarchy(node)};
    deletion job = {.deleter = deleter, .is_group = !zb_node_array(node)};
    enum zb_code code = job.is_group ? delete_levels_of_group(node, &opened, &job, err)
                                     : delete_levels(node, &opened, &job, err);
    if (!code && !job.is_group)
        code = delete_mask(node, deleter, err);
    zb__opened_clear(&opened);
    if (listed)
        *listed = job.listed;
    else
        free(job.listed);
    return code;
}

/* ---- Leaving a path ---- */

static bool is_in(const char *path, const char *group) {
    return strcmp(path, group) == 0 || zb__path_below(path, group);
}

/* True if the list has the node, one above or one below it. What is alone in its list has a group
   there, and no other array of its name. */
static bool list_has(const zb_strings *assets, const char *relative) {
    bool has = false;
    for (size_t i = 0; i < assets->count && !has; i++)
        has = is_in(assets->text[i], relative) ||
              (assets->count > 1 && is_in(relative, assets->text[i]));
    return has;
}

static enum zb_code look_in_lists(const zb_node *group, const char *path, const zb_nodes *nodes,
                                  bool *is_listed, zb_error *err) {
    zb_asset_lists lists;
    const enum zb_code code = zb_group_pyramids(group, nodes, &lists, err);
    const char *relative = zb__path_below(path, zb_node_path(group));
    for (size_t i = 0; i < lists.count && !*is_listed; i++)
        *is_listed = relative && list_has(&lists.list[i], relative);
    zb_asset_lists_clear(&lists);
    return code;
}

/* Tables, coordinates and the like, which levels may have beside them, are no levels. */
static enum zb_code find_listed(const zb_node *node, zb__opened *opened, bool *is_listed,
                                zb_error *err) {
    const zb_nodes nodes = zb__opened_nodes(opened);
    const zb_array_info *info = zb_node_array(node);
    *is_listed = false;
    if (info && info->ndim < 2)
        return ZB_OK;
    char *above = strdup(zb_node_path(node));
    enum zb_code code = above ? ZB_OK : zb__no_memory(err);
    for (int steps = 1; steps <= ZB_PYRAMID_REACH && !code && *above && !*is_listed; steps++) {
        zb__path_up(above);
        const zb_node *group = nodes.at(nodes.context, above);
        if (group && !zb_node_array(group))
            code = look_in_lists(group, zb_node_path(node), &nodes, is_listed, err);
    }
    free(above);
    return code ? code : zb__opened_check(opened, err);
}

static enum zb_code refuse_levels(const zb_node *array, const char *overviews, zb__opened *opened,
                                  zb_error *err) {
    owner one;
    enum zb_code code = owner_find(array, opened, &one, err);
    if (code)
        return code;
    if (one.made.count > 0)
        code = zb_fail(err, ZB_EUNSUPPORTED,
                       "/%s has overviews %s; `gdaladdo -clean` or `zarrbridge pyramid --clean` "
                       "removes them",
                       zb_node_path(array), overviews);
    owner_clear(&one);
    return code;
}

enum zb_code zb_companions_refuse(const zb_node *node, const char *overviews, const char *listed,
                                  zb_error *err) {
    zb__opened opened = {.hierarchy = zb_node_hierarchy(node)};
    bool is_listed = false;
    enum zb_code code = zb_node_array(node) ? refuse_levels(node, overviews, &opened, err) : ZB_OK;
    if (!code && listed)
        code = find_listed(node, &opened, &is_listed, err);
    if (!code && is_listed)
        code = zb_fail(err, ZB_EUNSUPPORTED,
                       "/%s is in the list of levels of a group above, %s: change the list first",
                       zb_node_path(node), listed);
    zb__opened_clear(&opened);
    return code;
}

static enum zb_code refuse_without_mask(const zb_node *array, const char *to, zb_error *err) {
    char *left = zb__parent_path(zb_node_path(array)), *entered = zb__parent_path(to), *mask = NULL;
    enum zb_code code = left && entered ? ZB_OK : zb__no_memory(err);
    if (!code && strcmp(left, entered) != 0)
        code = find_own_mask(array, false, &mask, err);
    if (mask)
        code = zb_fail(err, ZB_EUNSUPPORTED,
                       "/%s has a mask beside it, /%s: move that into the other group first",
                       zb_node_path(array), mask);
    free(mask);
    free(left);
    free(entered);
    return code;
}

enum zb_code zb_companions_may_move(const zb_node *node, const char *to, zb_error *err) {
    const enum zb_code code = zb_companions_refuse(node, "under its name", "which names it", err);
    return code || !zb_node_array(node) ? code : refuse_without_mask(node, to, err);
}

/* A zb_node_edit_fn; context: the array's name as JSON. */
static enum zb_code say_mask_of(void *context, const zb_node *mask, zb_node_edits *out,
                                zb_error *err) {
    const zb_gdal_change change = {ZB_GDAL_MASK_OF, context};
    return zb_gdal_edit(mask, &change, 1, out, err);
}

static enum zb_code rename_in_mask(zb_node *mask, const char *name, zb_error *err) {
    zb_json_writer *w = zb_json_writer_new();
    zb_json_write_string(w, name);
    char *text = zb_json_writer_end(w, NULL);
    zb_node *changed = NULL;
    const enum zb_code code =
        text ? zb_node_edit(mask, say_mask_of, text, &changed, err) : zb__no_memory(err);
    zb_node_release(changed);
    free(text);
    return code;
}

enum zb_code zb_companions_follow(const zb_node *node, const char *to, zb_error *err) {
    char *path = NULL;
    if (!zb_node_array(node) || strcmp(zb__path_name(to), zb_node_name(node)) == 0)
        return ZB_OK;
    enum zb_code code = find_own_mask(node, true, &path, err);
    zb_node *mask = NULL;
    if (!code && path)
        code = zb_node_open(zb_node_hierarchy(node), path, &mask, err);
    if (mask)
        code = rename_in_mask(mask, zb__path_name(to), err);
    zb_node_release(mask);
    free(path);
    return code;
}
