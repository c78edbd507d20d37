/* SPDX-License-Identifier: MIT */
/* See named_types.h. */
#include "objects/named_types.h"

#include "hdf5/errors.h"
#include "hdf5/types.h"
#include "objects/open_ids.h"
#include "objects/paths.h"
#include "objects/tokens.h"
#include "tree/loose.h"

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

enum zb_code vol_named_rename(vol_node *type, uint64_t token, zb_error *err) {
    char *stand_in = new_stand_in(token);
    const vol_path_change path = {.from = stand_in, .to = type->path};
    enum zb_code code = stand_in ? vol_named_paths_change(type->file->root, &path, err)
                                 : zb_fail(err, ZB_ENOMEM, "no memory for a path");
    for (vol_node *node = NULL; !code && (node = vol_loose_next(type->file, node)) != NULL;)
        code = vol_named_paths_change(node, &path, err);
    free(stand_in);
    return code;
}
