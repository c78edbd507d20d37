/* SPDX-License-Identifier: MIT */
/* See committed_types.h. */
#include "objects/committed_types.h"

#include "hdf5/errors.h"
#include "types/types.h"
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

/* The connector's object behind a committed datatype of a store; NULL for other types. */
static const vol_object *object_of(h5_lib *lib, hid_t type) {
    if (lib->H5Tcommitted(type) == 0)
        return NULL;
    hid_t saved = vol_stack_save(lib);
    const vol_object *object = vol_object_of_id(lib, type);
    vol_stack_restore(lib, saved);
    return object && object->type == H5I_DATATYPE && object->file ? object : NULL;
}

hid_t vol_committed_copy(h5_lib *lib, hid_t type) {
    return object_of(lib, type) ? lib->H5Tcopy(type) : -1;
}

char *vol_committed_name(const vol_node *type) {
    return type->loose ? new_stand_in(type->token) : vol_moved_name(type->file, type->path);
}

enum zb_code vol_committed_refer(const vol_file *file, hid_t type, char **out, zb_error *err) {
    const vol_object *object = object_of(file->lib, type);
    *out = NULL;
    if (!object || object->file != file)
        return ZB_OK;
    const vol_node *node = object->node;
    if (!node->loose)
        return vol_moved_refer(node->file, node->path, true, out, err);
    *out = new_stand_in(node->token);
    return *out ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for the name of a committed datatype");
}

static vol_node *find_loose(vol_file *file, const char *stand_in) {
    for (vol_node *node = NULL; (node = vol_loose_next(file, node)) != NULL;) {
        char *text = new_stand_in(node->token);
        const bool found = text && strcmp(text, stand_in) == 0;
        free(text);
        if (found)
            return node;
    }
    return NULL;
}

/* Where names lead now is asked for: another program may have moved the type. */
static enum zb_code find(vol_file *file, const char *name, vol_node **out, zb_error *err) {
    zb_error why = {0};
    vol_moved_outdate(file);
    char *path = vol_moved_path(file, name, &why);
    *out = path ? vol_node_find(file->root, path, NULL) : NULL;
    free(path);
    if (why.code && err)
        *err = why;
    return why.code;
}

static bool is_same(vol_node *node, hid_t type) {
    h5_lib *lib = node->file->lib;
    bool lacks_memory;
    hid_t committed = node->kind == VOL_DATATYPE ? vol_node_datatype(node, &lacks_memory) : -1;
    const bool same = committed >= 0 && vol_type_same(lib, committed, type);
    vol_release_id(lib, committed);
    return same;
}

hid_t vol_committed_type(vol_handle *handle, const char *name, hid_t type) {
    vol_file *file = handle->file;
    vol_node *node = NULL;
    zb_error err = {0};
    if (name && *name == ':')
        node = find_loose(file, name);
    else if (name && find(file, name, &node, &err) != ZB_OK) {
        VOL_PUSH_ZB(file->lib, SYM, CANTGET, &err);
        return -1;
    }
    hid_t id = node && is_same(node, type) ? vol_node_register(handle, node) : -1;
    return id >= 0 ? id : file->lib->H5Tcopy(type);
}

/* ---- Types that get a path ---- */

enum zb_code vol_committed_rename(vol_node *type, uint64_t token, zb_error *err) {
    char *stand_in = new_stand_in(token), *name = NULL;
    enum zb_code code = stand_in ? vol_moved_refer(type->file, type->path, true, &name, err)
                                 : zb_fail(err, ZB_ENOMEM, "no memory for a name");
    if (!code)
        code = vol_committed_paths_change(type->file->root, stand_in, name, err);
    for (vol_node *node = NULL; !code && (node = vol_loose_next(type->file, node)) != NULL;)
        code = vol_committed_paths_change(node, stand_in, name, err);
    free(name);
    free(stand_in);
    return code;
}
