/* SPDX-License-Identifier: MIT */
/*
 * An array finds its pyramid by asking the groups above it whether it is on their lists. That works
 * for an array that is itself an asset and for one inside an asset that is a group ("r10m/b02"),
 * whose levels are then the arrays of the same name in the other assets.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conventions/pyramids.h"
#include "hierarchy/path.h"
#include "util/text.h"

void zb_pyramid_clear(zb_pyramid *pyramid) {
    zb_strings_clear(&pyramid->levels);
    zb_strings_clear(&pyramid->ome_axes);
    free(pyramid->group);
    free(pyramid->registration);
    *pyramid = (zb_pyramid){.self = 0};
}

/* What follows the asset in the path of an array that is it or lies below it, "" or "/t"; NULL for
   others. */
static const char *rest_behind(const char *relative, const char *asset) {
    const size_t length = strlen(asset);
    if (strncmp(relative, asset, length) != 0)
        return NULL;
    return relative[length] == '\0' || relative[length] == '/' ? relative + length : NULL;
}

static bool add_level(zb_pyramid *pyramid, const char *asset, const char *rest) {
    zb__text name = {.data = NULL};
    zb__text_add(&name, asset);
    zb__text_add(&name, rest);
    char *relative = zb__text_take(&name, NULL);
    char *path = relative ? zb__path_join(pyramid->group, relative) : NULL;
    const bool good = path && zb_strings_add(&pyramid->levels, path);
    free(path);
    free(relative);
    return good;
}

/* A list may have an array beside groups, as GDAL's own driver writes it: "t", "ovr_2x". The level
   is then the array of that name in the group. Only such names are looked at: on a network each
   look is a request. */
static bool enter_groups(zb_hierarchy *hierarchy, const char *array, zb_pyramid *pyramid) {
    const char *name = zb__path_name(array);
    for (size_t i = 0; i < pyramid->levels.count; i++) {
        char **level = &pyramid->levels.text[i];
        const char *own = zb__path_name(*level);
        if (strcmp(own, name) == 0 || strncmp(own, "ovr_", 4) != 0)
            continue;
        zb_node *node = zb__node_at(hierarchy, *level);
        char *inside = node && !zb_node_array(node) ? zb__path_join(*level, name) : NULL;
        const bool failed = node && !zb_node_array(node) && !inside;
        zb_node_release(node);
        if (failed)
            return false;
        if (inside) {
            free(*level);
            *level = inside;
        }
    }
    return true;
}

static bool read_entry(const zb_json *layout, const char *asset, zb_pyramid *pyramid) {
    const zb_json *entry = zb_json_first(layout);
    for (; entry; entry = zb_json_next(entry)) {
        const char *name = zb_json_string(zb_json_get(entry, "asset"));
        if (name && strcmp(name, asset) == 0)
            break;
    }
    pyramid->has_transform =
        zb__number_list(zb_json_get(entry, "spatial:transform"), 6, pyramid->transform);
    pyramid->has_shape = zb__number_list(zb_json_get(entry, "spatial:shape"), 2, pyramid->shape);
    const char *registration = zb_json_string(zb_json_get(entry, "spatial:registration"));
    pyramid->registration = registration ? strdup(registration) : NULL;
    return !registration || pyramid->registration;
}

/* Fills the pyramid by a list that has the array, as its asset number `self`. */
static bool take_list(const zb_node *group, const zb_strings *assets, size_t self,
                      const char *relative, const zb_nodes *nodes, zb_pyramid *out) {
    const char *rest = rest_behind(relative, assets->text[self]);
    const zb_json *layout = zb__declared_layout(group, nodes);
    char *array = zb__path_join(zb_node_path(group), relative);
    out->group = strdup(zb_node_path(group));
    out->self = self;
    bool good = out->group && array;
    for (size_t i = 0; i < assets->count && good; i++)
        good = add_level(out, assets->text[i], rest);
    good = good && enter_groups(zb_node_hierarchy(group), array, out);
    out->of_groups = layout && strcmp(assets->text[self], relative) != 0;
    if (good && layout)
        good = read_entry(layout, assets->text[self], out);
    else if (good)
        good = zb__ome_axes(group, &out->ome_axes);
    free(array);
    return good;
}

/* Fills the pyramid when the array is one of the group's levels. */
static enum zb_code look_in_group(const zb_node *group, const char *path, const zb_nodes *nodes,
                                  zb_pyramid *out, zb_error *err) {
    zb_asset_lists lists;
    const char *relative = zb__path_below(path, zb_node_path(group));
    enum zb_code code = zb_group_pyramids(group, nodes, &lists, err);
    for (size_t i = 0; i < lists.count && !code && !out->group; i++) {
        size_t self = 0;
        while (self < lists.list[i].count && !rest_behind(relative, lists.list[i].text[self]))
            self++;
        if (self < lists.list[i].count &&
            !take_list(group, &lists.list[i], self, relative, nodes, out))
            code = zb__no_memory(err);
    }
    zb_asset_lists_clear(&lists);
    return code;
}

enum zb_code zb_pyramid_find(const zb_node *array, uint32_t fewest_dimensions,
                             const zb_nodes *nodes, zb_pyramid *out, zb_error *err) {
    *out = (zb_pyramid){.self = 0};
    if (zb_node_array(array)->ndim < fewest_dimensions)
        return ZB_OK;
    char *above = strdup(zb_node_path(array));
    enum zb_code code = above ? ZB_OK : zb__no_memory(err);
    for (int steps = 1; steps <= ZB_PYRAMID_REACH && !code && *above && !out->group; steps++) {
        zb__path_up(above);
        const zb_node *group = nodes->at(nodes->context, above);
        if (group && !zb_node_array(group))
            code = look_in_group(group, zb_node_path(array), nodes, out, err);
    }
    free(above);
    if (code)
        zb_pyramid_clear(out);
    return code;
}

bool zb_array_may_be_level(const zb_array_info *finest, const zb_array_info *level) {
    double least = 1, most = HUGE_VAL; /* the factors that all dimensions may have */
    bool is_whole = true;              /* each may have one that is a whole number */
    for (uint32_t d = 0; d < finest->ndim; d++) {
        const double fine = (double)finest->shape[d], coarse = (double)level->shape[d];
        if (coarse > fine)
            return false;
        if (coarse == fine)
            continue;
        const double from = fine / (coarse + 2), to = coarse > 2 ? fine / (coarse - 2) : HUGE_VAL;
        least = fmax(least, from);
        most = fmin(most, to);
        is_whole = is_whole && floor(to) >= ceil(from);
    }
    return least <= most || is_whole;
}
