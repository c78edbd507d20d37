/* SPDX-License-Identifier: MIT */
/* Names that stay: see moved.h. */
#include "tree/moved.h"

#include "tree/tree.h"

#include "zarrbridge/conventions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What the root says ---- */

void vol_moved_clear(vol_file *file) {
    zb_moved_free(file->moved.names);
    file->moved = (vol_moved){.names = NULL};
}

void vol_moved_outdate(vol_file *file) {
    file->moved.is_old = true;
}

/* After a failure, what was known stays and is asked for again. */
static enum zb_code take(vol_moved *moved, const zb_node *root, zb_error *err) {
    const zb_json *value = zb_json_get(zb_node_attributes(root), ZB_HDF5_EXTENSION);
    zb_hdf5_extension *extension;
    zb_moved *names = NULL;
    enum zb_code code = zb_hdf5_extension_parse(value, &extension, err);
    const zb_json *member = zb_hdf5_extension_get(extension, ZB_HDF5_MOVED);
    if (!code && zb_json_count(member) > 0)
        code = zb_moved_parse(member, &names, err);
    if (!code) {
        zb_moved_free(moved->names);
        *moved = (vol_moved){.names = names, .is_known = true, .is_kept = member != NULL};
    }
    zb_hdf5_extension_free(extension);
    return code;
}

/* Brings what is known of the file's root up to date, where it may have changed: of a distant store
   as other documents, whose answers count for some seconds. A root that cannot be read is an error,
   for an old table may lead to another object; one that has gone says what it said. A synthetic
   root says nothing. */
static enum zb_code update(vol_file *file, zb_error *err) {
    vol_moved *moved = &file->moved;
    const zb_node *root = file->root ? file->root->zarr : NULL;
    zb_error why = {0};
    zb_node *now = NULL;
    if (!root || (moved->is_known && !moved->is_old))
        return ZB_OK;
    if (!moved->is_old)
        return take(moved, root, err);
    const enum zb_code code =
        zb_node_open_cached(zb_node_hierarchy(root), zb_node_path(root), &now, &why);
    if (code == ZB_ENOTFOUND)
        return moved->is_known ? ZB_OK : take(moved, root, err);
    if (code)
        return zb_fail(err, code, "the names of objects that have moved: %s", why.message);
    const enum zb_code taken = take(moved, now, err);
    zb_node_release(now);
    return taken;
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
    char *stored = convert_parts(path, zb_name_stored, false);
    char *found = stored ? by(moved->names, stored) : NULL;
    char *shown = found ? convert_parts(found, zb_name_shown, true) : NULL;
    free(stored);
    free(found);
    return shown;
}

bool vol_moved_is_plain(vol_file *file) {
    (void)update(file, NULL);
    return file->moved.names == NULL;
}

char *vol_moved_name(vol_file *file, const char *path) {
    (void)update(file, NULL);
    return translate(&file->moved, path, zb_moved_name);
}

char *vol_moved_path(vol_file *file, const char *name, zb_error *err) {
    return update(file, err) ? NULL : translate(&file->moved, name, zb_moved_path);
}

/* ---- References ---- */

/* path: NULL to keep track alone. */
static enum zb_code begin(vol_file *file, const char *path, zb_error *err) {
    char *stored = path ? convert_parts(path, zb_name_stored, false) : NULL;
    enum zb_code code = path && !stored ? zb_fail(err, ZB_ENOMEM, "no memory for a path")
                                        : zb_moved_begin(file->root->zarr, stored, err);
    free(stored);
    file->moved.is_old = true;
    return code;
}

enum zb_code vol_moved_refer(vol_file *file, const char *path, char **name, zb_error *err) {
    enum zb_code code = update(file, err);
    const bool may_keep = file->writable && file->root->zarr;
    if (!code && may_keep && !file->moved.is_kept)
        code = begin(file, NULL, err);
    if (!code)
        code = update(file, err);
    *name = code ? NULL : translate(&file->moved, path, zb_moved_name);
    if (!code && !*name && may_keep) {
        code = begin(file, path, err);
        if (!code)
            code = update(file, err);
        *name = code ? NULL : translate(&file->moved, path, zb_moved_name);
    }
    const bool keeps_nothing = code == ZB_EUNSUPPORTED && !file->moved.names;
    if (keeps_nothing || (!code && !*name && !may_keep)) {
        *name = strdup(path);
        code = ZB_OK;
    }
    return code || *name ? code : zb_fail(err, ZB_ENOMEM, "no memory for the name of %s", path);
}
