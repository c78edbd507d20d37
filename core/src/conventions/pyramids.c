/* SPDX-License-Identifier: MIT */
#include "conventions/pyramids.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hierarchy/path.h"
#include "util/list.h"

bool zb_strings_add(zb_strings *strings, const char *text) {
    if (!zb__list_grow(&strings->text, strings->count, &strings->capacity, sizeof *strings->text))
        return false;
    strings->text[strings->count] = strdup(text);
    if (!strings->text[strings->count])
        return false;
    strings->count++;
    return true;
}

bool zb_strings_have(const zb_strings *strings, const char *text) {
    for (size_t i = 0; i < strings->count; i++) {
        if (strcmp(strings->text[i], text) == 0)
            return true;
    }
    return false;
}

void zb_strings_clear(zb_strings *strings) {
    for (size_t i = 0; i < strings->count; i++)
        free(strings->text[i]);
    free(strings->text);
    *strings = (zb_strings){.count = 0};
}

const zb_json *zb__attribute(const zb_node *node, const char *name) {
    return node ? zb_json_get(zb_node_attributes(node), name) : NULL;
}

const char *zb__attribute_text(const zb_node *node, const char *name) {
    const char *text = zb_json_string(zb__attribute(node, name));
    return text ? text : "";
}

bool zb__number_list(const zb_json *value, size_t count, double *out) {
    if (zb_json_kind_of(value) != ZB_JSON_ARRAY || zb_json_count(value) != count)
        return false;
    size_t i = 0;
    for (const zb_json *item = zb_json_first(value); item; item = zb_json_next(item), i++) {
        if (!zb_json_double(item, &out[i]) || !isfinite(out[i]))
            return false;
    }
    return true;
}

char *zb__parent_path(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? strndup(path, (size_t)(slash - path)) : strdup("");
}

zb_node *zb__node_at(zb_hierarchy *hierarchy, const char *path) {
    zb_node *node = NULL;
    return zb_node_open(hierarchy, path, &node, NULL) == ZB_OK ? node : NULL;
}

bool zb__is_child_name(const char *name) {
    return *name && !strchr(name, '/');
}

const zb_json *zb__level_layout(const zb_node *group) {
    const zb_json *layout = zb_json_get(zb__attribute(group, "multiscales"), "layout");
    return zb_json_kind_of(layout) == ZB_JSON_ARRAY ? layout : NULL;
}

enum zb_code zb__no_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for the levels of a pyramid");
}

/* ---- Coordinates ---- */

typedef struct levels_up {
    const char *path; /* of the array */
    const zb_nodes *nodes;
    const zb_node *found; /* the one that was asked for last */
} levels_up;

static const zb_array_info *array_above(void *context, unsigned level, const char *name) {
    levels_up *up = context;
    char *group = zb__parent_path(up->path);
    for (; group && level > 0; level--)
        zb__path_up(group);
    char *path = group ? zb__path_join(group, name) : NULL;
    up->found = path ? up->nodes->at(up->nodes->context, path) : NULL;
    free(path);
    free(group);
    return up->found ? zb_node_array(up->found) : NULL;
}

const zb_node *zb__coordinate_of(const zb_node *array, uint32_t dim, const zb_nodes *nodes) {
    levels_up up = {.path = zb_node_path(array), .nodes = nodes};
    const zb_surroundings around = {(unsigned)zb__path_depth(up.path), array_above, &up};
    return zb_coordinate_find(zb_node_array(array), dim, &around) < 0 ? NULL : up.found;
}
