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
    zb_moved *names;
    bool kept;
    const enum zb_code code = zb_moved_of(root, &names, &kept, err);
    if (code)
        return code;
    if (zb_moved_is_plain(names)) {
        zb_moved_free(names);
        names = NULL;
    }
    zb_moved_free(moved->names);
    *moved = (vol_moved){.names = names, .is_known = true, .is_kept = kept};
    return ZB_OK;
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

/* ---- What is stored ---- */

static bool may_keep(const vol_file *file) {
    return file->writable && file->root->zarr;
}

/* path: in the store; NULL to keep track alone. is_node: a node of the store is there. */
static enum zb_code begin(vol_file *file, const char *path, bool is_node, zb_error *err) {
    const enum zb_code code = zb_moved_begin(file->root->zarr, path, is_node, err);
    file->moved.is_old = true;
    return code ? code : update(file, err);
}

/* Whether the root keeps track now. */
static enum zb_code keep_track(vol_file *file, bool *kept, zb_error *err) {
    enum zb_code code = update(file, err);
    if (!code && may_keep(file) && !file->moved.is_kept)
        code = begin(file, NULL, false, err);
    *kept = !code && file->moved.is_kept;
    return code == ZB_EUNSUPPORTED && !file->moved.names ? ZB_OK : code;
}

enum zb_code vol_moved_keep_track(vol_file *file, zb_error *err) {
    bool kept;
    return keep_track(file, &kept, err);
}

bool vol_moved_is_kept(vol_file *file) {
    (void)update(file, NULL);
    return file->moved.is_kept;
}

/* The name of the node at a path of the store. */
static enum zb_code refer(vol_file *file, const char *path, bool is_node, char **name,
                          zb_error *err) {
    bool kept;
    enum zb_code code = keep_track(file, &kept, err);
    *name = code ? NULL : zb_moved_name(file->moved.names, path);
    if (!code && !*name && kept && may_keep(file)) {
        code = begin(file, path, is_node, err);
        *name = code ? NULL : zb_moved_name(file->moved.names, path);
    }
    if (!code && !*name && !(kept && may_keep(file)))
        *name = strdup(path);
    return code || *name ? code : zb_fail(err, ZB_ENOMEM, "no memory for the name of /%s", path);
}

enum zb_code vol_moved_refer(vol_file *file, const char *path, bool is_node, char **name,
                             zb_error *err) {
    char *stored = convert_parts(path, zb_name_stored, false), *found = NULL;
    enum zb_code code = stored ? refer(file, stored, is_node, &found, err) : ZB_OK;
    *name = found ? convert_parts(found, zb_name_shown, true) : NULL;
    free(found);
    free(stored);
    return code || *name ? code : zb_fail(err, ZB_ENOMEM, "no memory for the name of %s", path);
}

enum zb_code vol_moved_tell(vol_file *file, const char *from, const char *to, zb_error *err) {
    vol_moved_outdate(file);
    return zb_moved_tell(file->hierarchy, from, to, err);
}

/* ---- Nodes ---- */

const char *vol_moved_below_root(const vol_file *file, const char *path) {
    const char *top = zb_node_path(file->root->zarr);
    const size_t length = strlen(top);
    if (strncmp(path, top, length) != 0 || (length > 0 && path[length] && path[length] != '/'))
        return NULL;
    return path + length + (length > 0 && path[length] == '/');
}

/* Its path below the file's root. */
static const char *place_of(const vol_node *node) {
    return vol_moved_below_root(node->file, zb_node_path(node->zarr));
}

enum zb_code vol_moved_refer_node(const vol_node *node, char **name, zb_error *err) {
    return refer(node->file, place_of(node), !node->is_dimension, name, err);
}

char *vol_moved_name_of(const vol_node *node) {
    (void)update(node->file, NULL);
    return zb_moved_name(node->file->moved.names, place_of(node));
}

char *vol_moved_place(vol_file *file, const char *name) {
    return update(file, NULL) ? NULL : zb_moved_path(file->moved.names, name);
}
