/* SPDX-License-Identifier: MIT */
/* The life of nodes: see node_life.h. */
#include "tree/node_life.h"

#include "attributes/attribute_list.h"
#include "dataset/dataset.h"
#include "dataset/stored_chunks.h"
#include "dataset/writers.h"
#include "hdf5/errors.h"
#include "links/alias_list.h"
#include "links/links.h"
#include "links/link_entries.h"
#include "scales/dimension_set.h"
#include "tree/loose.h"
#include "tree/side.h"
#include "tree/tree.h"
#include "waiting/waiting.h"

#include "zarrbridge/limits.h"

#include <stdlib.h>
#include <string.h>

static enum zb_code find_kind(vol_node *node, zb_error *err) {
    bool lacks_memory = false;
    node->kind = node->zarr && zb_node_array(node->zarr) ? VOL_DATASET : VOL_GROUP;
    enum zb_code code = vol_side_load(node, err);
    hid_t type = !code && node->kind == VOL_GROUP ? vol_node_datatype(node, &lacks_memory) : -1;
    vol_release_id(node->file->lib, type);
    if (type >= 0)
        node->kind = VOL_DATATYPE;
    return lacks_memory ? zb_fail(err, ZB_ENOMEM, "no memory for a type") : code;
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
    const enum zb_code code = find_kind(node, err);
    if (code) {
        vol_node_free(node);
        return code;
    }
    *out = node;
    return ZB_OK;
}

/* Ids that other layers have stored in the node. */
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
    size_t at = 0;
    for (vol_node *child; (child = vol_links_opened(node, &at));)
        vol_node_free(child);
    vol_links_clear(node); /* entries are in both lists */
    vol_link_entries_forget(node);
    vol_alias_list_free(node->aliases);
    vol_dimension_set_free(node->uses);
    node->file->node_count--;
    close_ids(node);
    vol_attrs_free(node->attrs.list);
    vol_side_free(node);
    vol_waiting_forget(node);
    vol_writer_abandon(node);
    zb_node_release(node->zarr);
    vol_loose_set_hierarchy(node, NULL);
    vol_node_forget_stored_chunks(node);
    free(node->max_shape);
    free(node->records);
    vol_node_free_dataset(node);
    free(node->path);
    free(node);
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
    zb_node_release(node->zarr);
    node->zarr = zarr;
    vol_side_renew(node);
    vol_waiting_document_changed(node);
    return true;
}
