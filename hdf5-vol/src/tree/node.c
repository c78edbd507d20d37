/* SPDX-License-Identifier: MIT */
/* Single nodes: see node.h. */
#include "tree/node.h"

#include "types/type_json.h"
#include "links/links.h"
#include "tree/side.h"
#include "tree/tree.h"

#include "zarrbridge/conventions.h"

#include <stdlib.h>
#include <string.h>

hid_t vol_node_datatype(vol_node *node, bool *lacks_memory) {
    const zb_json *json = vol_side_get(node, ZB_HDF5_DATATYPE);
    *lacks_memory = false;
    return json ? vol_type_parse(node->file->lib, json, lacks_memory) : -1;
}

/* In a file that is only read no node changes its place, so that the counts above stay right. In
   others each node counts its own pins, and forget.c looks below. */
static void add_pins(vol_node *node, size_t more) {
    for (; node; node = node->file->writable ? NULL : node->parent)
        node->pins += more;
}

void vol_node_pin(vol_node *node) {
    add_pins(node, 1);
}

void vol_node_unpin(vol_node *node) {
    add_pins(node, (size_t)-1);
}

enum zb_code vol_node_each_below(vol_node *node, enum zb_code (*act)(vol_node *, zb_error *),
                                 zb_error *err) {
    enum zb_code first = act(node, err);
    size_t at = 0;
    for (vol_node *child; (child = vol_links_opened(node, &at));) {
        zb_error other;
        const enum zb_code code = vol_node_each_below(child, act, first ? &other : err);
        first = first ? first : code;
    }
    return first;
}

/* ---- Paths ---- */

char *vol_path_join(const char *above, const char *between, const char *name) {
    const size_t front = strlen(above), middle = strlen(between), back = strlen(name) + 1;
    char *path = malloc(front + middle + back);
    if (!path)
        return NULL;
    memcpy(path, above, front);
    memcpy(path + front, between, middle);
    memcpy(path + front + middle, name, back);
    return path;
}

bool vol_node_set_path(vol_node *node, const vol_node *parent, const char *name) {
    const bool below_root = !parent || !parent->parent;
    char *path = vol_path_join(below_root ? "" : parent->path, "/", name);
    if (!path)
        return false;
    free(node->path);
    node->path = path;
    node->name = strrchr(path, '/') + 1;
    return true;
}

/* The core's nodes know where they are; a synthetic root stands for its only child's place. */
enum zb_code vol_node_child_path(const vol_node *group, const char *name, char **out,
                                 zb_error *err) {
    const char *above = group->zarr ? zb_node_path(group->zarr) : "";
    const vol_link *link = zb_name_has_form(name) ? vol_links_find(group, name) : NULL;
    char *stored = link && link->stored ? strdup(link->stored) : zb_name_stored(name);
    *out = stored ? vol_path_join(above, *above ? "/" : "", stored) : NULL;
    free(stored);
    if (*out)
        return ZB_OK;
    return zb_fail(err, ZB_ENOMEM, "no memory for the path of %s", name);
}
