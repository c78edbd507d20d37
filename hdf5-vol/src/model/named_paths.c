/* SPDX-License-Identifier: MIT */
/* Paths of named datatypes: see named_paths.h. */
#include "model/named_paths.h"

#include "model/links.h"
#include "model/node_attrs.h"
#include "model/side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum zb_code fail_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for the path of a named datatype");
}

/* Whether a path becomes another one: that is malloc'ed, or NULL without memory. */
static bool becomes(const vol_path_change *path, const char *old, char **out) {
    const size_t length = strcmp(path->from, "/") == 0 ? 0 : strlen(path->from);
    const char *rest = old ? old + length : NULL;
    if (!old || strncmp(old, path->from, length) != 0 || (*rest && (!path->below || *rest != '/')))
        return false;
    if (asprintf(out, "%s%s", path->to, rest) < 0)
        *out = NULL;
    return true;
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
        !becomes(path, zb_json_string(vol_side_get(node, VOL_SIDE_NAMED)), &text))
        return ZB_OK;
    char *json = text ? as_json(text) : NULL;
    enum zb_code code = json ? vol_side_set(node, VOL_SIDE_NAMED, json, err) : fail_memory(err);
    free(json);
    free(text);
    return code;
}

/* ---- Attributes ---- */

static char *entry_with(const zb_json *entry, const char *named) {
    zb_json_writer *out = zb_json_writer_new();
    zb_json_begin_object(out);
    for (const zb_json *member = zb_json_first(entry); member; member = zb_json_next(member)) {
        zb_json_write_name(out, zb_json_name(member));
        if (strcmp(zb_json_name(member), VOL_SIDE_NAMED) == 0)
            zb_json_write_string(out, named);
        else
            zb_json_write_value(out, member);
    }
    zb_json_end_object(out);
    return zb_json_writer_end(out, NULL);
}

static enum zb_code change_entry(vol_node *node, const char *attribute, const vol_path_change *path,
                                 zb_error *err) {
    const zb_json *entry = vol_side_entry(node, attribute);
    char *text;
    if (!becomes(path, zb_json_string(zb_json_get(entry, VOL_SIDE_NAMED)), &text))
        return ZB_OK;
    char *json = text ? entry_with(entry, text) : NULL;
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
    const zb_json *entry = zb_json_first(vol_side_get(node, "attributes"));
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

/* The same of all nodes, which are opened. What cannot be opened has no path that counts. */
static enum zb_code change_all(vol_node *node, const vol_path_change *path, zb_error *err) {
    enum zb_code code = change_node(node, path, err);
    if (!code && node->kind == VOL_GROUP)
        code = vol_node_list(node, err);
    for (size_t i = 0; i < vol_links_count(node) && !code; i++) {
        vol_link *link = vol_links_at(node, i);
        if (!link->named && vol_link_open(link, NULL) == ZB_OK && link->node)
            code = change_all(link->node, path, err);
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

/* All that has moved is known (vol_alias_gather). */
enum zb_code vol_named_paths_moved(vol_node *top, const char *old_path, zb_error *err) {
    const vol_path_change path = {.from = old_path, .to = top->path, .below = true};
    return has_type(top) ? change_all(top->file->root, &path, err) : ZB_OK;
}

enum zb_code vol_named_paths_copied(vol_node *top, const char *old_path, zb_error *err) {
    const vol_path_change path = {.from = old_path, .to = top->path, .below = true};
    return change_all(top, &path, err);
}
