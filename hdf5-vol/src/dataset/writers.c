/* SPDX-License-Identifier: MIT */
/* The writers of datasets: see writers.h. */
#include "dataset/writers.h"

#include "dataset/stored_chunks.h"
#include "file/owners.h"
#include "tree/tree.h"

#include "zarrbridge/write.h"

enum zb_code vol_writer_get(vol_node *dataset, zb_writer **out, zb_error *err) {
    const vol_options *chosen = &dataset->file->options;
    /* The other strategies change stored shards; there are none elsewhere. */
    const bool sharded = zb_node_array(dataset->zarr)->shard_depth > 0;
    const zb_write_options options = {.sync = chosen->sync,
                                      .strategy = sharded ? chosen->strategy : ZB_REWRITE};
    enum zb_code code = ZB_OK;
    vol_owners_note(dataset);
    if (!dataset->writing.writer)
        code = zb_writer_open(dataset->zarr, &options, &dataset->writing.writer, err);
    dataset->writing.dirty |= !code;
    vol_node_forget_stored_chunks(dataset);
    *out = dataset->writing.writer;
    return code;
}

bool vol_writer_is_open(const vol_node *dataset) {
    return dataset->writing.writer != NULL;
}

enum zb_code vol_writer_settle(vol_node *dataset, const uint64_t *start, const uint64_t *count,
                               zb_error *err) {
    return dataset->writing.dirty ? zb_writer_store_box(dataset->writing.writer, start, count, err)
                                  : ZB_OK;
}

enum zb_code vol_writer_flush(vol_node *node, zb_error *err) {
    if (!node->writing.writer || !node->writing.dirty)
        return ZB_OK;
    enum zb_code code = zb_writer_flush(node->writing.writer, err);
    node->writing.dirty = code != ZB_OK;
    return code;
}

/* zb_writer_close would forget the data that it could not store. */
enum zb_code vol_writer_close(vol_node *node, zb_error *err) {
    enum zb_code code = vol_writer_flush(node, err);
    if (!code) {
        zb_writer_abandon(node->writing.writer);
        node->writing.writer = NULL;
    }
    return code;
}

enum zb_code vol_writer_before_resize(vol_node *dataset, const uint64_t *shape, zb_error *err) {
    const bool goes_on =
        dataset->writing.writer && zb_writer_can_grow(dataset->writing.writer, shape);
    return goes_on ? ZB_OK : vol_writer_close(dataset, err);
}

enum zb_code vol_writer_after_resize(vol_node *dataset, const zb_node *now, zb_error *err) {
    if (!dataset->writing.writer || zb_writer_grow(dataset->writing.writer, now, NULL) == ZB_OK)
        return ZB_OK;
    return vol_writer_close(dataset, err);
}

void vol_writer_abandon(vol_node *node) {
    zb_writer_abandon(node->writing.writer);
    node->writing = (vol_writing){.writer = NULL};
}
