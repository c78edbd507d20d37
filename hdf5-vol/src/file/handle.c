/* SPDX-License-Identifier: MIT */
/*
 * Files: see handle.h.
 *
 * A node inside a store can be opened as if it were the root: all that HDF5 can see lies below it.
 * For writing the store is nevertheless taken as a whole, from its topmost group, because groups
 * above may hold consolidated metadata of the nodes that are about to change.
 */
#include "file/handle.h"

#include "dataset/writers.h"
#include "file/open_files.h"
#include "file/names.h"
#include "file/owners.h"
#include "objects/tokens.h"
#include "scales/dimension_records.h"
#include "tree/loose.h"
#include "tree/node_life.h"
#include "tree/side.h"
#include "zarrbridge/change.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- The root ---- */

/* An array cannot be HDF5's root: it gets a synthetic group above it. */
static enum zb_code add_array_root(vol_file *file, zb_node *zarr, zb_error *err) {
    vol_node *dataset;
    char *name = zb_name_of_root(file->shown);
    enum zb_code code = ZB_ENOMEM;
    if (name)
        code = vol_tree_new_root(file, NULL, &file->root, err);
    else
        zb_fail(err, ZB_ENOMEM, "no memory for the name of the dataset");
    if (code)
        zb_node_release(zarr);
    else
        code = vol_tree_add(file->root, name, zarr, &dataset, err);
    if (!code)
        code = file->extras->show_made(file->root, err);
    free(name);
    return code;
}

static enum zb_code open_root(vol_file *file, const char *node, zb_error *err) {
    zb_node *zarr = NULL;
    enum zb_code code = zb_node_open(file->hierarchy, node, &zarr, err);
    if (code)
        return code;
    code = file->writable ? zb_node_may_change(zarr, err) : ZB_OK;
    if (code) {
        zb_node_release(zarr);
        return code;
    }
    if (file->options.dimensions == VOL_DIMENSIONS_AUTO &&
        (file->options.is_netcdf || zb_json_get(zb_node_attributes(zarr), "_NCProperties")))
        file->options.dimensions = VOL_DIMENSIONS_ON;
    if (zb_node_array(zarr))
        return add_array_root(file, zarr, err);
    return vol_tree_new_root(file, zarr, &file->root, err);
}

/* ---- Files ---- */

/* Ids may outlive the file's own. */
static void store_rest(vol_file *file) {
    zb_error err;
    if (file->root && vol_file_flush(file, NULL, &err) != ZB_OK)
        vol_report_lost(file, &err);
}

static void file_release(vol_file *file) {
    if (--file->refs > 0)
        return;
    store_rest(file);
    vol_file_unlist(file);
    vol_node_free(file->root);
    for (vol_node *node; (node = vol_loose_next(file, NULL)) != NULL;) {
        vol_loose_take(node);
        vol_node_free(node);
    }
    h5_ranks_free(file->ranks);
    vol_side_forget_last(file);
    vol_moved_clear(file);
    vol_token_clear(file);
    vol_map_clear(&file->type_users);
    zb_hierarchy_release(file->dimensions);
    zb_hierarchy_release(file->hierarchy);
    free(file->shown);
    free(file->path);
    free(file);
}

static enum zb_code open_store(vol_file *file, zb_error *err) {
    vol_location where = {NULL, NULL};
    enum zb_code code = ZB_OK;
    if (file->writable)
        code = vol_filename_check_changes(file->path, err);
    if (!code && file->writable)
        code = vol_location_find(file->path, &where, err);
    if (!code && (!file->writable || !*where.node)) {
        /* the user's own words, in messages, whenever they mean the same directory */
        vol_location_clear(&where);
        code = vol_location_read(file->path, &where, err);
    }
    if (!code)
        code = zb_hierarchy_open_with(where.root,
                                      &(zb_store_settings){.options = file->options.remote},
                                      &file->hierarchy, err);
    if (!code) {
        zb_hierarchy_set_sync(file->hierarchy, file->options.sync);
        code = open_root(file, where.node, err);
    }
    vol_location_clear(&where);
    return code;
}

/* Files of other names in the same store do not share its nodes, and look at what is stored. */
static void store_resting(h5_lib *lib, const char *path) {
    for (const vol_file *one = lib->resting ? lib->files : NULL; one; one = one->next)
        if (one->writable && vol_filename_overlaps(one->path, path))
            vol_writers_store_resting(lib, one);
}

/* store: one that is open and prepared, with the node that is to be the root; or NULL. */
static enum zb_code file_open(h5_lib *lib, const char *path, const vol_options *options,
                              bool writable, zb_hierarchy *hierarchy, const char *node,
                              vol_file **out, zb_error *err) {
    vol_file *file = calloc(1, sizeof *file);
    store_resting(lib, path);
    if (!file || !(file->path = strdup(path)) || !(file->shown = vol_filename_in_messages(path))) {
        if (file)
            free(file->path);
        free(file);
        return zb_fail(err, ZB_ENOMEM, "no memory for the name of a file");
    }
    file->lib = lib;
    file->refs = 1;
    file->process = getpid();
    file->options = *options;
    file->extras = &vol_dimension_extras;
    file->writable = writable;
    file->number = vol_filename_number(path);
    file->changes = 1;
    if (hierarchy)
        file->hierarchy = zb_hierarchy_retain(hierarchy);
    enum zb_code code = hierarchy ? open_root(file, node, err) : open_store(file, err);
    if (code) {
        file_release(file);
        return code;
    }
    vol_file_enlist(file);
    *out = file;
    return ZB_OK;
}

/* ---- Handles ---- */

/* Takes over one reference to file. */
static enum zb_code handle_new(vol_file *file, bool writable, vol_handle **out, zb_error *err) {
    vol_handle *handle = calloc(1, sizeof *handle);
    if (!handle) {
        file_release(file);
        return zb_fail(err, ZB_ENOMEM, "no memory for a file");
    }
    *handle = (vol_handle){.refs = 1, .file = file, .writable = writable, .next = file->handles};
    if (file->writable)
        handle->owner = vol_owners_enter(file);
    file->handles = handle;
    *out = handle;
    return ZB_OK;
}

/* HDF5 has one state of each of its files, which is open for reading alone until all of it is
   closed; programs rely on the error. Here the readers would go on with what they had found. */
static enum zb_code check_may_write(const h5_lib *lib, const char *path, zb_error *err) {
    const enum zb_code code = vol_filename_is_url(path) ? ZB_OK : zb_path_may_write(path, err);
    return !code && vol_file_find(lib, path, false)
               ? zb_fail(err, ZB_ECONFLICT,
                         "'%s' is already open for read-only; close it, with all objects in it, or "
                         "open it for writing first",
                         path)
               : code;
}

enum zb_code vol_handle_open(h5_lib *lib, const char *path, const vol_options *options,
                             bool writable, vol_handle **out, zb_error *err) {
    vol_file *file = vol_file_find(lib, path, true);
    enum zb_code code = !file && writable ? check_may_write(lib, path, err) : ZB_OK;
    if (code)
        return code;
    if (file)
        file->refs++;
    else
        code = file_open(lib, path, options, writable, NULL, NULL, &file, err);
    return code ? code : handle_new(file, writable, out, err);
}

enum zb_code vol_handle_adopt(h5_lib *lib, const char *path, const vol_options *options,
                              zb_hierarchy *hierarchy, const char *node, vol_handle **out,
                              zb_error *err) {
    vol_file *file;
    enum zb_code code = file_open(lib, path, options, true, hierarchy, node, &file, err);
    return code ? code : handle_new(file, true, out, err);
}

enum zb_code vol_handle_again(const vol_handle *handle, vol_handle **out, zb_error *err) {
    vol_file *file = handle->file;
    file->refs += file->writable;
    enum zb_code code =
        file->writable ? handle_new(file, handle->writable, out, err)
                       : vol_handle_open(file->lib, file->path, &file->options, false, out, err);
    if (code)
        return code;
    (*out)->swmr = handle->swmr;
    (*out)->is_collective = handle->is_collective && (*out)->file == file;
    if (vol_manners_copy(file->lib, &handle->manners, &(*out)->manners))
        return ZB_OK;
    vol_handle_release(*out);
    return zb_fail(err, ZB_ENOMEM, "no memory for an access list");
}

enum zb_code vol_handle_join(vol_handle *handle, h5_ranks *ranks, hid_t fapl, zb_error *err) {
    vol_file *file = handle->file;
    const hid_t list = file->lib->H5Pcopy(fapl);
    handle->is_collective = true;
    if (file->ranks)
        h5_ranks_free(ranks); /* those of the handle before are the same */
    else
        file->ranks = ranks;
    if (list < 0)
        return zb_fail(err, ZB_ENOMEM, "no memory for an access list");
    vol_manners_clear(file->lib, &handle->manners);
    handle->manners.list = list;
    return ZB_OK;
}

vol_handle *vol_handle_retain(vol_handle *handle) {
    handle->refs++;
    return handle;
}

void vol_handle_release(vol_handle *handle) {
    if (!handle || --handle->refs > 0)
        return;
    vol_file *file = handle->file;
    vol_handle **link = &file->handles;
    while (*link != handle)
        link = &(*link)->next;
    *link = handle->next;
    vol_owners_leave(file, handle->owner);
    vol_manners_clear(file->lib, &handle->manners);
    file_release(file);
    free(handle);
}
