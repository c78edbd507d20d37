/* SPDX-License-Identifier: MIT */
/* The hierarchy of an open file: see h5_tree.h. */
#include "h5_tree.h"

#include "h5_attrs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* FNV-1a: small, and stable for good, since tokens are stored in references. */
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size) {
    const unsigned char *byte = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#define HASH_START UINT64_C(0xcbf29ce484222325)

bool vol_path_is_zarr(const char *path) {
    char *document = NULL;
    if (asprintf(&document, "%s/zarr.json", path) < 0)
        return false;
    struct stat info;
    bool found = stat(document, &info) == 0 && S_ISREG(info.st_mode);
    free(document);
    return found;
}

/* ---- Nodes ---- */

/* Depth first; recursion is bounded by the length of a path. */
static void node_free(vol_node *node) {
    if (!node)
        return;
    h5_lib *lib = node->file->lib;
    for (size_t i = 0; i < node->child_count; i++)
        node_free(node->child[i]);
    if (node->type > 0)
        lib->H5Tclose(node->type);
    if (node->dcpl > 0)
        lib->H5Pclose(node->dcpl);
    vol_attrs_free(node->attrs);
    zb_node_release(node->zarr);
    free(node->child);
    free(node->reason);
    free(node->path);
    free(node);
}

const char *vol_node_reason_text(const vol_node *node) {
    return node->reason ? node->reason : "no memory for the reason";
}

enum zb_code vol_node_reason(const vol_node *node, zb_error *err) {
    return zb_fail(err, ZB_EUNSUPPORTED, "%s", vol_node_reason_text(node));
}

/* The node keeps its place in the listing; what could be read of it goes. */
static void make_unreadable(vol_node *node, const char *reason) {
    node->kind = VOL_UNREADABLE;
    node->reason = strdup(reason);
    zb_node_release(node->zarr);
    node->zarr = NULL;
}

/* Zero and the largest values mean "undefined" to HDF5. */
static void register_token(vol_node *node) {
    uint64_t hash = hash_bytes(HASH_START, node->path, strlen(node->path)) & INT64_MAX;
    node->token = hash ? hash : 1;
    vol_node **bucket = &node->file->by_token[node->token % VOL_TOKEN_BUCKETS];
    for (const vol_node *other = *bucket; other; other = other->next_by_token) {
        if (other->token == node->token) {
            make_unreadable(node, "its path has the same hash as another node's");
            return;
        }
    }
    node->next_by_token = *bucket;
    *bucket = node;
}

/* Takes over `zarr` (NULL for a synthetic or unreadable node), also on failure. */
static enum zb_code node_new(vol_file *file, vol_node *parent, const char *name, zb_node *zarr,
                             vol_node **out, zb_error *err) {
    const uint64_t limit = zb_limits_get()->nodes;
    const bool below_root = !parent || !parent->parent;
    if (file->node_count >= limit) {
        zb_node_release(zarr);
        return zb_fail(err, ZB_ELIMIT, "%s has more than %llu nodes (limit nodes)", file->path,
                       (unsigned long long)limit);
    }
    vol_node *node = calloc(1, sizeof *node);
    if (!node || asprintf(&node->path, "%s/%s", below_root ? "" : parent->path, name) < 0) {
        zb_node_release(zarr);
        free(node);
        return zb_fail(err, ZB_ENOMEM, "no memory for node %s", name);
    }
    file->node_count++;
    node->file = file;
    node->parent = parent;
    node->name = strrchr(node->path, '/') + 1;
    node->zarr = zarr;
    node->kind = zarr && zb_node_array(zarr) ? VOL_DATASET : VOL_GROUP;
    register_token(node);
    *out = node;
    return ZB_OK;
}

/* Where `name` is among the known children, or would be inserted. */
static size_t child_position(const vol_node *group, const char *name, bool *found) {
    size_t low = 0, high = group->child_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(group->child[middle]->name, name);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *found = false;
    return low;
}

/* Adds a child at its position; takes over `zarr`. With a reason the node is unreadable. */
static enum zb_code add_child(vol_node *group, const char *name, zb_node *zarr, const char *reason,
                              vol_node **out, zb_error *err) {
    bool found;
    size_t at = child_position(group, name, &found);
    if (group->child_count == group->child_room) {
        size_t room = group->child_room ? 2 * group->child_room : 8;
        vol_node **grown = realloc(group->child, room * sizeof *grown);
        if (!grown) {
            zb_node_release(zarr);
            return zb_fail(err, ZB_ENOMEM, "no memory for the children of %s", group->path);
        }
        group->child = grown;
        group->child_room = room;
    }
    vol_node *node;
    enum zb_code code = node_new(group->file, group, name, zarr, &node, err);
    if (code)
        return code;
    if (reason)
        make_unreadable(node, reason);
    memmove(&group->child[at + 1], &group->child[at],
            (group->child_count - at) * sizeof group->child[0]);
    group->child[at] = node;
    group->child_count++;
    *out = node;
    return ZB_OK;
}

/* The store's path of a child: HDF5's without the leading slash. Array stores never get here, as
   their synthetic root is listed from the start. */
static enum zb_code open_child(vol_node *group, const char *name, vol_node **out, zb_error *err) {
    char *path = NULL;
    zb_node *zarr = NULL;
    zb_error reason;
    if (asprintf(&path, "%s%s%s", group->path + 1, group->parent ? "/" : "", name) < 0)
        return zb_fail(err, ZB_ENOMEM, "no memory for node %s", name);
    enum zb_code code = zb_node_open(group->file->store, path, &zarr, &reason);
    free(path);
    if (code == ZB_ENOTFOUND || code == ZB_EINVAL || code == ZB_ENOMEM) {
        if (err)
            *err = reason;
        return code == ZB_EINVAL ? ZB_ENOTFOUND : code;
    }
    return add_child(group, name, zarr, code ? reason.message : NULL, out, err);
}

/* One read of one document: opening a path lists no group. */
static vol_node *child_by_name(vol_node *group, const char *name, zb_error *err) {
    bool found;
    /* Which dimensions need a dataset shows only when all arrays are known. */
    if (group->kind == VOL_GROUP && group->file->options.netcdf_dimensions &&
        vol_node_list(group, err) != ZB_OK)
        return NULL;
    size_t at = child_position(group, name, &found);
    vol_node *node = NULL;
    if (found)
        return group->child[at];
    if (group->kind != VOL_GROUP || group->listed ||
        open_child(group, name, &node, err) == ZB_ENOTFOUND)
        zb_fail(err, ZB_ENOTFOUND, "there is no node %s%s%s", group->path, group->parent ? "/" : "",
                name);
    return node;
}

/* HDF5's rules for paths: empty parts and "." mean nothing, ".." is a name like any other (which no
   store has). */
vol_node *vol_node_find(vol_node *from, const char *path, zb_error *err) {
    vol_node *node = path[0] == '/' ? from->file->root : from;
    char *copy = strdup(path), *rest = copy, *part;
    if (!copy) {
        zb_fail(err, ZB_ENOMEM, "no memory for path %s", path);
        return NULL;
    }
    while (node && (part = strsep(&rest, "/"))) {
        if (!*part || strcmp(part, ".") == 0)
            continue;
        if (node->kind == VOL_UNREADABLE) {
            vol_node_reason(node, err);
            node = NULL;
        } else {
            node = child_by_name(node, part, err);
        }
    }
    free(copy);
    return node;
}

enum zb_code vol_node_list(vol_node *group, zb_error *err) {
    zb_children children;
    if (group->kind != VOL_GROUP)
        return zb_fail(err, ZB_EINVAL, "%s is no group", group->path);
    if (group->listed)
        return ZB_OK;
    enum zb_code code = zb_group_children(group->zarr, &children, err);
    if (code)
        return code;
    for (size_t i = 0; i < children.count && !code; i++) {
        const zb_child *child = &children.child[i];
        bool known;
        child_position(group, child->name, &known);
        if (known)
            continue;
        zb_node *zarr = child->node ? zb_node_retain(child->node) : NULL;
        const char *reason = zarr ? NULL : child->reason ? child->reason : "no reason given";
        vol_node *added;
        code = add_child(group, child->name, zarr, reason, &added, err);
    }
    zb_children_free(&children);
    group->listed = code == ZB_OK;
    if (!code && group->file->options.netcdf_dimensions)
        code = vol_dims_complete(group, err);
    return code;
}

enum zb_code vol_node_add_dimension(vol_node *group, const char *name, zb_node *zarr,
                                    zb_error *err) {
    vol_node *node;
    enum zb_code code = add_child(group, name, zarr, NULL, &node, err);
    if (!code)
        node->is_dimension = true;
    return code;
}

/* ---- Tokens ---- */

/* Every node is in the table from the moment it is made. */
static vol_node *known_by_token(const vol_file *file, uint64_t token) {
    vol_node *node = file->by_token[token % VOL_TOKEN_BUCKETS];
    while (node && node->token != token)
        node = node->next_by_token;
    return node;
}

/* Lists groups until the token turns up: a reference from an earlier session may name anything. */
static vol_node *search_token(vol_node *group, uint64_t token) {
    if (group->kind != VOL_GROUP || vol_node_list(group, NULL) != ZB_OK)
        return NULL;
    vol_node *node = known_by_token(group->file, token);
    for (size_t i = 0; i < group->child_count && !node; i++)
        node = search_token(group->child[i], token);
    return node;
}

vol_node *vol_node_by_token(vol_file *file, uint64_t token, zb_error *err) {
    vol_node *node = known_by_token(file, token);
    if (!node)
        node = search_token(file->root, token);
    if (!node)
        zb_fail(err, ZB_ENOTFOUND, "no object of %s has the address %llu", file->path,
                (unsigned long long)token);
    return node;
}

/* ---- Files ---- */

/* The dataset's name in an array store: the path's last part without its suffix. malloc'ed. */
static char *dataset_name(const char *path) {
    size_t end = strlen(path);
    while (end > 0 && path[end - 1] == '/')
        end--;
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

/* A store is known by its directory, whichever path led there. */
static uint64_t file_number(const char *path) {
    struct stat info = {0};
    if (stat(path, &info) != 0)
        return HASH_START;
    uint64_t hash = hash_bytes(HASH_START, &info.st_dev, sizeof info.st_dev);
    hash = hash_bytes(hash, &info.st_ino, sizeof info.st_ino);
    return hash | UINT64_C(1) << 62; /* native files are numbered from 1 */
}

/* An array cannot be HDF5's root: it gets a synthetic group above it. */
static enum zb_code add_array_root(vol_file *file, zb_node *zarr, zb_error *err) {
    vol_node *dataset;
    char *name = dataset_name(file->path);
    enum zb_code code = ZB_ENOMEM;
    if (name)
        code = node_new(file, NULL, "", NULL, &file->root, err);
    else
        zb_fail(err, ZB_ENOMEM, "no memory for the name of the dataset");
    if (code) {
        zb_node_release(zarr);
    } else {
        file->root->listed = true;
        code = add_child(file->root, name, zarr, NULL, &dataset, err);
    }
    if (!code && file->options.netcdf_dimensions)
        code = vol_dims_complete(file->root, err);
    free(name);
    return code;
}

static enum zb_code open_root(vol_file *file, zb_error *err) {
    zb_node *zarr = NULL;
    enum zb_code code = zb_node_open(file->store, "", &zarr, err);
    if (code)
        return code;
    if (zb_node_array(zarr))
        return add_array_root(file, zarr, err);
    return node_new(file, NULL, "", zarr, &file->root, err);
}

/* A node inside a store is opened as if it were the root: all that HDF5 can see lies below it. */
enum zb_code vol_file_open_path(h5_lib *lib, const char *path, vol_options options, vol_file **out,
                                zb_error *err) {
    vol_file *file = calloc(1, sizeof *file);
    if (!file || !(file->path = strdup(path))) {
        free(file);
        return zb_fail(err, ZB_ENOMEM, "no memory for file %s", path);
    }
    file->lib = lib;
    file->refs = 1;
    file->options = options;
    file->number = file_number(path);
    enum zb_code code = zb_store_open_fs(path, &file->store, err);
    if (!code)
        code = open_root(file, err);
    if (code) {
        vol_file_release(file);
        return code;
    }
    *out = file;
    return ZB_OK;
}

vol_file *vol_file_retain(vol_file *file) {
    file->refs++;
    return file;
}

void vol_file_release(vol_file *file) {
    if (!file || --file->refs > 0)
        return;
    node_free(file->root);
    zb_store_release(file->dimensions);
    zb_store_release(file->store);
    free(file->path);
    free(file);
}
