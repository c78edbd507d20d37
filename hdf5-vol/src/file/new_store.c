/* SPDX-License-Identifier: MIT */
/* Creating and deleting stores: see new_store.h. */
#include "file/new_store.h"

#include "file/open_files.h"
#include "file/names.h"
#include "zarrbridge/change.h"
#include "zarrbridge/conventions.h"
#include "zarrbridge/sys/hierarchy.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* HDF5 does not allow it for its own files either. */
static enum zb_code check_not_open(const h5_lib *lib, const char *path, zb_error *err) {
    return vol_file_find(lib, path, false)
               ? zb_fail(err, ZB_ECONFLICT, "'%s' is open already", path)
               : ZB_OK;
}

static enum zb_code fail_other(const char *path, const char *verb, zb_error *err) {
    return zb_error_prefix(err, zb_destination_refuse(err), "cannot %s '%s'", verb, path);
}

static enum zb_code delete_node(const vol_location *where, const zb_store_settings *settings,
                                zb_error *err) {
    zb_hierarchy *hierarchy = NULL;
    enum zb_code code = zb_hierarchy_open_with(where->root, settings, &hierarchy, err);
    if (!code)
        code = zb_node_delete(hierarchy, where->node, err);
    zb_hierarchy_release(hierarchy);
    return code;
}

/* Whether there is something of that name already: an empty directory is, too. */
static bool exists(const char *path, enum zb_place found) {
    struct stat info;
    return found != ZB_PLACE_EMPTY || (!vol_filename_is_url(path) && lstat(path, &info) == 0);
}

/* A link to a file is no place, so that the user's own words count and not what they lead to. */
static enum zb_code look_at(const char *path, const vol_location *where,
                            const zb_store_settings *settings, enum zb_place *found,
                            zb_error *err) {
    const bool is_whole = !*where->node && !vol_filename_is_url(path);
    return zb_destination_look(is_whole ? path : where->root, where->node, settings, found, err);
}

/* An archive is replaced when the new one is complete. */
static enum zb_code make_way(h5_lib *lib, const char *path, const vol_location *where,
                             const zb_store_settings *settings, bool truncate, zb_error *err) {
    enum zb_place found;
    enum zb_code code = look_at(path, where, settings, &found, err);
    if (code)
        return code;
    if (!truncate && exists(path, found))
        return zb_fail_errno(err, EEXIST, "cannot create '%s'", path);
    if (found == ZB_PLACE_OTHER)
        return fail_other(path, "create", err);
    const bool is_zip = vol_filename_becomes_zip(path);
    if (is_zip && exists(path, found)) /* it is replaced, by rights of the directory alone */
        code = zb_path_may_write(path, err);
    if (!code && (is_zip || found == ZB_PLACE_NODE))
        code = check_not_open(lib, path, err);
    return code || is_zip || found != ZB_PLACE_NODE ? code : delete_node(where, settings, err);
}

enum zb_code vol_store_create(h5_lib *lib, const char *path, const vol_options *options,
                              bool truncate, const char *attributes, vol_handle **out,
                              zb_error *err) {
    const zb_store_settings settings = {.options = options->remote};
    vol_location where = {NULL, NULL};
    zb_hierarchy *hierarchy = NULL;
    zb_node *root = NULL;
    const bool is_zip = vol_filename_becomes_zip(path);
    enum zb_code code = is_zip ? ZB_OK : vol_filename_check_changes(path, err);
    if (!code)
        code = vol_location_find(path, &where, err);
    if (!code)
        code = make_way(lib, path, &where, &settings, truncate, err);
    if (!code)
        code = zb_hierarchy_create(where.root, &settings, &hierarchy, err);
    if (!code) {
        zb_hierarchy_set_sync(hierarchy, options->sync);
        code = zb_group_create(hierarchy, where.node, attributes, &root, err);
        if (code == ZB_ECONFLICT &&
            !truncate) /* another program has made it since make_way looked */
            code = zb_fail_errno(err, EEXIST, "cannot create '%s'", path);
    }
    if (!code && options->sync != ZB_SYNC_NONE)
        code = zb_hierarchy_flush(hierarchy, err);
    zb_node_release(root);
    /* Archives and stores in buckets are this store until it is committed; a directory's own words
       are the better label. */
    if (!code)
        code = is_zip || vol_filename_is_url(path)
                   ? vol_handle_adopt(lib, path, options, hierarchy, where.node, out, err)
                   : vol_handle_open(lib, path, options, true, out, err);
    zb_hierarchy_release(hierarchy);
    vol_location_clear(&where);
    return code;
}

/* All that HDF5 deletes is there, and is a node. */
static enum zb_code check_deletion(const h5_lib *lib, const char *path, const vol_location *where,
                                   const zb_store_settings *settings, zb_error *err) {
    enum zb_place found;
    enum zb_code code = look_at(path, where, settings, &found, err);
    if (!code && found != ZB_PLACE_NODE)
        code = fail_other(path, "delete", err);
    return code ? code : check_not_open(lib, path, err);
}

enum zb_code vol_store_delete(h5_lib *lib, const char *path, const vol_options *options,
                              zb_error *err) {
    const zb_store_settings settings = {.options = options->remote};
    const bool is_zip = vol_filename_becomes_zip(path);
    vol_location where = {NULL, NULL};
    enum zb_code code = is_zip ? ZB_OK : vol_filename_check_changes(path, err);
    if (!code)
        code = vol_location_find(path, &where, err);
    if (!code)
        code = check_deletion(lib, path, &where, &settings, err);
    if (!code && is_zip)
        code = unlink(path) == 0 ? ZB_OK : zb_fail_errno(err, errno, "cannot delete '%s'", path);
    else if (!code)
        code = delete_node(&where, &settings, err);
    vol_location_clear(&where);
    if (!code && !is_zip)
        zb_store_remove_directory(path); /* foreign files stay, and the directory with them */
    return code;
}
