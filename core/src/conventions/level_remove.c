/* SPDX-License-Identifier: MIT */
/* Taking levels of a pyramid away: their nodes, then their entries in the group's list; and what
   was there when a level takes its place. */
#include <stdlib.h>
#include <string.h>

#include "conventions/pyramids.h"
#include "hierarchy/path.h"
#include "zarrbridge/node_edit.h"
#include "zarrbridge/stop.h"

enum zb_code zb__companion_delete(zb_hierarchy *hierarchy, const zb_deleter *deleter,
                                  const char *path, zb_error *err) {
    const enum zb_code code = deleter ? deleter->delete_node(deleter->context, path, err)
                                      : zb_node_delete(hierarchy, path, err);
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

/* ---- Replacing ---- */

/* Whoever waits for the thread to stop gets the old level back first. A node that is at its place
   all the same stays there. */
static void move_back(zb_hierarchy *hierarchy, const char *old, const char *target) {
    const zb_stop stop = zb_thread_may_stop((zb_stop){.fn = NULL});
    (void)zb_node_move(hierarchy, old, target, NULL);
    (void)zb_thread_may_stop(stop);
}

/* The old level has another name until the new one is in its place. */
enum zb_code zb__level_take_place(zb_hierarchy *hierarchy, const char *aside, const char *target,
                                  zb_error *err) {
    char *old = zb_aside_name(target);
    if (!old)
        return zb__no_memory(err);
    enum zb_code code = zb_node_move(hierarchy, target, old, err);
    if (code == ZB_OK || code == ZB_ENOTFOUND)
        code = zb_node_move(hierarchy, aside, target, err);
    if (code)
        move_back(hierarchy, old, target);
    else
        (void)zb_node_delete(hierarchy, old, NULL);
    free(old);
    return code;
}

/* ---- The list ---- */

/* One change of a group's document: both attributes, or none. */
static enum zb_code set_list(const zb_node *group, const zb_level_list *list, zb_error *err) {
    const zb_attribute_edit wanted[] = {
        {.name = "multiscales", .value = list->multiscales},
        {.name = "zarr_conventions", .value = list->zarr_conventions},
    };
    zb_attribute_edit edits[2];
    size_t count = 0;
    for (size_t i = 0; i < 2; i++) {
        if (wanted[i].value || zb__attribute(group, wanted[i].name))
            edits[count++] = wanted[i];
    }
    zb_node *changed = NULL;
    enum zb_code code =
        count > 0 ? zb_node_set_attributes(group, edits, count, &changed, err) : ZB_OK;
    zb_node_release(changed);
    return code;
}

enum zb_code zb__level_list_change(zb_hierarchy *hierarchy, const char *path,
                                   zb__level_list_fn change, const void *context, zb_error *err) {
    zb_lock_scope turn;
    enum zb_code code = zb_lock_scope_begin(hierarchy, &turn, err);
    if (code)
        return code;
    zb_node *group = NULL;
    zb_level_list list = {.multiscales = NULL};
    code = zb_node_open(hierarchy, path, &group, err);
    if (!code)
        code = change(context, group, &list, err);
    if (!code)
        code = set_list(group, &list, err);
    zb_level_list_clear(&list);
    zb_node_release(group);
    return zb_lock_scope_end(hierarchy, &turn, code, err);
}

typedef struct removal {
    const zb_strings *assets;
    bool finest_stays;
} removal;

static enum zb_code take_out(const void *context, const zb_node *group, zb_level_list *out,
                             zb_error *err) {
    const removal *what = context;
    return zb_level_list_take_out(group, what->assets, what->finest_stays, out, err);
}

enum zb_code zb__level_list_leave(zb_hierarchy *hierarchy, const char *group,
                                  const zb_strings *assets, bool finest_stays, zb_error *err) {
    return zb__level_list_change(hierarchy, group, take_out, &(removal){assets, finest_stays}, err);
}

/* ---- Levels ---- */

/* A zb_node_edit_fn. */
static enum zb_code forget_level(void *context, const zb_node *group, zb_node_edits *out,
                                 zb_error *err) {
    const zb_gdal_change change = {ZB_GDAL_LEVEL_OF, NULL};
    (void)context;
    return zb_gdal_edit(group, &change, 1, out, err);
}

/* Takes the word that a group is a level off one which others have nodes in: an array that gets the
   level's name later is data. */
static enum zb_code free_group(zb_hierarchy *hierarchy, const char *level, zb_error *err) {
    char *path = zb__parent_path(level);
    zb_node *group = NULL, *changed = NULL;
    enum zb_code code = path ? zb_node_open(hierarchy, path, &group, err) : zb__no_memory(err);
    if (!code)
        code = zb_node_edit(group, forget_level, NULL, &changed, err);
    zb_node_release(changed);
    zb_node_release(group);
    free(path);
    return code;
}

/* One level with its mask. *is_alone: its group went with it. */
static enum zb_code remove_level(zb_hierarchy *hierarchy, const zb_level_places *places,
                                 const char *level, const zb_deleter *deleter, bool *is_alone,
                                 zb_error *err) {
    char *home = zb_level_home(hierarchy, level);
    zb_node *array = zb__node_at(hierarchy, level);
    char *mask = array ? zb_array_mask(array) : NULL;
    zb_node *mask_node = mask ? zb__node_at(hierarchy, mask) : NULL;
    const bool has_own_mask = !zb__level_is_marked(places, hierarchy, level) ||
                              zb__mask_is_of(mask_node, zb__path_name(level));
    zb_node_release(mask_node);
    zb_node_release(array);
    enum zb_code code =
        home ? zb__companion_delete(hierarchy, deleter, home, err) : zb__no_memory(err);
    *is_alone = home && strcmp(home, level) != 0;
    if (!code && !*is_alone && mask && has_own_mask)
        code = zb__companion_delete(hierarchy, deleter, mask, err);
    if (!code && !*is_alone)
        code = free_group(hierarchy, level, err);
    free(mask);
    free(home);
    return code;
}

/* With the last level the raster's own entry goes, too, unless it has been there from the first. A
   group that other rasters have levels in stays on the list. */
enum zb_code zb__levels_remove(zb_hierarchy *hierarchy, const zb_level_places *places,
                               const zb_strings *levels, const zb_deleter *deleter, zb_error *err) {
    zb_strings assets = {.count = 0};
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < levels->count && !code; i++) {
        bool is_alone = false;
        code = remove_level(hierarchy, places, levels->text[i], deleter, &is_alone, err);
        if (code || (places->of_groups && !is_alone))
            continue;
        char *asset = zb_level_asset(places, levels->text[i]);
        if (!asset || !zb_strings_add(&assets, asset))
            code = zb__no_memory(err);
        free(asset);
    }
    if (!code && assets.count > 0)
        code = zb__level_list_leave(hierarchy, places->above, &assets, places->of_groups, err);
    zb_strings_clear(&assets);
    return code;
}

/* True if the child is in the making by no process any more, and empty. */
static bool is_begun(const zb_level_places *places, const zb_child *child) {
    zb_children inside = {.count = 0};
    if (!zb_aside_is_abandoned(child->name) || !child->node || zb_node_array(child->node))
        return false;
    char *raster = zb_level_raster(child->node);
    const char *own = zb__path_below(places->array, places->above);
    const bool is_ours = places->of_groups ? raster && own && strcmp(raster, own) == 0
                                           : strncmp(child->name, "ovr_", 4) == 0;
    free(raster);
    const bool is_empty =
        is_ours && zb_group_children(child->node, &inside, NULL) == ZB_OK && inside.count == 0;
    zb_children_free(&inside);
    return is_empty;
}

/* True if the child is a level of the raster that is on no list, and has no other nodes. */
static bool is_lost(zb_hierarchy *hierarchy, const zb_level_places *places,
                    const zb_pyramid *pyramid, const zb_children *siblings, const zb_child *child) {
    if (zb_name_is_aside(child->name) && !zb_aside_is_abandoned(child->name))
        return false;
    char *raster = zb_level_raster_of(siblings, child->node);
    const char *own = zb__path_below(places->array, places->above);
    char *group = zb__path_join(places->above, child->name);
    char *level = group ? zb__path_join(group, zb__path_name(places->array)) : NULL;
    bool lost = raster && level && own && strcmp(raster, own) == 0 &&
                !zb_strings_have(&pyramid->levels, level) && !zb__path_below(places->array, group);
    if (lost) {
        char *home = zb_level_home(hierarchy, level);
        lost = home && strcmp(home, group) == 0;
        free(home);
    }
    free(level);
    free(group);
    free(raster);
    return lost;
}

enum zb_code zb__levels_remove_lost(zb_hierarchy *hierarchy, const zb_level_places *places,
                                    const zb_pyramid *pyramid, zb_error *err) {
    zb_node *above = NULL;
    zb_children siblings = {.count = 0};
    enum zb_code code = zb_node_open(hierarchy, places->above, &above, err);
    if (!code)
        code = zb_group_children(above, &siblings, err);
    for (size_t i = 0; i < siblings.count && !code; i++) {
        const zb_child *child = &siblings.child[i];
        if (!is_lost(hierarchy, places, pyramid, &siblings, child) && !is_begun(places, child))
            continue;
        char *group = zb__path_join(places->above, child->name);
        code = group ? zb__companion_delete(hierarchy, NULL, group, err) : zb__no_memory(err);
        free(group);
    }
    zb_children_free(&siblings);
    zb_node_release(above);
    return code;
}
