/* SPDX-License-Identifier: MIT */
/* See named_types.h. */
#include "objects/named_types.h"

#include "hdf5/errors.h"
#include "hdf5/types.h"
#include "model/attribute_list.h"
#include "model/links.h"
#include "model/loose.h"
#include "model/node_attrs.h"
#include "model/paths.h"
#include "model/side.h"
#include "model/tokens.h"
#include "objects/open_ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Types and paths ---- */

/* What stands for the path of a type that has none. */
static char *new_stand_in(uint64_t token) {
    char *text = NULL;
    return asprintf(&text, ":%llu", (unsigned long long)token) < 0 ? NULL : text;
}

/* The connector's object behind a named type of a store; NULL for other types. */
static const vol_object *object_of(h5_lib *lib, hid_t type) {
    hid_t saved = vol_stack_save(lib);
    const vol_object *object = vol_object_of_id(lib, type);
    vol_stack_restore(lib, saved);
    return object && object->type == H5I_DATATYPE && object->file ? object : NULL;
}

hid_t vol_named_copy(h5_lib *lib, hid_t type) {
    return object_of(lib, type) ? lib->H5Tcopy(type) : -1;
}

char *vol_named_path_of(const vol_node *type) {
    return type->loose ? new_stand_in(type->token) : strdup(type->path);
}

char *vol_named_path(const vol_file *file, hid_t type) {
    const vol_object *object = object_of(file->lib, type);
    return object && object->file == file ? vol_named_path_of(object->node) : NULL;
}

static vol_node *find(vol_file *file, const char *path) {
    if (!path)
        return NULL;
    if (*path != ':')
        return vol_node_find(file->root, path, NULL);
    for (vol_node *node = NULL; (node = vol_loose_next(file, node)) != NULL;) {
        char *text = new_stand_in(node->token);
        const bool found = text && strcmp(text, path) == 0;
        free(text);
        if (found)
            return node;
    }
    return NULL;
}

static bool is_same(vol_node *node, hid_t type) {
    h5_lib *lib = node->file->lib;
    hid_t named = node->kind == VOL_DATATYPE ? vol_node_datatype(node) : -1;
    const bool same = named >= 0 && vol_type_same(lib, named, type);
    vol_release_id(lib, named);
    return same;
}

hid_t vol_named_type(vol_handle *handle, const char *path, hid_t type) {
    vol_node *node = find(handle->file, path);
    hid_t id = node && is_same(node, type) ? vol_node_register(handle, node) : -1;
    return id >= 0 ? id : handle->file->lib->H5Tcopy(type);
}

/* ---- Types that get a path ---- */

/* The stand-in, and what takes its place, as text and as JSON. */
typedef struct renaming {
    const char *from, *to;
    char *json;
} renaming;

static bool is_from(const renaming *names, const zb_json *value) {
    const char *text = zb_json_string(value);
    return text && strcmp(text, names->from) == 0;
}

static enum zb_code fail_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for the path of a named datatype");
}

/* An entry of an attribute with the other path. */
static enum zb_code rename_entry(vol_node *node, const char *attribute, const renaming *names,
                                 zb_error *err) {
    const zb_json *entry = vol_side_entry(node, attribute);
    if (!is_from(names, zb_json_get(entry, VOL_SIDE_NAMED)))
        return ZB_OK;
    zb_json_writer *out = zb_json_writer_new();
    zb_json_begin_object(out);
    for (const zb_json *member = zb_json_first(entry); member; member = zb_json_next(member)) {
        zb_json_write_name(out, zb_json_name(member));
        if (strcmp(zb_json_name(member), VOL_SIDE_NAMED) == 0)
            zb_json_write_raw(out, names->json);
        else
            zb_json_write_value(out, member);
    }
    zb_json_end_object(out);
    char *text = zb_json_writer_end(out, NULL);
    enum zb_code code = text ? vol_side_set_entry(node, attribute, text, err) : fail_memory(err);
    free(text);
    return code;
}

/* Attributes that this process has made of the type are in the list. */
static enum zb_code rename_attributes(vol_node *node, const renaming *names, zb_error *err) {
    enum zb_code code = ZB_OK;
    const vol_attrs *list = vol_node_attrs_now(node);
    for (size_t i = 0; list && i < list->count && !code; i++) {
        vol_attr *attr = &list->attr[i];
        if (!attr->name || !attr->named || strcmp(attr->named, names->from) != 0)
            continue;
        char *path = strdup(names->to);
        code = path ? rename_entry(node, attr->name, names, err) : fail_memory(err);
        if (path) {
            free(attr->named);
            attr->named = path;
        }
    }
    return code;
}

/* The node and all known ones below it. */
static enum zb_code rename_below(vol_node *node, const renaming *names, zb_error *err) {
    enum zb_code code = ZB_OK;
    if (node->kind == VOL_DATASET && is_from(names, vol_side_get(node, VOL_SIDE_NAMED)))
        code = vol_side_set(node, VOL_SIDE_NAMED, names->json, err);
    if (!code)
        code = rename_attributes(node, names, err);
    for (size_t i = 0; i < vol_links_count(node) && !code; i++)
        if (vol_links_at(node, i)->node)
            code = rename_below(vol_links_at(node, i)->node, names, err);
    return code;
}

enum zb_code vol_named_rename(vol_node *type, uint64_t token, zb_error *err) {
    char *stand_in = new_stand_in(token);
    zb_json_writer *text = zb_json_writer_new();
    zb_json_write_string(text, type->path);
    renaming names = {.from = stand_in, .to = type->path, .json = zb_json_writer_end(text, NULL)};
    enum zb_code code = stand_in && names.json ? ZB_OK : fail_memory(err);
    if (!code)
        code = rename_below(type->file->root, &names, err);
    for (vol_node *node = NULL; !code && (node = vol_loose_next(type->file, node)) != NULL;)
        code = rename_below(node, &names, err);
    free(names.json);
    free(stand_in);
    return code;
}
