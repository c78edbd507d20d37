/* SPDX-License-Identifier: MIT */
/* Deleted datasets and types with ids: see kept.h. */
#include "model/kept.h"

#include "model/dataset.h"
#include "model/links.h"
#include "model/loose.h"
#include "model/waiting.h"
#include "model/writers.h"

#include "zarrbridge/change.h"

#include <stdlib.h>

struct vol_kept {
    vol_kept *next;
    vol_node *node;
    zb_store *store;
    zb_node *copy;
    uint64_t bytes;
};

static enum zb_code copy_node(vol_kept *kept, zb_error *err) {
    const zb_node *node = kept->node->zarr;
    enum zb_code code = zb_store_new_mem("(deleted object)", &kept->store, err);
    if (!code)
        code = zb_node_copy(zb_node_store(node), zb_node_path(node), kept->store, "", err);
    if (!code)
        code = zb_node_open(kept->store, "", &kept->copy, err);
    return code;
}

static void drop(vol_kept *kept) {
    kept->node->file->kept_bytes -= kept->bytes;
    zb_node_release(kept->copy);
    zb_store_release(kept->store);
    free(kept);
}

static bool has_ids(const vol_node *node) {
    return node->kind == VOL_DATATYPE ? node->pins > 0 : vol_dataset_ids(node) > 0;
}

/* Whether there is room for a copy of what the dataset takes in the store. A type takes what its
   node does, which stays in memory, too. */
static bool has_room(vol_node *node, uint64_t *bytes) {
    *bytes = 0;
    if (node->kind == VOL_DATATYPE)
        return true;
    const uint64_t limit = zb_limits_get()->write_cache_bytes, used = node->file->kept_bytes;
    return vol_writer_close(node, NULL) == ZB_OK &&
           zb_array_storage_size(node->zarr, bytes, NULL) == ZB_OK && used <= limit &&
           *bytes <= limit - used;
}

static void copy_one(vol_node *node, vol_kept **list) {
    uint64_t bytes;
    if (!has_ids(node) || node->is_dimension || node->is_unreadable || vol_loose_store(node) ||
        vol_waiting_flush(node, NULL) != ZB_OK || !has_room(node, &bytes))
        return;
    vol_kept *kept = calloc(1, sizeof *kept);
    if (!kept)
        return;
    *kept = (vol_kept){.next = *list, .node = node, .bytes = bytes};
    node->file->kept_bytes += bytes;
    if (copy_node(kept, NULL) == ZB_OK)
        *list = kept;
    else
        drop(kept);
}

static void copy_below(vol_node *node, vol_kept **list) {
    if (node->kind != VOL_GROUP)
        copy_one(node, list);
    for (size_t i = 0; i < vol_links_count(node); i++)
        if (vol_links_at(node, i)->node)
            copy_below(vol_links_at(node, i)->node, list);
}

vol_kept *vol_kept_copy(vol_node *top) {
    vol_kept *list = NULL;
    copy_below(top, &list);
    return list;
}

static void take_place(vol_kept *kept) {
    if (!vol_node_replace(kept->node, zb_node_retain(kept->copy)))
        return;
    vol_loose_set_store(kept->node, zb_store_retain(kept->store));
    kept->node->kept_bytes = kept->bytes;
    kept->bytes = 0; /* the node's now */
}

void vol_kept_end(vol_kept *kept, bool deleted) {
    for (vol_kept *next; kept; kept = next) {
        next = kept->next;
        if (deleted)
            take_place(kept);
        drop(kept);
    }
}

/* An array without elements has no chunks. */
void vol_kept_forget(vol_node *dataset) {
    const uint64_t nothing[ZB_MAX_NDIM] = {0};
    zb_node *emptied = NULL;
    if (!dataset->loose || !vol_loose_store(dataset) || zb_node_array(dataset->zarr)->ndim == 0 ||
        zb_array_resize(dataset->zarr, nothing, &emptied, NULL) != ZB_OK)
        return;
    vol_node_replace(dataset, emptied);
    dataset->file->kept_bytes -= dataset->kept_bytes;
    dataset->kept_bytes = 0;
}
