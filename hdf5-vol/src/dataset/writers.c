/* SPDX-License-Identifier: MIT */
/* The writers of datasets: see writers.h. */
#include "dataset/writers.h"

#include "dataset/stored_chunks.h"
#include "file/owners.h"
#include "tree/tree.h"

#include "zarrbridge/limits.h"
#include "zarrbridge/write.h"

#include <unistd.h>

/* A writer takes some KiB that the budget does not know of. */
#define MOST_RESTING 1000

/* ---- Those that rest ---- */

static void rest_no_more(vol_node *dataset) {
    vol_writing *own = &dataset->writing;
    if (!own->rests)
        return;
    *(own->before ? &own->before->writing.behind : &dataset->file->lib->resting) = own->behind;
    if (own->behind)
        own->behind->writing.before = own->before;
    own->before = own->behind = NULL;
    own->rests = false;
    dataset->file->lib->resting_count--;
}

static void rest(vol_node *dataset) {
    vol_node **first = &dataset->file->lib->resting;
    dataset->writing.behind = *first;
    if (*first)
        (*first)->writing.before = dataset;
    *first = dataset;
    dataset->writing.rests = true;
    dataset->file->lib->resting_count++;
}

/* What cannot be stored waits, but is not tried again here. */
void vol_writers_store_resting(h5_lib *lib, const vol_file *file) {
    for (vol_node *one = lib->resting, *next; one; one = next) {
        next = one->writing.behind;
        if (file && one->file != file)
            continue;
        rest_no_more(one);
        vol_writer_close(one, NULL);
    }
}

/* A writer stores early only what is its own: so others leave it half of the memory. */
static void make_room(h5_lib *lib) {
    const uint64_t most = zb_limits_get()->write_cache_bytes / 2;
    if (lib->resting && (lib->resting_count > MOST_RESTING || zb_writers_waiting_bytes() > most))
        vol_writers_store_resting(lib, NULL);
}

static bool waits(const vol_node *dataset) {
    const uint64_t start[ZB_MAX_NDIM] = {0};
    return dataset->writing.writer &&
           zb_writer_waits(dataset->writing.writer, start, zb_node_array(dataset->zarr)->shape);
}

static bool is_forked(const vol_file *file) {
    return file->process != getpid();
}

void vol_writer_end(vol_node *dataset, bool may_rest) {
    rest_no_more(dataset);
    if (may_rest && !dataset->file->ranks && !is_forked(dataset->file) && waits(dataset))
        rest(dataset);
    else
        vol_writer_close(dataset, NULL);
}

/* ---- Each ---- */

enum zb_code vol_writer_get(vol_node *dataset, zb_writer **out, zb_error *err) {
    const vol_options *chosen = &dataset->file->options;
    /* The other strategies change stored shards; there are none elsewhere. */
    const bool sharded = zb_node_array(dataset->zarr)->shard_depth > 0;
    const zb_write_options options = {.sync = chosen->sync,
                                      .strategy = sharded ? chosen->strategy : ZB_REWRITE};
    enum zb_code code = ZB_OK;
    vol_owners_note(dataset);
    rest_no_more(dataset);
    make_room(dataset->file->lib);
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
    const bool is_anothers = node->writing.rests && is_forked(node->file);
    enum zb_code code = is_anothers ? ZB_OK : zb_writer_flush(node->writing.writer, err);
    node->writing.dirty = code != ZB_OK;
    if (node->writing.rests && !code)
        vol_writer_abandon(node);
    return code;
}

/* zb_writer_close would forget the data that it could not store. */
enum zb_code vol_writer_close(vol_node *node, zb_error *err) {
    enum zb_code code = vol_writer_flush(node, err);
    if (!code)
        vol_writer_abandon(node);
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
    rest_no_more(node);
    zb_writer_abandon(node->writing.writer);
    node->writing = (vol_writing){.writer = NULL};
}
