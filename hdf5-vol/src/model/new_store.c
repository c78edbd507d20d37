/* SPDX-License-Identifier: MIT */
/* Creating and deleting stores: see new_store.h. */
#include "model/new_store.h"

#include "model/files.h"
#include "model/names.h"
#include "zarrbridge/change.h"
#include "zarrbridge/conventions.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* HDF5 does not allow it for its own files either. */
static enum zb_code check_not_open(const h5_lib *lib, const char *path, zb_error *err) {
    return vol_file_find(lib, path, false)
               ? zb_fail(err, ZB_ECONFLICT, "'%s' is open already", path)
               : ZB_OK;
}

/* What is at a place that exists. A file is no store, and something else. */
static enum zb_code look_at(const vol_location *where, const zb_store_settings *settings,
                            zb_store **store, enum zb_place *found, zb_error *err) {
    *store = NULL;
    *found = ZB_PLACE_OTHER;
    enum zb_code code = zb_name_is_url(where->root)
                            ? zb_store_open_with(where->root, settings, store, err)
                            : zb_store_open_fs(where->root, store, err);
    if (code == ZB_ENOTFOUND)
        return ZB_OK;
    return code ? code : zb_place_look(*store, where->node, found, err);
}

static enum zb_code fail_other(const char *path, const char *verb, zb_error *err) {
    return zb_fail_errno(err, EEXIST, "cannot %s '%s': what is there is no Zarr v3 node, and stays",
                         verb, path);
}

/* Whether an empty file is in the way, as programs make it to have a name for themselves. */
static bool is_empty_file(const struct stat *info) {
    return S_ISREG(info->st_mode) && info->st_size == 0;
}

/* The same in a bucket, which has no directories. */
static enum zb_code make_way_in_bucket(h5_lib *lib, const char *path, const vol_location *where,
                                       const zb_store_settings *settings, bool truncate,
                                       zb_error *err) {
    zb_store *store;
    enum zb_place found;
    enum zb_code code = look_at(where, settings, &store, &found, err);
    if (!code && found == ZB_PLACE_OTHER)
        code = fail_other(path, "create", err);
    if (!code && found == ZB_PLACE_NODE) {
        code = truncate ? check_not_open(lib, path, err)
                        : zb_fail_errno(err, EEXIST, "cannot create '%s'", path);
        if (!code)
            code = zb_node_delete(store, where->node, err);
    }
    zb_store_release(store);
    return code;
}

/* An archive is replaced when the new one is complete. */
static enum zb_code make_way_for_zip(const h5_lib *lib, const char *path, bool truncate,
                                     zb_error *err) {
    struct stat info;
    if (lstat(path, &info) == 0 && !truncate)
        return zb_fail_errno(err, EEXIST, "cannot create '%s'", path);
    if (zb_place_look_zip(path) == ZB_PLACE_OTHER)
        return fail_other(path, "create", err);
    return check_not_open(lib, path, err);
}

/* Only a Zarr node and an empty file may be replaced, and only an empty directory, or no directory,
   be filled. */
static enum zb_code make_way(h5_lib *lib, const char *path, const vol_location *where,
                             const zb_store_settings *settings, bool truncate, zb_error *err) {
    struct stat info;
    zb_store *store;
    enum zb_place found;
    if (zb_name_is_url(where->root))
        return make_way_in_bucket(lib, path, where, settings, truncate, err);
    if (vol_name_becomes_zip(path))
        return make_way_for_zip(lib, path, truncate, err);
    if (lstat(path, &info) != 0)
        return errno == ENOENT ? ZB_OK : zb_fail_errno(err, errno, "'%s'", path);
    if (!truncate)
        return zb_fail_errno(err, EEXIST, "cannot create '%s'", path);
    if (is_empty_file(&info))
        return unlink(path) == 0 ? ZB_OK : zb_fail_errno(err, errno, "cannot replace '%s'", path);
    enum zb_code code = look_at(where, settings, &store, &found, err);
    /* A file in a store is nothing to it. */
    const bool is_directory = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    if (!code && (found == ZB_PLACE_OTHER || !is_directory))
        code = fail_other(path, "create", err);
    if (!code && found == ZB_PLACE_NODE)
        code = check_not_open(lib, path, err);
    if (!code && found == ZB_PLACE_NODE)
        code = zb_node_delete(store, where->node, err);
    zb_store_release(store);
    return code;
}

enum zb_code vol_store_create(h5_lib *lib, const char *path, const vol_options *options,
                              bool truncate, const char *attributes, vol_handle **out,
                              zb_error *err) {
    const zb_store_settings settings = {.options = options->remote};
    vol_location where = {NULL, NULL};
    zb_store *store = NULL;
    zb_node *root = NULL;
    const bool is_zip = vol_name_becomes_zip(path);
    enum zb_code code = is_zip ? ZB_OK : vol_name_check_changes(path, err);
    if (!code)
        code = vol_location_find(path, &where, err);
    if (!code)
        code = make_way(lib, path, &where, &settings, truncate, err);
    if (!code)
        code = zb_store_create(where.root, &settings, &store, err);
    if (!code) {
        vol_store_prepare(store, options);
        code = zb_group_create(store, where.node, attributes, &root, err);
    }
    if (!code && options->sync != ZB_SYNC_NONE)
        code = zb_store_flush(store, err);
    zb_node_release(root);
    /* Archives and stores in buckets are this store until it is sealed; a directory's own words are
       the better label. */
    if (!code)
        code = is_zip || vol_name_is_url(path)
                   ? vol_handle_adopt(lib, path, options, store, where.node, out, err)
                   : vol_handle_open(lib, path, options, true, out, err);
    zb_store_release(store);
    vol_location_clear(&where);
    return code;
}

static enum zb_code delete_zip(const h5_lib *lib, const char *path, zb_error *err) {
    if (zb_place_look_zip(path) != ZB_PLACE_NODE)
        return fail_other(path, "delete", err);
    const enum zb_code code = check_not_open(lib, path, err);
    if (code)
        return code;
    return unlink(path) == 0 ? ZB_OK : zb_fail_errno(err, errno, "cannot delete '%s'", path);
}

enum zb_code vol_store_delete(h5_lib *lib, const char *path, const vol_options *options,
                              zb_error *err) {
    const zb_store_settings settings = {.options = options->remote};
    vol_location where;
    zb_store *store = NULL;
    enum zb_place found;
    if (vol_name_becomes_zip(path))
        return delete_zip(lib, path, err);
    enum zb_code code = vol_name_check_changes(path, err);
    if (!code)
        code = check_not_open(lib, path, err);
    if (!code)
        code = vol_location_find(path, &where, err);
    if (code)
        return code;
    code = look_at(&where, &settings, &store, &found, err);
    if (!code && found != ZB_PLACE_NODE)
        code = fail_other(path, "delete", err);
    if (!code)
        code = zb_node_delete(store, where.node, err);
    zb_store_release(store);
    vol_location_clear(&where);
    if (!code)
        rmdir(path); /* foreign files stay, and the directory with them */
    return code;
}
