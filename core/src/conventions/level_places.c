/* SPDX-License-Identifier: MIT */
/* Where the levels of a raster lie, what they are called, and how they are known again. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conventions/pyramids.h"
#include "extension/gdal_extension.h"
#include "hierarchy/path.h"
#include "util/text.h"

static bool is_group(const zb_node *node) {
    return node && !zb_node_array(node);
}

static bool is_raster(const zb_node *node) {
    return node && zb_node_array(node) && zb_node_array(node)->ndim >= 2;
}

/* ---- Names ---- */

static char *taken_text(zb__text *text) {
    return zb__text_take(text, NULL);
}

char *zb_aside_name(const char *path) {
    static atomic_uint count;
    zb__text text = {.data = NULL};
    zb__text_addf(&text, "%s.%ld-%u" ZB__ASIDE_TAIL, path, (long)getpid(),
                  atomic_fetch_add(&count, 1));
    return taken_text(&text);
}

bool zb_name_is_aside(const char *name) {
    return zb__path_is_aside(name);
}

bool zb_aside_is_abandoned(const char *name) {
    if (!zb_name_is_aside(name))
        return false;
    const char *dot = name + strlen(name) - strlen(ZB__ASIDE_TAIL);
    while (dot > name && dot[-1] != '.')
        dot--;
    if (dot == name)
        return false;
    const pid_t process = (pid_t)strtol(dot, NULL, 10);
    return process > 0 && kill(process, 0) != 0 && errno == ESRCH;
}

bool zb_name_is_level(const char *name) {
    if (strncmp(name, "ovr_", 4) != 0)
        return false;
    const size_t digits = strspn(name + 4, "0123456789");
    return digits > 0 && name[4 + digits] == 'x';
}

char *zb_array_mask(const zb_node *array) {
    char *name = zb_gdal_text(array, ZB_GDAL_MASK);
    char *group = name && zb__is_child_name(name) ? zb__parent_path(zb_node_path(array)) : NULL;
    char *path = group ? zb__path_join(group, name) : NULL;
    free(group);
    free(name);
    return path;
}

bool zb__mask_is_of(const zb_node *mask, const char *array) {
    char *name = mask ? zb_gdal_text(mask, ZB_GDAL_MASK_OF) : NULL;
    const bool is = name && strcmp(name, array) == 0;
    free(name);
    return is;
}

/* ---- The places of one raster's levels ---- */

void zb_level_places_clear(zb_level_places *places) {
    free(places->array);
    free(places->above);
    *places = (zb_level_places){.array = NULL};
}

enum zb_code zb_level_places_find(const zb_pyramid *pyramid, const char *array,
                                  zb_level_places *out, zb_error *err) {
    char *own = zb__parent_path(array), *above = own ? zb__parent_path(own) : NULL;
    const char *listed = pyramid->group;
    *out = (zb_level_places){.array = strdup(array)};
    if (!own || !above || !out->array) {
        free(own);
        free(above);
        zb_level_places_clear(out);
        return zb__no_memory(err);
    }
    out->of_groups = pyramid->of_groups && listed && strcmp(listed, above) == 0;
    out->above = out->of_groups ? above : own;
    free(out->of_groups ? own : above);
    const bool is_there = listed && strcmp(listed, out->above) == 0;
    out->has_list = pyramid->levels.count > 0 && is_there && pyramid->ome_axes.count == 0;
    out->leads = pyramid->levels.count == 0 ||
                 (is_there && pyramid->self == 0 && strcmp(pyramid->levels.text[0], array) == 0);
    return ZB_OK;
}

/* `path` without the group above it. */
static const char *below(const char *path, const char *group) {
    const char *rest = zb__path_below(path, group);
    return rest ? rest : "";
}

char *zb_level_asset(const zb_level_places *places, const char *array) {
    char *asset = places->of_groups ? zb__parent_path(array) : strdup(array);
    if (asset) {
        const char *rest = below(asset, places->above);
        memmove(asset, rest, strlen(rest) + 1);
    }
    return asset;
}

/* True if a group of this name is meant by that one. The group may be in the making. */
static bool is_called(const char *own, const char *name) {
    const size_t length = strlen(name);
    const bool begins = strncmp(own, name, length) == 0 && own[length] == '.';
    return strcmp(own, name) == 0 || (begins && zb_name_is_aside(own));
}

char *zb_level_raster(const zb_node *group) {
    zb_gdal_extension *extension = NULL;
    if (is_group(group))
        (void)zb_gdal_extension_parse(zb_node_attributes(group), &extension, NULL);
    const zb_json *said = zb_gdal_extension_get(extension, ZB_GDAL_LEVEL_OF);
    const char *name = zb_json_string(zb_json_get(said, "group"));
    const char *raster = zb_json_string(zb_json_get(said, "raster"));
    char *path =
        name && *name && raster && is_called(zb_node_name(group), name) ? strdup(raster) : NULL;
    zb_gdal_extension_free(extension);
    return path;
}

static bool is_of_raster(const zb_level_places *places, const zb_node *group) {
    char *raster = zb_level_raster(group);
    const bool is = raster && strcmp(raster, below(places->array, places->above)) == 0;
    free(raster);
    return is;
}

static bool is_in_made_group(const zb_level_places *places, zb_hierarchy *hierarchy,
                             const char *group) {
    char *above = zb__parent_path(group);
    bool is = above && strcmp(above, places->above) == 0 && strcmp(group, places->above) != 0;
    if (is && places->of_groups) {
        zb_node *node = zb__node_at(hierarchy, group);
        is = is_of_raster(places, node);
        zb_node_release(node);
    } else if (is) {
        is = strncmp(zb__path_name(group), "ovr_", 4) == 0;
    }
    free(above);
    return is;
}

bool zb_level_is_made(const zb_level_places *places, zb_hierarchy *hierarchy, const char *level) {
    if (!places->has_list || strcmp(level, places->array) == 0 ||
        strcmp(zb__path_name(level), zb__path_name(places->array)) != 0)
        return false;
    char *group = zb__parent_path(level);
    const bool is = group && is_in_made_group(places, hierarchy, group);
    free(group);
    return is;
}

bool zb__level_is_marked(const zb_level_places *places, zb_hierarchy *hierarchy,
                         const char *level) {
    char *path = zb__parent_path(level);
    zb_node *group = path ? zb__node_at(hierarchy, path) : NULL;
    const bool is = is_of_raster(places, group);
    zb_node_release(group);
    free(path);
    return is;
}

/* The name number `i` for the group of a level; "" behind the last one. */
static char *name_for(const zb_level_places *places, uint64_t factor, unsigned i) {
    enum { MOST_LEVELS = 1000 };
    zb__text name = {.data = NULL};
    zb__text_add(&name, "");
    if (places->of_groups && i + 1 < MOST_LEVELS)
        zb__text_addf(&name, "%u", i + 1);
    else if (!places->of_groups && i < 2)
        zb__text_addf(&name, "ovr_%" PRIu64 "x%s%s", factor, i ? "_" : "",
                      i ? zb__path_name(places->array) : "");
    return taken_text(&name);
}

static enum zb_code refuse_names(const zb_level_places *places, uint64_t factor, zb_error *err) {
    char *first = name_for(places, factor, 0), *last = name_for(places, factor, 1);
    const char *slash = *places->above ? "/" : "";
    enum zb_code code = zb__no_memory(err);
    if (first && last && places->of_groups)
        code = zb_fail(err, ZB_ECONFLICT,
                       "/%s%s1 to /%s%s999 are there, and are no levels of it; delete one, or "
                       "rename it",
                       places->above, slash, places->above, slash);
    else if (first && last)
        code = zb_fail(err, ZB_ECONFLICT,
                       "/%s%s%s and /%s%s%s are there, and are no levels of it; delete one, or "
                       "rename it",
                       places->above, slash, first, places->above, slash, last);
    free(first);
    free(last);
    return code;
}

enum zb_code zb__level_free_group(const zb_level_places *places, zb_hierarchy *hierarchy,
                                  uint64_t factor, const zb_strings *taken, char **group,
                                  zb_error *err) {
    for (unsigned i = 0;; i++) {
        enum zb_place found = ZB_PLACE_NODE;
        char *name = name_for(places, factor, i);
        if (!name)
            return zb__no_memory(err);
        if (!*name) {
            free(name);
            return refuse_names(places, factor, err);
        }
        *group = zb__path_join(places->above, name);
        free(name);
        if (!*group)
            return zb__no_memory(err);
        enum zb_code code = ZB_OK;
        if (!zb_strings_have(taken, *group))
            code = zb_place_look(hierarchy, *group, &found, err);
        if (!code && found == ZB_PLACE_EMPTY)
            return ZB_OK;
        free(*group);
        *group = NULL;
        if (code)
            return code;
    }
}

char *zb__level_group_attributes(const zb_level_places *places, const char *group) {
    zb_json_writer *w = zb_json_writer_new(), *said = zb_json_writer_new();
    zb_json_begin_object(said);
    zb_json_write_name(said, "raster");
    zb_json_write_string(said, below(places->array, places->above));
    zb_json_write_name(said, "group");
    zb_json_write_string(said, zb__path_name(group));
    zb_json_end_object(said);
    char *text = zb_json_writer_end(said, NULL);
    const zb_gdal_change change = {ZB_GDAL_LEVEL_OF, text};
    zb_json_begin_object(w);
    const bool complete = text && zb__gdal_write(w, NULL, &change, 1);
    zb_json_end_object(w);
    free(text);
    char *attributes = zb_json_writer_end(w, NULL);
    if (complete)
        return attributes;
    free(attributes);
    return NULL;
}

/* ---- Nodes ---- */

/* True if the group holds another raster than the level and its mask. That of a group which says
   that it is a level's says so as well. */
static bool has_others(const zb_children *children, const char *level, const char *mask,
                       bool is_marked) {
    for (size_t i = 0; i < children->count; i++) {
        const zb_child *child = &children->child[i];
        const zb_array_info *info = child->node ? zb_node_array(child->node) : NULL;
        const bool is_mask = mask && strcmp(child->name, mask) == 0 &&
                             (!is_marked || zb__mask_is_of(child->node, level));
        const bool helps = info && (info->ndim < 2 || is_mask);
        if (strcmp(child->name, level) != 0 && !helps)
            return true;
    }
    return false;
}

char *zb_level_home(zb_hierarchy *hierarchy, const char *level) {
    char *path = zb__parent_path(level);
    zb_node *group = path ? zb__node_at(hierarchy, path) : NULL;
    zb_node *array = group ? zb__node_at(hierarchy, level) : NULL;
    zb_children children = {.count = 0};
    bool alone = group && zb_group_children(group, &children, NULL) == ZB_OK;
    if (alone) {
        char *mask = array ? zb_array_mask(array) : NULL, *raster = zb_level_raster(group);
        alone = !has_others(&children, zb__path_name(level), mask ? zb__path_name(mask) : NULL,
                            raster != NULL);
        free(raster);
        free(mask);
        zb_children_free(&children);
    }
    zb_node_release(array);
    zb_node_release(group);
    if (alone)
        return path;
    free(path);
    return strdup(level);
}

enum zb_code zb__pyramid_complete(zb_pyramid *pyramid, zb_hierarchy *hierarchy, const char *array,
                                  zb_error *err) {
    char *own = zb__parent_path(array);
    char *above = own && *own ? zb__parent_path(own) : NULL;
    zb_node *group = above && pyramid->levels.count == 0 ? zb__node_at(hierarchy, above) : NULL;
    zb_children siblings = {.count = 0};
    enum zb_code code = own && (!*own || above) ? ZB_OK : zb__no_memory(err);
    if (group && zb_group_children(group, &siblings, NULL) == ZB_OK) {
        for (size_t i = 0; i < siblings.count && !pyramid->of_groups; i++) {
            char *raster = zb_level_raster(siblings.child[i].node);
            pyramid->of_groups = raster && strcmp(raster, below(array, above)) == 0;
            free(raster);
        }
        zb_children_free(&siblings);
        if (pyramid->of_groups) {
            free(pyramid->group);
            pyramid->group = above;
            above = NULL;
        }
    }
    zb_node_release(group);
    free(above);
    free(own);
    return code;
}

/* ---- Levels on no list ---- */

static bool has_raster(zb_hierarchy *hierarchy, const char *group, const char *name) {
    char *path = zb__path_join(group, name);
    zb_node *node = path ? zb__node_at(hierarchy, path) : NULL;
    const bool has = is_raster(node);
    zb_node_release(node);
    free(path);
    return has;
}

/* The name of a raster beside a group that has one of that name inside; NULL for none. Both lists
   are sorted. */
static char *raster_beside(const zb_children *siblings, const zb_children *inside) {
    for (size_t i = 0, j = 0; i < siblings->count && j < inside->count;) {
        const int order = strcmp(siblings->child[i].name, inside->child[j].name);
        if (order == 0 && is_raster(siblings->child[i].node) && is_raster(inside->child[j].node))
            return strdup(siblings->child[i].name);
        i += order <= 0;
        j += order >= 0;
    }
    return NULL;
}

char *zb_level_raster_of(const zb_children *siblings, const zb_node *group) {
    zb_children inside = {.count = 0};
    if (!is_group(group))
        return NULL;
    char *raster = zb_level_raster(group);
    if (!raster && zb_name_is_level(zb_node_name(group)) &&
        zb_group_children(group, &inside, NULL) == ZB_OK) {
        raster = raster_beside(siblings, &inside);
        zb_children_free(&inside);
        return raster;
    }
    if (!raster)
        return NULL;
    char *above = zb__parent_path(zb_node_path(group)), *own = zb__parent_path(raster);
    zb_hierarchy *hierarchy = zb_node_hierarchy(group);
    const bool is_level = above && own && (!*own || zb__is_child_name(own)) &&
                          has_raster(hierarchy, above, raster) &&
                          has_raster(hierarchy, zb_node_path(group), zb__path_name(raster));
    free(above);
    free(own);
    if (is_level)
        return raster;
    free(raster);
    return NULL;
}
