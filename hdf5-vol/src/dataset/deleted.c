/* SPDX-License-Identifier: MIT */
/* Deleted datasets and types with ids: see deleted.h. */
#include "dataset/deleted.h"

#include "dataset/dataset.h"
#include "dataset/writers.h"
#include "file/open_files.h"
#include "links/links.h"
#include "tree/loose.h"
#include "tree/node_life.h"
#include "waiting/waiting_store.h"

#include "zarrbridge/change.h"

#include <stdlib.h>

struct vol_deleted {
    vol_deleted *next;
    vol_node *node;
    zb_hierarchy *hierarchy;
    zb_node *copy;
    uint64_t bytes;
};

static enum zb_code copy_node(vol_deleted *one, zb_error *err) {
    const zb_node *node = one->node->zarr;
    enum zb_code code = zb_hierarchy_new_mem("(deleted object)", &one->hierarchy, err);
    if (!code)
        code = zb_node_copy(zb_node_hierarchy(node), zb_node_path(node), one->hierarchy, "", err);
    if (!code)
        code = zb_node_open(one->hierarchy, "", &one->copy, err);
    return code;
}

static void drop(vol_deleted *one) {
    one->node->file->deleted_bytes -= one->bytes;
    zb_node_release(one->copy);
    zb_hierarchy_release(one->hierarchy);
    free(one);
}

static bool has_ids(const vol_node *node) {
    return node->kind == VOL_DATATYPE ? node->pins > 0 : vol_node_ids(node) > 0;
}

/* Whether the limit allows a copy of what the dataset takes in the store. A type takes what its
   node does, which stays in memory, too. */
static bool is_allowed(vol_node *node, uint64_t *bytes) {
    *bytes = 0;
    if (node->kind == VOL_DATATYPE)
        return true;
    const uint64_t limit = zb_limits_get()->write_cache_bytes, used = node->file->deleted_bytes;
    return vol_writer_close(node, NULL) == ZB_OK &&
           zb_array_storage_size(node->zarr, bytes, NULL) == ZB_OK && used <= limit &&
           *bytes <= limit - used;
}

static void copy_one(vol_node *node, vol_deleted **list) {
    uint64_t bytes;
    if (!has_ids(node) || node->is_dimension || node->is_unreadable || vol_loose_hierarchy(node) ||
        vol_waiting_flush(node, NULL) != ZB_OK || !is_allowed(node, &bytes))
        return;
    vol_deleted *one = calloc(1, sizeof *one);
    if (!one)
        return;
    *one = (vol_deleted){.next = *list, .node = node, .bytes = bytes};
    node->file->deleted_bytes += bytes;
    if (copy_node(one, NULL) == ZB_OK)
        *list = one;
    else
        drop(one);
}

static void copy_below(vol_node *node, vol_deleted **list) {
    if (node->kind != VOL_GROUP)
        copy_one(node, list);
    for (size_t i = 0; i < vol_links_count(node); i++)
        if (vol_links_at(node, i)->node)
            copy_below(vol_links_at(node, i)->node, list);
}

vol_deleted *vol_deleted_keep(vol_node *top) {
    vol_deleted *list = NULL;
    copy_below(top, &list);
    return list;
}

static void take_place(vol_deleted *one) {
    if (!vol_node_replace(one->node, zb_node_retain(one->copy)))
        return;
    vol_loose_set_hierarchy(one->node, zb_hierarchy_retain(one->hierarchy));
    one->node->deleted_bytes = one->bytes;
    one->bytes = 0; /* the node's now */
}

void vol_deleted_end(vol_deleted *list, bool deleted) {
    for (vol_deleted *one = list, *next; one; one = next) {
        next = one->next;
        if (deleted)
            take_place(one);
        drop(one);
    }
}

/* An array without elements has no chunks. */
void vol_deleted_forget(vol_node *dataset) {
    const uint64_t nothing[ZB_MAX_NDIM] = {0};
    zb_node *emptied = NULL;
    if (!dataset->loose || !vol_loose_hierarchy(dataset) ||
        zb_node_array(dataset->zarr)->ndim == 0 ||
        zb_array_resize(dataset->zarr, nothing, &emptied, NULL) != ZB_OK)
        return;
    vol_node_replace(dataset, emptied);
    dataset->file->deleted_bytes -= dataset->deleted_bytes;
    dataset->deleted_bytes = 0;
}

bool vol_dataset_gives_way(vol_node *dataset) {
    zb_error why = {0};
    vol_link *link = vol_link_of(dataset);
    if (!dataset->is_doubted || !link || dataset->kind != VOL_DATASET || !dataset->zarr)
        return false;
    dataset->is_doubted = false;
    if (zb_array_still(dataset->zarr, NULL) != ZB_ECONFLICT)
        return false;
    if (vol_writer_close(dataset, &why) != ZB_OK)
        vol_report_lost(dataset->file, &why);
    vol_writer_abandon_below(dataset);
    vol_tree_close(link);
    return true;
}
