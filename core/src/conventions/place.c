/* SPDX-License-Identifier: MIT */
/*
 * The content at a path of a store.
 *
 * A directory is overwritten only when it is a Zarr version 3 node by its document's own words, or
 * empty: a typing error must not cost a directory of other files. A document of version 3 that
 * cannot be read (damaged, or newer than this library) is a node all the same.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "change/copy_marker.h"
#include "hierarchy/staged.h"
#include "zarrbridge/conventions.h"

static bool says_three(const char *text) {
    static const char member[] = "\"zarr_format\"", blanks[] = " \t\r\n";
    for (const char *at = text; (at = strstr(at, member)) != NULL;) {
        at += strlen(member);
        at += strspn(at, blanks);
        if (*at != ':')
            continue;
        at++;
        at += strspn(at, blanks);
        if (at[0] == '3' && (at[1] == '\0' || !strchr("0123456789.eE", at[1])))
            return true;
    }
    return false;
}

/* The document need not be JSON. */
bool zb_place_claims_v3(zb_hierarchy *hierarchy, const char *path) {
    char *key = NULL, *text = NULL;
    size_t size = 0;
    if (asprintf(&key, "%s%szarr.json", path, *path ? "/" : "") < 0)
        return false;
    const bool claims =
        zb_store_get(zb__place_of(hierarchy, key), key, zb_limits_get()->consolidated_bytes,
                     "consolidated_bytes", &text, &size, NULL, NULL) == ZB_OK &&
        says_three(text);
    free(text);
    free(key);
    return claims;
}

static int note_entry(void *context, const zb_list_entry *entry) {
    (void)entry;
    *(bool *)context = true;
    return 1;
}

/* True where a copy or a deletion was killed: the next node that is made there clears the rest. */
static bool has_left_overs(zb_hierarchy *hierarchy, const char *path) {
    bool is_noted;
    return zb__copy_marker_find(hierarchy, path, &is_noted, NULL) == ZB_OK && is_noted;
}

/* An object of the node's own name is in its way where objects are files. */
static bool is_object(zb_hierarchy *hierarchy, const char *path) {
    zb_object_info info;
    return *path && zb_store_stat(zb__place_of(hierarchy, path), path, &info, NULL) == ZB_OK;
}

enum zb_code zb_place_look(zb_hierarchy *hierarchy, const char *path, enum zb_place *out,
                           zb_error *err) {
    zb_node *node = NULL;
    bool any = false;
    enum zb_code code = ZB_OK;
    *out = ZB_PLACE_EMPTY;
    if (zb__is_absent(hierarchy, path)) /* one question in place of several */
        return ZB_OK;
    if ((zb_node_open(hierarchy, path, &node, NULL) == ZB_OK && zb_node_format(node) == 3) ||
        zb_place_claims_v3(hierarchy, path)) {
        *out = ZB_PLACE_NODE;
    } else {
        code = zb__hierarchy_list(hierarchy, &(zb_list){.prefix = path}, note_entry, &any, err);
        if (any ? !has_left_overs(hierarchy, path) : is_object(hierarchy, path))
            *out = ZB_PLACE_OTHER;
    }
    zb_node_release(node);
    return code;
}

bool zb_place_is_zip(const char *path) {
    zb_hierarchy *hierarchy;
    zb_node *root = NULL;
    if (!zb_path_is_zip(path) || zb_hierarchy_open(path, &hierarchy, NULL) != ZB_OK)
        return false;
    const bool is_node =
        zb_node_open(hierarchy, "", &root, NULL) == ZB_OK || zb_place_claims_v3(hierarchy, "");
    zb_node_release(root);
    zb_hierarchy_release(hierarchy);
    return is_node;
}

/* ---- By the name --------------------------------------------------------------------------- */

/* What a local name says without a look into a directory. */
static enum zb_code look_at_name(const char *path, enum zb_place *out, bool *is_directory,
                                 zb_error *err) {
    struct stat info;
    *is_directory = false;
    *out = ZB_PLACE_EMPTY;
    if (lstat(path, &info) != 0)
        return errno == ENOENT ? ZB_OK : zb_fail_errno(err, errno, "'%s'", path);
    if (S_ISREG(info.st_mode) && info.st_size == 0)
        return ZB_OK;
    *out = ZB_PLACE_OTHER; /* also links to empty files, and those that lead nowhere */
    *is_directory = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    return ZB_OK;
}

/* A node has no place in what is no store itself. */
static enum zb_code look_in(zb_hierarchy *hierarchy, const char *path, enum zb_place *out,
                            zb_error *err) {
    enum zb_code code = zb_place_look(hierarchy, "", out, err);
    if (!code && *path && *out != ZB_PLACE_OTHER)
        code = zb_place_look(hierarchy, path, out, err);
    return code;
}

static enum zb_code look_into(const char *name, const char *path, const zb_store_settings *settings,
                              enum zb_place *out, zb_error *err) {
    static const zb_store_settings no_settings = {.options = NULL};
    zb_hierarchy *hierarchy = NULL;
    enum zb_code code =
        zb_hierarchy_open_with(name, settings ? settings : &no_settings, &hierarchy, err);
    if (!code)
        code = look_in(hierarchy, path, out, err);
    zb_hierarchy_release(hierarchy);
    return code;
}

enum zb_code zb_destination_look(const char *name, const char *path,
                                 const zb_store_settings *settings, enum zb_place *out,
                                 zb_error *err) {
    bool is_directory;
    if (zb_name_is_url(name))
        return look_into(name, path, settings, out, err);
    enum zb_code code = look_at_name(name, out, &is_directory, err);
    if (!code && is_directory)
        code = look_into(name, path, settings, out, err);
    else if (!code && *out == ZB_PLACE_OTHER && zb_place_is_zip(name) && zb_path_becomes_zip(name))
        *out = ZB_PLACE_NODE;
    return code;
}

enum zb_code zb_destination_refuse(zb_error *err) {
    return zb_fail_errno(err, EEXIST,
                         "what is there is no Zarr version 3 store or node; it stays as it is");
}
