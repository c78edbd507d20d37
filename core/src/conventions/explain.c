/* SPDX-License-Identifier: MIT */
/*
 * What is wrong with a name that nothing opens. Both plugins ask here before they leave a name to
 * others, whose messages tell of a signature or of a format.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/foreign.h"
#include "zarrbridge/conventions.h"
#include "zarrbridge/sys/hierarchy.h"

static bool begins(const char *name, const char *word) {
    return strncasecmp(name, word, strlen(word)) == 0;
}

/* Names that no other program understands, or that speak for a store. */
static bool is_strange(const char *name) {
    return begins(name, "zarr:") ||
           ((begins(name, "~/") || strstr(name, "://")) && zb_name_is_zarr(name));
}

/* A directory that is called otherwise may be another program's, with a million files: it is opened
   only where it has a sign of those that zb__foreign_root knows. */
static bool has_sign(const char *directory) {
    static const char *const signs[] = {"snapshots", "attributes.json", ".zmetadata"};
    char *path;
    bool found = false;
    for (size_t i = 0; i < sizeof signs / sizeof *signs && !found; i++) {
        if (asprintf(&path, "%s/%s", directory, signs[i]) < 0)
            return false;
        found = access(path, F_OK) == 0;
        free(path);
    }
    return found;
}

static bool explain_directory(const char *path, zb_error *err) {
    zb_hierarchy *hierarchy;
    zb_node *root = NULL;
    if (!zb_name_is_zarr(path) && !has_sign(path))
        return false;
    enum zb_code code = zb_hierarchy_open(path, &hierarchy, err);
    if (code)
        return zb_name_is_zarr(path);
    code = zb_node_open(hierarchy, "", &root, err);
    zb_node_release(root);
    zb_hierarchy_release(hierarchy);
    return code == ZB_EUNSUPPORTED || (code != ZB_OK && zb_name_is_zarr(path));
}

bool zb_name_explain(const char *name, zb_error *err) {
    zb_error why = {.code = ZB_OK};
    struct stat info;
    bool is_ours = false;
    if (zb_name_is_url(name))
        return false;
    if (stat(name, &info) != 0)
        is_ours = is_strange(name) && zb__foreign_file(name, &why) != ZB_OK;
    else if (S_ISDIR(info.st_mode))
        is_ours = explain_directory(name, &why);
    else if (S_ISREG(info.st_mode))
        is_ours = zb__foreign_references(name, &why) != ZB_OK;
    if (is_ours && err)
        *err = why;
    return is_ours;
}
