/* SPDX-License-Identifier: MIT */
/* Names that stay: see moved.h. */
#include "tree/moved.h"

#include "tree/stored_names.h"
#include "tree/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What the root says ---- */

void vol_moved_clear(vol_file *file) {
    zb_moved_free(file->moved.names);
    file->moved = (vol_moved){.names = NULL};
}

/* A store that keeps track of nothing is not read again and again. */
void vol_moved_outdate(vol_file *file) {
    file->moved.is_old = file->moved.is_kept;
}

/* Memory that runs out leaves what was known. */
static void take(vol_moved *moved, const zb_node *root) {
    zb_hdf5_extension *extension = zb_hdf5_extension_of(root);
    const zb_json *member = zb_hdf5_extension_get(extension, ZB_HDF5_MOVED);
    zb_moved *names = NULL;
    if (zb_json_count(member) == 0 || zb_moved_parse(member, &names, NULL) == ZB_OK) {
        zb_moved_free(moved->names);
        *moved = (vol_moved){.names = names, .is_known = true, .is_kept = member != NULL};
    }
    zb_hdf5_extension_free(extension);
}

/* What is known of the file's root, which is read anew where it may have changed: of a distant
   store as other documents, whose answers count for some seconds. One that has gone says what it
   said. A synthetic root says nothing. */
static const vol_moved *known(vol_file *file) {
    vol_moved *moved = &file->moved;
    const zb_node *root = file->root ? file->root->zarr : NULL;
    zb_node *now = NULL;
    if (!root || (moved->is_known && !moved->is_old))
        return moved;
    if (!moved->is_old)
        take(moved, root);
    else if (zb_node_open_lately(zb_node_hierarchy(root), zb_node_path(root), &now, NULL) == ZB_OK)
        take(moved, now);
    zb_node_release(now);
    return moved;
}

bool vol_moved_is_plain(vol_file *file) {
    return known(file)->names == NULL;
}

/* ---- Paths of the file, and of the store below its root ---- */

/* Each part by `convert`, with a slash before each but the first, or before all (absolute). NULL
   when memory runs out. */
static char *convert_parts(const char *path, char *(*convert)(const char *part), bool absolute) {
    char *copy = strdup(path), *rest = copy, *part, *all = strdup(absolute ? "/" : "");
    while (all && copy && (part = strsep(&rest, "/"))) {
        if (!*part || strcmp(part, ".") == 0)
            continue;
        char *other = convert(part), *longer = NULL;
        const char *between = *all && strcmp(all, "/") != 0 ? "/" : "";
        if (other && asprintf(&longer, "%s%s%s", all, between, other) < 0)
            longer = NULL;
        free(other);
        free(all);
        all = longer;
    }
    if (!copy) {
        free(all);
        all = NULL;
    }
    free(copy);
    return all;
}

/* One way or the other. */
static char *translate(const vol_moved *moved, const char *path,
                       char *(*by)(const zb_moved *moved, const char *path)) {
    if (!moved->names)
        return strdup(path);
    char *stored = convert_parts(path, vol_name_stored, false);
    char *found = stored ? by(moved->names, stored) : NULL;
    char *shown = found ? convert_parts(found, vol_name_shown, true) : NULL;
    free(stored);
    free(found);
    return shown;
}

char *vol_moved_name(vol_file *file, const char *path) {
    return translate(known(file), path, zb_moved_name);
}

char *vol_moved_path(vol_file *file, const char *name) {
    return translate(known(file), name, zb_moved_path);
}

/* ---- References ---- */

/* path: NULL to keep track alone. */
static enum zb_code begin(vol_file *file, const char *path, zb_error *err) {
    char *stored = path ? convert_parts(path, vol_name_stored, false) : NULL;
    enum zb_code code = path && !stored ? zb_fail(err, ZB_ENOMEM, "no memory for a path")
                                        : zb_moved_begin(file->root->zarr, stored, err);
    free(stored);
    file->moved.is_old = true;
    return code;
}

enum zb_code vol_moved_refer(vol_file *file, const char *path, char **name, zb_error *err) {
    enum zb_code code = ZB_OK;
    const bool may_keep = file->writable && file->root->zarr;
    if (may_keep && !known(file)->is_kept)
        code = begin(file, NULL, err);
    *name = code ? NULL : vol_moved_name(file, path);
    if (!code && !*name && may_keep) {
        code = begin(file, path, err);
        *name = code ? NULL : vol_moved_name(file, path);
    }
    if (code == ZB_EUNSUPPORTED || (!code && !*name && !may_keep)) {
        *name = strdup(path);
        code = ZB_OK;
    }
    return code || *name ? code : zb_fail(err, ZB_ENOMEM, "no memory for the name of %s", path);
}
