/* SPDX-License-Identifier: MIT */
/* The hierarchy of an open file: see tree.h. */
#include "model/tree.h"

#include "attributes/attributes.h"

#include "zarrbridge/write.h"
#include "zarrbridge/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a: small, and good enough for a table. */
uint64_t vol_hash(uint64_t hash, const void *data, size_t size) {
    const unsigned char *byte = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* ---- Nodes ---- */

/* Depth first; recursion is bounded by the length of a path. */
void vol_node_free(vol_node *node) {
    if (!node)
        return;
    h5_lib *lib = node->file->lib;
    for (size_t i = 0; i < node->child_count; i++)
        vol_node_free(node->child[i]);
    if (node->type > 0)
        lib->H5Tclose(node->type);
    if (node->dcpl > 0)
        lib->H5Pclose(node->dcpl);
    vol_attrs_free(node->attrs);
    zb_writer_abandon(node->writer);
    zb_node_release(node->zarr);
    zb_store_release(node->own_store);
    free(node->max_shape);
    free(node->told);
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

/* Zero and the largest values mean "undefined" to HDF5. False when another node has the token. */
static bool register_token(vol_node *node) {
    uint64_t hash = vol_hash(VOL_HASH_START, node->path, strlen(node->path)) & INT64_MAX;
    node->token = hash ? hash : 1;
    vol_node **bucket = &node->file->by_token[node->token % VOL_TOKEN_BUCKETS];
    for (const vol_node *other = *bucket; other; other = other->next_by_token) {
        if (other->token == node->token)
            return false;
    }
    node->next_by_token = *bucket;
    *bucket = node;
    return true;
}

static void unregister_token(vol_node *node) {
    vol_node **link = &node->file->by_token[node->token % VOL_TOKEN_BUCKETS];
    while (*link && *link != node)
        link = &(*link)->next_by_token;
    if (*link)
        *link = node->next_by_token;
    node->next_by_token = NULL;
}

static bool set_path(vol_node *node, const vol_node *parent, const char *name) {
    const bool below_root = !parent || !parent->parent;
    char *path = NULL;
    if (asprintf(&path, "%s/%s", below_root ? "" : parent->path, name) < 0)
        return false;
    free(node->path);
    node->path = path;
    node->name = strrchr(path, '/') + 1;
    return true;
}

/* Takes over `zarr` (NULL for a synthetic or unreadable node), also on failure. */
static enum zb_code node_new(vol_file *file, zb_node *zarr, vol_node **out, zb_error *err) {
    const uint64_t limit = zb_limits_get()->nodes;
    if (file->node_count >= limit) {
        zb_node_release(zarr);
        return zb_fail(err, ZB_ELIMIT, "%s has more than %llu nodes (limit nodes)", file->path,
                       (unsigned long long)limit);
    }
    vol_node *node = calloc(1, sizeof *node);
    if (!node) {
        zb_node_release(zarr);
        return zb_fail(err, ZB_ENOMEM, "no memory for a node");
    }
    file->node_count++;
    node->file = file;
    node->zarr = zarr;
    node->kind = zarr && zb_node_array(zarr) ? VOL_DATASET : VOL_GROUP;
    *out = node;
    return ZB_OK;
}

/* A node with a place in the hierarchy; its parent does not know it yet. */
static enum zb_code placed_new(vol_file *file, vol_node *parent, const char *name, zb_node *zarr,
                               vol_node **out, zb_error *err) {
    vol_node *node;
    enum zb_code code = node_new(file, zarr, &node, err);
    if (code)
        return code;
    if (!set_path(node, parent, name)) {
        vol_node_free(node);
        return zb_fail(err, ZB_ENOMEM, "no memory for node %s", name);
    }
    node->parent = parent;
    if (!register_token(node))
        make_unreadable(node, "its path has the same hash as another node's");
    *out = node;
    return ZB_OK;
}

enum zb_code vol_node_new_root(vol_file *file, zb_node *zarr, vol_node **out, zb_error *err) {
    enum zb_code code = placed_new(file, NULL, "", zarr, out, err);
    if (!code && !zarr)
        (*out)->listed = true;
    return code;
}

/* Tokens of loose nodes count down from the largest, as no reference keeps them. */
static void make_loose(vol_node *node) {
    vol_file *file = node->file;
    node->loose = true;
    node->token = INT64_MAX - ++file->last_loose_token;
}

enum zb_code vol_node_new_loose(vol_file *file, zb_node *zarr, vol_node **out, zb_error *err) {
    enum zb_code code = node_new(file, zarr, out, err);
    if (code)
        return code;
    (*out)->path = strdup("");
    if (!(*out)->path) {
        vol_node_free(*out);
        return zb_fail(err, ZB_ENOMEM, "no memory for a node");
    }
    (*out)->name = (*out)->path;
    make_loose(*out);
    (*out)->next_loose = file->loose;
    file->loose = *out;
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

/* Makes room for one more. */
static enum zb_code reserve_child(vol_node *group, zb_error *err) {
    if (group->child_count < group->child_room)
        return ZB_OK;
    size_t room = group->child_room ? 2 * group->child_room : 8;
    vol_node **grown = realloc(group->child, room * sizeof *grown);
    if (!grown)
        return zb_fail(err, ZB_ENOMEM, "no memory for the children of %s", group->path);
    group->child = grown;
    group->child_room = room;
    return ZB_OK;
}

static void insert_child(vol_node *group, vol_node *node) {
    bool found;
    size_t at = child_position(group, node->name, &found);
    memmove(&group->child[at + 1], &group->child[at],
            (group->child_count - at) * sizeof group->child[0]);
    group->child[at] = node;
    group->child_count++;
}

/* Adds a child at its position; takes over `zarr`. With a reason the node is unreadable. */
static enum zb_code add_child(vol_node *group, const char *name, zb_node *zarr, const char *reason,
                              vol_node **out, zb_error *err) {
    enum zb_code code = reserve_child(group, err);
    if (code) {
        zb_node_release(zarr);
        return code;
    }
    vol_node *node;
    code = placed_new(group->file, group, name, zarr, &node, err);
    if (code)
        return code;
    if (reason)
        make_unreadable(node, reason);
    insert_child(group, node);
    *out = node;
    return ZB_OK;
}

enum zb_code vol_node_add(vol_node *group, const char *name, zb_node *zarr, vol_node **out,
                          zb_error *err) {
    return add_child(group, name, zarr, NULL, out, err);
}

/* The core's nodes know where they are; a synthetic root stands for its only child's place. */
char *vol_node_store_path(const vol_node *group, const char *name) {
    const char *above = group->zarr ? zb_node_path(group->zarr) : "";
    char *path = NULL;
    if (!name)
        return strdup(above);
    return asprintf(&path, "%s%s%s", above, *above ? "/" : "", name) < 0 ? NULL : path;
}

/* Array stores never get here, as their synthetic root is listed from the start. */
static enum zb_code open_child(vol_node *group, const char *name, vol_node **out, zb_error *err) {
    zb_node *zarr = NULL;
    zb_error reason;
    char *path = vol_node_store_path(group, name);
    if (!path)
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
    if (group->kind == VOL_GROUP && group->file->options.dimensions == VOL_DIMENSIONS_ON &&
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
    if (!code && group->file->options.dimensions == VOL_DIMENSIONS_ON)
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

/* ---- Changing places ---- */

static void remove_child(vol_node *node) {
    vol_node *group = node->parent;
    size_t at = 0;
    while (at < group->child_count && group->child[at] != node)
        at++;
    memmove(&group->child[at], &group->child[at + 1],
            (group->child_count - at - 1) * sizeof group->child[0]);
    group->child_count--;
}

/* Children stay with their parent, which owns them. */
static void loosen(vol_node *node) {
    unregister_token(node);
    make_loose(node);
    for (size_t i = 0; i < node->child_count; i++)
        loosen(node->child[i]);
}

void vol_node_detach(vol_node *node) {
    vol_file *file = node->file;
    remove_child(node);
    loosen(node);
    node->parent = NULL;
    node->next_loose = file->loose;
    file->loose = node;
    file->changes++;
}

static bool is_alike(const vol_node *node, const zb_node *zarr) {
    const zb_array_info *old = zb_node_array(node->zarr), *now = zb_node_array(zarr);
    return (now != NULL) == (old != NULL) && (!now || now->ndim == old->ndim);
}

bool vol_node_replace(vol_node *node, zb_node *zarr) {
    h5_lib *lib = node->file->lib;
    if (!is_alike(node, zarr)) {
        zb_node_release(zarr);
        return false;
    }
    zb_node_release(node->zarr);
    node->zarr = zarr;
    node->file->changes++;
    if (node->dcpl > 0)
        lib->H5Pclose(node->dcpl);
    if (node->type > 0)
        lib->H5Tclose(node->type);
    node->dcpl = node->type = 0;
    return true;
}

void vol_node_tell_shape(vol_node *dataset) {
    const zb_array_info *info = zb_node_array(dataset->zarr);
    if (!dataset->told)
        dataset->told = calloc(info->ndim + 1, sizeof *dataset->told);
    if (dataset->told && info->ndim > 0)
        memcpy(dataset->told, info->shape, info->ndim * sizeof *info->shape);
}

bool vol_node_shape_is_told(const vol_node *dataset) {
    const zb_array_info *info = zb_node_array(dataset->zarr);
    return dataset->told && (info->ndim == 0 || memcmp(dataset->told, info->shape,
                                                       info->ndim * sizeof *info->shape) == 0);
}

/* The node has its parent already. */
static void place_again(vol_node *node, const char *name) {
    zb_node *zarr = NULL;
    char *path = vol_node_store_path(node->parent, name);
    bool placed = path && set_path(node, node->parent, name);
    node->loose = false;
    bool stored = node->zarr && !node->is_dimension;
    if (!placed || !register_token(node) ||
        (stored && zb_node_open(node->file->store, path, &zarr, NULL) != ZB_OK))
        make_loose(node);
    else if (zarr)
        vol_node_replace(node, zarr);
    free(path);
    for (size_t i = 0; i < node->child_count; i++) {
        vol_node *child = node->child[i];
        unregister_token(child);
        place_again(child, child->name);
    }
}

enum zb_code vol_node_relink(vol_node *node, vol_node *group, const char *name, zb_error *err) {
    vol_file *file = node->file;
    char *copy = strdup(name);
    enum zb_code code = copy ? reserve_child(group, err) : zb_fail(err, ZB_ENOMEM, "no memory");
    if (!code) {
        if (node->parent) {
            remove_child(node);
            unregister_token(node);
        } else {
            vol_node **link = &file->loose;
            while (*link != node)
                link = &(*link)->next_loose;
            *link = node->next_loose;
        }
        node->parent = group;
        place_again(node, copy);
        insert_child(group, node);
        file->changes++;
    }
    free(copy);
    return code;
}
