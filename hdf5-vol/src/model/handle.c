/* SPDX-License-Identifier: MIT */
/*
 * Files: see handle.h.
 *
 * A node inside a store can be opened as if it were the root: all that HDF5 can see lies below it.
 * For writing the store is nevertheless taken as a whole, from its topmost group, because groups
 * above may hold consolidated metadata of the nodes that are about to change.
 */
#include "model/handle.h"

#include "model/dimensions.h"
#include "model/tokens.h"
#include "model/writers.h"
#include "zarrbridge/conventions.h"

#include "zarrbridge/change.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The kinds of elements for which hdf5/shown.h has a form. */
#define VOL_KINDS                                                                                  \
    (ZB_PLAIN_KINDS | 1u << ZB_KIND_STRING | 1u << ZB_KIND_BYTES | 1u << ZB_KIND_STRUCT |          \
     1u << ZB_KIND_DATETIME | 1u << ZB_KIND_TIMEDELTA | 1u << ZB_KIND_CHARS |                      \
     1u << ZB_KIND_UTF32 | 1u << ZB_KIND_SMALL | 1u << ZB_KIND_SMALL_COMPLEX)

/* ---- Paths ---- */

static bool holds(const char *directory, const char *name) {
    char *document = NULL;
    if (asprintf(&document, "%s/%s", directory, name) < 0)
        return false;
    struct stat info;
    bool found = stat(document, &info) == 0 && S_ISREG(info.st_mode);
    free(document);
    return found;
}

static const char *const documents[] = {"zarr.json", ".zgroup", ".zarray", ".zmetadata"};
#define DOCUMENTS (sizeof documents / sizeof documents[0])

bool vol_path_is_zarr(const char *path) {
    for (size_t i = 0; i < DOCUMENTS; i++)
        if (holds(path, documents[i]))
            return true;
    return zb_place_is_zip(path);
}

char *vol_path_without_document(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *above = slash ? strndup(path, slash > path ? (size_t)(slash - path) : 1) : strdup(".");
    for (size_t i = 0; above && i < DOCUMENTS; i++)
        if (strcmp(name, documents[i]) == 0 && holds(above, name))
            return above;
    free(above);
    return strdup(path);
}

enum zb_code vol_path_look(const char *path, zb_error *err) {
    zb_store *store = NULL;
    zb_node *node = NULL;
    enum zb_code code = zb_store_open(path, &store, err);
    if (!code)
        code = zb_node_open(store, "", &node, err);
    zb_node_release(node);
    zb_store_release(store);
    return code;
}

/* The length of a path without the slashes at its end. */
static size_t trimmed_length(const char *path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

/* The absolute path of something that need not exist, in a directory that does. malloc'ed. */
static enum zb_code resolve(const char *path, char **out, zb_error *err) {
    *out = realpath(path, NULL);
    if (*out)
        return ZB_OK;
    size_t end = trimmed_length(path), start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    char *above = strndup(start ? path : ".", start ? start : 1);
    char *resolved = above ? realpath(above, NULL) : NULL;
    enum zb_code code = ZB_OK;
    if (!resolved)
        code = zb_fail_errno(err, errno, "the directory of '%s'", path);
    else if (asprintf(out, "%s/%.*s", resolved[1] ? resolved : "", (int)(end - start),
                      path + start) < 0)
        code = zb_fail(err, ZB_ENOMEM, "no memory for a path");
    free(resolved);
    free(above);
    return code;
}

/* A place in a store: its directory, and the path of a node in it. */
typedef struct place {
    char *top;
    char *node;
} place;

static void place_clear(place *where) {
    free(where->top);
    free(where->node);
    *where = (place){NULL, NULL};
}

/* Changes take the lock of version 3's hierarchy, to which groups of version 2 do not belong. */
static bool holds_document(void *unused, const char *directory) {
    (void)unused;
    return holds(directory, "zarr.json");
}

static enum zb_code find_place(const char *path, place *out, zb_error *err) {
    *out = (place){NULL, NULL};
    char *full = NULL;
    enum zb_code code = resolve(path, &full, err);
    if (!code)
        code = zb_path_split(full, holds_document, NULL, &out->top, &out->node, err);
    free(full);
    return code;
}

static bool has_suffix(const char *path, const char *suffix) {
    const size_t length = trimmed_length(path), size = strlen(suffix);
    return length >= size && strncmp(path + length - size, suffix, size) == 0;
}

bool vol_path_becomes_zarr(const char *path) {
    place where;
    if (has_suffix(path, ".zarr") || has_suffix(path, ".zarr.zip"))
        return true;
    const bool inside = find_place(path, &where, NULL) == ZB_OK && *where.node;
    place_clear(&where);
    return inside;
}

/* A store is known by its directory, whichever path led there. */
static uint64_t file_number(const char *path) {
    struct stat info = {0};
    if (stat(path, &info) != 0)
        return VOL_HASH_START;
    uint64_t hash = vol_hash(VOL_HASH_START, &info.st_dev, sizeof info.st_dev);
    hash = vol_hash(hash, &info.st_ino, sizeof info.st_ino);
    return hash | UINT64_C(1) << 62; /* native files are numbered from 1 */
}

/* ---- The root ---- */

/* The dataset's name in an array store: the path's last part without its suffix. malloc'ed. */
static char *dataset_name(const char *path) {
    size_t end = trimmed_length(path);
    if (end == 1 && path[0] == '/')
        end = 0;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    size_t dot = end;
    while (dot > start && path[dot - 1] != '.')
        dot--;
    if (dot > start)
        end = dot - 1;
    char *name = end > start ? strndup(path + start, end - start) : NULL;
    if (!name || strcmp(name, ".") == 0) {
        free(name);
        name = strdup("data");
    }
    return name;
}

/* An array cannot be HDF5's root: it gets a synthetic group above it. */
static enum zb_code add_array_root(vol_file *file, zb_node *zarr, zb_error *err) {
    vol_node *dataset;
    char *name = dataset_name(file->path);
    enum zb_code code = ZB_ENOMEM;
    if (name)
        code = vol_tree_new_root(file, NULL, &file->root, err);
    else
        zb_fail(err, ZB_ENOMEM, "no memory for the name of the dataset");
    if (code)
        zb_node_release(zarr);
    else
        code = vol_tree_add(file->root, name, zarr, &dataset, err);
    if (!code && file->options.dimensions == VOL_DIMENSIONS_ON)
        code = vol_dims_complete(file->root, err);
    free(name);
    return code;
}

static enum zb_code open_root(vol_file *file, const char *node, zb_error *err) {
    zb_node *zarr = NULL;
    enum zb_code code = zb_node_open(file->store, node, &zarr, err);
    if (code)
        return code;
    if (file->writable && zb_node_format(zarr) == 2) {
        zb_node_release(zarr);
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "'%s' is Zarr version 2, which is read but not changed; `zarrbridge copy` "
                       "makes a store of version 3 of it",
                       file->path);
    }
    if (file->options.dimensions == VOL_DIMENSIONS_AUTO &&
        zb_json_get(zb_node_attributes(zarr), "_NCProperties"))
        file->options.dimensions = VOL_DIMENSIONS_ON;
    if (zb_node_array(zarr))
        return add_array_root(file, zarr, err);
    return vol_tree_new_root(file, zarr, &file->root, err);
}

/* ---- Files ---- */

/* Ids may outlive the file's own. */
static void store_rest(vol_file *file) {
    zb_error err;
    if (file->root && vol_file_flush(file, &err) != ZB_OK)
        vol_report_lost(file, &err);
}

static void file_release(vol_file *file) {
    if (--file->refs > 0)
        return;
    store_rest(file);
    vol_file **link = &file->lib->files;
    while (*link && *link != file)
        link = &(*link)->next;
    if (*link)
        *link = file->next;
    vol_node_free(file->root);
    while (file->loose) {
        vol_node *node = file->loose;
        file->loose = node->next_loose;
        vol_node_free(node);
    }
    zb_store_release(file->dimensions);
    zb_store_release(file->store);
    free(file->path);
    free(file);
}

static enum zb_code check_changes(const char *path, zb_error *err) {
    if (!zb_path_is_zip(path))
        return ZB_OK;
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "'%s' is a zip archive, which is read but not changed: unpack it, or write a "
                   "copy (`zarrbridge copy`)",
                   path);
}

static enum zb_code file_open(h5_lib *lib, const char *path, const vol_options *options,
                              bool writable, vol_file **out, zb_error *err) {
    place where = {NULL, NULL};
    vol_file *file = calloc(1, sizeof *file);
    if (!file || !(file->path = strdup(path))) {
        free(file);
        return zb_fail(err, ZB_ENOMEM, "no memory for file %s", path);
    }
    file->lib = lib;
    file->refs = 1;
    file->options = *options;
    file->writable = writable;
    file->number = file_number(path);
    file->changes = 1;
    enum zb_code code = writable ? check_changes(path, err) : ZB_OK;
    if (!code && writable)
        code = find_place(path, &where, err);
    if (!code) /* the user's own words, in messages, whenever they mean the same directory */
        code = zb_store_open(where.node && *where.node ? where.top : path, &file->store, err);
    if (!code) {
        zb_store_set_kinds(file->store, VOL_KINDS);
        zb_store_set_sync(file->store, options->sync);
        code = open_root(file, where.node ? where.node : "", err);
    }
    place_clear(&where);
    if (code) {
        file_release(file);
        return code;
    }
    file->next = lib->files;
    lib->files = file;
    *out = file;
    return ZB_OK;
}

/* The file that is open for writing already, if any. */
static vol_file *find_writable(const h5_lib *lib, const char *path) {
    const uint64_t number = file_number(path);
    vol_file *file = lib->files;
    while (file && !(file->writable && file->number == number))
        file = file->next;
    return file;
}

/* ---- Handles ---- */

/* Takes over one reference to file. */
static enum zb_code handle_new(vol_file *file, bool writable, vol_handle **out, zb_error *err) {
    vol_handle *handle = calloc(1, sizeof *handle);
    if (!handle) {
        file_release(file);
        return zb_fail(err, ZB_ENOMEM, "no memory for a file");
    }
    *handle = (vol_handle){.refs = 1, .file = file, .writable = writable};
    *out = handle;
    return ZB_OK;
}

enum zb_code vol_handle_open(h5_lib *lib, const char *path, const vol_options *options,
                             bool writable, vol_handle **out, zb_error *err) {
    if (writable && access(path, W_OK) != 0)
        return zb_fail_errno(err, errno, "cannot open '%s' for writing", path);
    vol_file *file = find_writable(lib, path);
    if (file)
        file->refs++;
    enum zb_code code = file ? ZB_OK : file_open(lib, path, options, writable, &file, err);
    return code ? code : handle_new(file, writable, out, err);
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
    if (vol_manners_copy(file->lib, &handle->manners, &(*out)->manners))
        return ZB_OK;
    vol_handle_release(*out);
    return zb_fail(err, ZB_ENOMEM, "no memory for an access list");
}

vol_handle *vol_handle_retain(vol_handle *handle) {
    handle->refs++;
    return handle;
}

void vol_handle_release(vol_handle *handle) {
    if (!handle || --handle->refs > 0)
        return;
    vol_manners_clear(handle->file->lib, &handle->manners);
    file_release(handle->file);
    free(handle);
}

/* ---- Creating and deleting ---- */

/* HDF5 does not allow it for its own files either. */
static enum zb_code check_not_open(const h5_lib *lib, const char *path, zb_error *err) {
    const uint64_t number = file_number(path);
    for (const vol_file *file = lib->files; file; file = file->next) {
        if (file->number == number)
            return zb_fail(err, ZB_ECONFLICT, "'%s' is open already", path);
    }
    return ZB_OK;
}

/* What is at a place that exists. A file is no store, and something else. */
static enum zb_code look_at(const place *where, zb_store **store, enum zb_place *found,
                            zb_error *err) {
    *store = NULL;
    *found = ZB_PLACE_OTHER;
    enum zb_code code = zb_store_open_fs(where->top, store, err);
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

/* Only a Zarr node and an empty file may be replaced, and only an empty directory, or no directory,
   be filled. */
static enum zb_code make_way(h5_lib *lib, const char *path, const place *where, bool truncate,
                             zb_error *err) {
    struct stat info;
    zb_store *store;
    enum zb_place found;
    if (lstat(path, &info) != 0)
        return errno == ENOENT ? ZB_OK : zb_fail_errno(err, errno, "'%s'", path);
    if (!truncate)
        return zb_fail_errno(err, EEXIST, "cannot create '%s'", path);
    if (is_empty_file(&info))
        return unlink(path) == 0 ? ZB_OK : zb_fail_errno(err, errno, "cannot replace '%s'", path);
    enum zb_code code = look_at(where, &store, &found, err);
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

enum zb_code vol_handle_create(h5_lib *lib, const char *path, const vol_options *options,
                               bool truncate, const char *attributes, vol_handle **out,
                               zb_error *err) {
    place where;
    zb_store *store = NULL;
    zb_node *root = NULL;
    if (has_suffix(path, ".zip"))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "'%s' would be a zip archive, which is not created here: create a store "
                       "without .zip, and pack it with `zarrbridge copy STORE ARCHIVE`",
                       path);
    enum zb_code code = find_place(path, &where, err);
    if (code)
        return code;
    code = make_way(lib, path, &where, truncate, err);
    if (!code)
        code = zb_store_create_fs(where.top, &store, err);
    if (!code) {
        zb_store_set_kinds(store, VOL_KINDS);
        zb_store_set_sync(store, options->sync);
        code = zb_group_create(store, where.node, attributes, &root, err);
    }
    if (!code && options->sync != ZB_SYNC_NONE)
        code = zb_store_flush(store, err);
    zb_node_release(root);
    zb_store_release(store);
    place_clear(&where);
    return code ? code : vol_handle_open(lib, path, options, true, out, err);
}

enum zb_code vol_path_delete(h5_lib *lib, const char *path, zb_error *err) {
    place where;
    zb_store *store = NULL;
    enum zb_place found;
    enum zb_code code = check_not_open(lib, path, err);
    if (!code)
        code = find_place(path, &where, err);
    if (code)
        return code;
    code = look_at(&where, &store, &found, err);
    if (!code && found != ZB_PLACE_NODE)
        code = fail_other(path, "delete", err);
    if (!code)
        code = zb_node_delete(store, where.node, err);
    zb_store_release(store);
    place_clear(&where);
    if (!code)
        rmdir(path); /* foreign files stay, and the directory with them */
    return code;
}
