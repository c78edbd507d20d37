/* SPDX-License-Identifier: MIT */
/* Paths of named datatypes: see named_paths.h. */
#include "objects/named_paths.h"

#include "attributes/attribute_list.h"
#include "file/forget.h"
#include "links/links.h"
#include "objects/paths.h"
#include "tree/side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum zb_code fail_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for the path of a named datatype");
}

static size_t length_of(const vol_path_change *path) {
    return strcmp(path->from, "/") == 0 ? 0 : strlen(path->from);
}

static bool concerns(const vol_path_change *path, const char *old) {
    const size_t length = length_of(path);
    return old && strncmp(old, path->from, length) == 0 &&
           (!old[length] || (path->below && old[length] == '/'));
}

static bool is_type(vol_file *file, const char *path) {
    const vol_node *node = vol_node_find(file->root, path, NULL);
    return node && node->kind == VOL_DATATYPE;
}

/* Whether a path becomes another one: that is malloc'ed, or NULL without memory. */
static bool becomes(const vol_path_change *path, const char *old, char **out) {
    if (!concerns(path, old))
        return false;
    if (asprintf(out, "%s%s", path->to, old + length_of(path)) < 0)
        *out = NULL;
    if (!*out || !path->types_of || is_type(path->types_of, *out))
        return true;
    free(*out);
    return false;
}

static char *as_json(const char *text) {
    zb_json_writer *out = zb_json_writer_new();
    zb_json_write_string(out, text);
    return zb_json_writer_end(out, NULL);
}

/* ---- Datasets ---- */

static enum zb_code change_dataset(vol_node *node, const vol_path_change *path, zb_error *err) {
    char *text;
    if (node->kind != VOL_DATASET ||
        !becomes(path, zb_json_string(vol_side_get(node, ZB_HDF5_NAMED)), &text))
        return ZB_OK;
    char *json = text ? as_json(text) : NULL;
    enum zb_code code = json ? vol_side_set(node, ZB_HDF5_NAMED, json, err) : fail_memory(err);
    free(json);
    free(text);
    return code;
}

/* ---- Attributes ---- */

static enum zb_code change_entry(vol_node *node, const char *attribute, const vol_path_change *path,
                                 zb_error *err) {
    const zb_json *entry = vol_side_entry(node, attribute);
    char *text;
    if (!becomes(path, zb_json_string(zb_hdf5_entry_named(entry)), &text))
        return ZB_OK;
    char *json = text ? zb_hdf5_entry_rename(entry, text) : NULL;
    enum zb_code code = json ? vol_side_set_entry(node, attribute, json, err) : fail_memory(err);
    free(json);
    free(text);
    return code;
}

static vol_attr *in_list(const vol_node *node, const char *name) {
    const vol_attrs *list = vol_node_attrs_now(node);
    vol_attr *attr = list ? vol_attrs_find(list, name) : NULL;
    return attr && attr->named ? attr : NULL;
}

/* Each one once: a new path may be one that would become another, too. Those that are in the list
   may have been made by this process, and not be stored. */
static enum zb_code change_attributes(vol_node *node, const vol_path_change *path, zb_error *err) {
    enum zb_code code = ZB_OK;
    const zb_json *entry = zb_json_first(vol_side_entries(node));
    for (; entry && !code; entry = zb_json_next(entry))
        if (!in_list(node, zb_json_name(entry)))
            code = change_entry(node, zb_json_name(entry), path, err);
    const vol_attrs *list = vol_node_attrs_now(node);
    for (size_t i = 0; list && i < list->count && !code; i++) {
        vol_attr *attr = &list->attr[i];
        char *text;
        if (!attr->name || !becomes(path, attr->named, &text))
            continue;
        code = text ? change_entry(node, attr->name, path, err) : fail_memory(err);
        if (!text)
            continue;
        free(attr->named);
        attr->named = text;
    }
    return code;
}

/* ---- Nodes ---- */

static enum zb_code change_node(vol_node *node, const vol_path_change *path, zb_error *err) {
    if (!node->zarr || node->is_dimension || node->is_unreadable)
        return ZB_OK;
    enum zb_code code = change_dataset(node, path, err);
    return code ? code : change_attributes(node, path, err);
}

enum zb_code vol_named_paths_change(vol_node *node, const vol_path_change *path, zb_error *err) {
    enum zb_code code = change_node(node, path, err);
    for (size_t i = 0; i < vol_links_count(node) && !code; i++)
        if (vol_links_at(node, i)->node)
            code = vol_named_paths_change(vol_links_at(node, i)->node, path, err);
    return code;
}

/* ---- Walks over all nodes, which are opened ---- */

static bool is_used(vol_node *node, const vol_path_change *path) {
    bool used = node->kind == VOL_DATASET &&
                concerns(path, zb_json_string(vol_side_get(node, ZB_HDF5_NAMED)));
    const zb_json *entry = zb_json_first(vol_side_entries(node));
    for (; entry && !used; entry = zb_json_next(entry))
        used = concerns(path, zb_json_string(zb_hdf5_entry_named(entry)));
    const vol_attrs *list = vol_node_attrs_now(node);
    for (size_t i = 0; list && i < list->count && !used; i++)
        used = list->attr[i].name && concerns(path, list->attr[i].named);
    return used;
}

static enum zb_code remember(vol_path_users *users, vol_node *node, zb_error *err) {
    if (users->count == users->capacity) {
        const size_t capacity = users->capacity ? 2 * users->capacity : 16;
        vol_node **grown = realloc(users->node, capacity * sizeof(vol_node *));
        if (!grown)
            return fail_memory(err);
        users->node = grown;
        users->capacity = capacity;
    }
    vol_node_pin(node);
    users->node[users->count++] = node;
    return ZB_OK;
}

/* Changes a node, or, with a list of users, puts it there if it has such a path. */
static enum zb_code visit(vol_node *node, const vol_path_change *path, vol_path_users *users,
                          zb_error *err) {
    if (!users)
        return change_node(node, path, err);
    const bool counts = node->zarr && !node->is_dimension && !node->is_unreadable;
    return counts && is_used(node, path) ? remember(users, node, err) : ZB_OK;
}

/* What another process has deleted meanwhile has no path that counts. What this walk has opened,
   nobody else knows: it is forgotten, so that there may be more nodes than fit into memory. */
static enum zb_code visit_all(vol_node *node, const vol_path_change *path, vol_path_users *users,
                              zb_error *err) {
    enum zb_code code = visit(node, path, users, err);
    if (!code && node->kind == VOL_GROUP)
        code = vol_node_list(node, err);
    for (size_t i = 0; i < vol_links_count(node) && !code; i++) {
        vol_link *link = vol_links_at(node, i);
        const bool is_new = vol_link_is_unopened(link);
        code = link->named ? ZB_OK : vol_link_open(link, err);
        if (!code && !link->named && link->node)
            code = visit_all(link->node, path, users, err);
        if (code == ZB_ENOTFOUND)
            code = ZB_OK;
        if (is_new)
            vol_link_forget(link);
    }
    return code;
}

static bool has_type(const vol_node *node) {
    if (node->kind == VOL_DATATYPE)
        return true;
    for (size_t i = 0; i < vol_links_count(node); i++) {
        const vol_node *child = vol_links_at(node, i)->node;
        if (child && has_type(child))
            return true;
    }
    return false;
}

/* All that is to move is known (vol_alias_gather). */
enum zb_code vol_named_paths_gather(vol_node *top, vol_path_users *users, zb_error *err) {
    const vol_path_change path = {.from = top->path, .below = true};
    return has_type(top) ? visit_all(top->file->root, &path, users, err) : ZB_OK;
}

enum zb_code vol_named_paths_moved(const vol_path_users *users, const char *old_path,
                                   const char *new_path, zb_error *err) {
    const vol_path_change path = {.from = old_path, .to = new_path, .below = true};
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < users->count && !code; i++)
        code = change_node(users->node[i], &path, err);
    return code;
}

void vol_path_users_clear(vol_path_users *users) {
    for (size_t i = 0; i < users->count; i++)
        vol_node_unpin(users->node[i]);
    free(users->node);
    *users = (vol_path_users){.count = 0};
}

enum zb_code vol_named_paths_copied(vol_node *top, const char *old_path, zb_error *err) {
    const vol_path_change path = {
        .from = old_path, .to = top->path, .below = true, .types_of = top->file};
    return visit_all(top, &path, NULL, err);
}
