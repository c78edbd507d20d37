/* SPDX-License-Identifier: MIT */
/* Single nodes: see node.h. */
#include "model/node.h"

#include "hdf5/errors.h"
#include "hdf5/type_json.h"
#include "model/aliases.h"
#include "model/attribute_list.h"
#include "model/dataset.h"
#include "model/dimension_uses.h"
#include "model/links.h"
#include "model/loose.h"
#include "model/named_links.h"
#include "model/side.h"
#include "model/stored_chunks.h"
#include "model/stored_names.h"
#include "model/tree.h"
#include "model/waiting.h"
#include "model/writers.h"
#include "zarrbridge/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hid_t vol_node_datatype(vol_node *node) {
    const zb_json *json = vol_side_get(node, VOL_SIDE_DATATYPE);
    return json ? vol_type_parse(node->file->lib, json) : -1;
}

static bool is_datatype(vol_node *node) {
    hid_t type = node->kind == VOL_GROUP ? vol_node_datatype(node) : -1;
    vol_release_id(node->file->lib, type);
    return type >= 0;
}

enum zb_code vol_node_new(vol_file *file, zb_node *zarr, vol_node **out, zb_error *err) {
    const uint64_t limit = zb_limits_get()->open_nodes;
    if (file->node_count >= limit) {
        zb_node_release(zarr);
        return zb_fail(err, ZB_ELIMIT, "%s needs more than %llu nodes at once (limit open_nodes)",
                       file->shown, (unsigned long long)limit);
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
    if (zarr && is_datatype(node))
        node->kind = VOL_DATATYPE;
    *out = node;
    return ZB_OK;
}

/* Ids that other rooms have stored in the node. */
static void close_ids(vol_node *node) {
    vol_node_forget_type(node);
    if (node->dcpl > 0)
        node->file->lib->H5Pclose(node->dcpl);
    node->dcpl = 0;
}

/* Depth first; recursion is bounded by the length of a path. */
void vol_node_free(vol_node *node) {
    if (!node)
        return;
    for (size_t i = 0; i < vol_links_count(node); i++)
        vol_node_free(vol_links_at(node, i)->node);
    vol_links_clear(node); /* named links are in both lists */
    vol_named_forget(node);
    vol_alias_free_list(node);
    vol_uses_free(node->uses);
    node->file->node_count--;
    close_ids(node);
    vol_attrs_free(node->attrs.list);
    vol_side_forget(node);
    vol_waiting_forget(node);
    vol_writer_abandon(node);
    zb_node_release(node->zarr);
    vol_loose_set_store(node, NULL);
    vol_node_forget_stored_chunks(node);
    free(node->max_shape);
    vol_node_free_dataset(node);
    free(node->path);
    free(node);
}

/* In a file that is only read no node changes its place, so that the counts above stay right. In
   others each node counts its own pins, and forget.c looks below. */
static void add_pins(vol_node *node, size_t more) {
    for (; node; node = node->file->writable ? NULL : node->parent)
        node->pins += more;
}

void vol_node_pin(vol_node *node) {
    add_pins(node, 1);
}

void vol_node_unpin(vol_node *node) {
    add_pins(node, (size_t)-1);
}

enum zb_code vol_node_each_below(vol_node *node, enum zb_code (*act)(vol_node *, zb_error *),
                                 zb_error *err) {
    enum zb_code first = act(node, err);
    for (size_t i = 0; i < vol_links_count(node); i++) {
        zb_error other;
        vol_node *child = vol_links_at(node, i)->node;
        enum zb_code code = child ? vol_node_each_below(child, act, first ? &other : err) : ZB_OK;
        first = first ? first : code;
    }
    return first;
}

/* ---- Paths ---- */

bool vol_node_set_path(vol_node *node, const vol_node *parent, const char *name) {
    const bool below_root = !parent || !parent->parent;
    char *path = NULL;
    if (asprintf(&path, "%s/%s", below_root ? "" : parent->path, name) < 0)
        return false;
    free(node->path);
    node->path = path;
    node->name = strrchr(path, '/') + 1;
    return true;
}

/* The core's nodes know where they are; a synthetic root stands for its only child's place. */
enum zb_code vol_node_child_path(const vol_node *group, const char *name, char **out,
                                 zb_error *err) {
    const char *above = group->zarr ? zb_node_path(group->zarr) : "";
    char *stored = vol_name_stored(name);
    const bool good = stored && asprintf(out, "%s%s%s", above, *above ? "/" : "", stored) >= 0;
    free(stored);
    if (good)
        return ZB_OK;
    *out = NULL;
    return zb_fail(err, ZB_ENOMEM, "no memory for the path of %s", name);
}

/* ---- Changes ---- */

static bool is_alike(const vol_node *node, const zb_node *zarr) {
    const zb_array_info *old = zb_node_array(node->zarr), *now = zb_node_array(zarr);
    return (now != NULL) == (old != NULL) && (!now || now->ndim == old->ndim);
}

static bool is_same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Attributes of other nodes are made of these, too. */
static bool has_same_dimensions(const zb_array_info *a, const zb_array_info *b) {
    if (!a || !b)
        return a == b;
    if (!a->dimension_names != !b->dimension_names)
        return false;
    for (uint32_t d = 0; d < a->ndim; d++)
        if (a->shape[d] != b->shape[d] ||
            (a->dimension_names && !is_same_text(a->dimension_names[d], b->dimension_names[d])))
            return false;
    return true;
}

bool vol_node_replace(vol_node *node, zb_node *zarr) {
    if (!is_alike(node, zarr)) {
        zb_node_release(zarr);
        return false;
    }
    if (!has_same_dimensions(zb_node_array(node->zarr), zb_node_array(zarr)))
        node->file->changes++;
    close_ids(node); /* names of fields are the old document's */
    vol_side_forget(node);
    zb_node_release(node->zarr);
    node->zarr = zarr;
    vol_waiting_document_changed(node);
    return true;
}
