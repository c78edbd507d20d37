/* SPDX-License-Identifier: MIT */
#include "place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "zarrbridge/conventions.h"
#include "zarrbridge/door.h"
#include "zarrbridge/sys/hierarchy.h"

static bool holds_document(void *unused, const char *directory) {
    static const char *const documents[] = {"zarr.json", ".zgroup", ".zarray"};
    bool found = false;
    (void)unused;
    for (size_t i = 0; i < sizeof documents / sizeof *documents && !found; i++) {
        char *name;
        if (asprintf(&name, "%s/%s", directory, documents[i]) < 0)
            return false;
        found = access(name, F_OK) == 0;
        free(name);
    }
    return found;
}

/* A directory with the name of a document is none. URLs keep theirs, which zb_url_split knows.
   malloc'ed. */
static char *without_document(const char *path) {
    const size_t start =
        zb_name_is_url(path) ? strlen(path) : zb_document_start(path, strlen(path));
    struct stat info;
    if (path[start] == '\0' || (stat(path, &info) == 0 && S_ISDIR(info.st_mode)))
        return strdup(path);
    return start == 0 ? strdup(".") : strndup(path, start > 1 ? start - 1 : 1);
}

/* The name that opens what an argument means: without a document, and behind a door. malloc'ed. */
static enum zb_code plain_name(const char *name, char **out, zb_error *err) {
    zb_door door = {.target = NULL};
    enum zb_code code =
        zb_path_is_door(name) ? zb_door_read(name, ZB_DOORS_OWN, &door, err) : ZB_OK;
    *out = code ? NULL : without_document(door.store ? door.store : name);
    zb_door_clear(&door);
    return code || *out ? code : zb_fail(err, ZB_ENOMEM, "no memory for a path");
}

void place_clear(place *where) {
    zb_hierarchy_release(where->hierarchy);
    free(where->root);
    free(where->node);
}

static enum zb_code open_root(const place *other, place *out, zb_error *err) {
    char *root = realpath(out->root, NULL), *used = other ? realpath(other->root, NULL) : NULL;
    enum zb_code code = ZB_OK;
    if (root && used && strcmp(root, used) == 0)
        out->hierarchy = zb_hierarchy_retain(other->hierarchy);
    else
        code = other ? zb_hierarchy_create(out->root, NULL, &out->hierarchy, err)
                     : zb_hierarchy_open(out->root, &out->hierarchy, err);
    free(root);
    free(used);
    return code;
}

enum zb_code place_find(const char *name, const place *other, place *out, zb_error *err) {
    *out = (place){.hierarchy = NULL};
    char *path;
    enum zb_code code = plain_name(name, &path, err);
    if (!code)
        code = zb_path_split(path, holds_document, NULL, &out->root, &out->node, err);
    free(path);
    return code ? code : open_root(other, out, err);
}

enum zb_code place_open(const char *name, place *where, zb_node **out, zb_error *err) {
    *out = NULL;
    const enum zb_code code = place_find(name, NULL, where, err);
    return code ? code : zb_node_open(where->hierarchy, where->node, out, err);
}

enum zb_code place_open_array(const char *name, place *where, zb_node **out, zb_error *err) {
    const enum zb_code code = place_open(name, where, out, err);
    if (code || zb_node_array(*out))
        return code;
    return zb_fail(err, ZB_EINVAL,
                   "'%s' is a group; give the path of an array, as zarrbridge ls lists them", name);
}

enum zb_code store_open(const char *name, zb_hierarchy **out, zb_error *err) {
    zb_node *root = NULL;
    zb_object_info info;
    char *path;
    enum zb_code code = plain_name(name, &path, err);
    if (!code)
        code = zb_hierarchy_open(path, out, err);
    free(path);
    if (code)
        return code;
    if (zb_store_stat(zb_hierarchy_store(*out), "zarr.json", &info, NULL) == ZB_ENOTFOUND &&
        zb_node_open(*out, "", &root, err) == ZB_EUNSUPPORTED)
        code = ZB_EUNSUPPORTED;
    zb_node_release(root);
    if (code)
        zb_hierarchy_release(*out);
    return code;
}
