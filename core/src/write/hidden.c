/* SPDX-License-Identifier: MIT */
/*
 * Chunks that come together (zb_writer_hide). They are put into a directory that nobody knows, each
 * by three calls of the system, where one that is seen at once takes thirty: for its lock, its
 * temporary name, and the looks at the array. Instead the array is looked at once, under the
 * hierarchy's lock, so that no program changes its shape before the chunks are there.
 *
 * Whole chunks alone can be out of sight: who merges or reads shows them first.
 */
#include "write/writer.h"

#include <stdlib.h>
#include <string.h>

#include "array/keys.h"
#include "hierarchy/hierarchy.h"
#include "hierarchy/lock_scope.h"
#include "hierarchy/path.h"
#include "hierarchy/staged.h"
#include "node/current.h"
#include "node/node.h"
#include "store/store.h"

#define DIRECTORY "c" /* that all chunks lie in, of the default keys */

void zb_writer_hide(zb_writer *writer) {
    const zb_node *node = writer->node;
    const zb_home home = zb__node_home(node);
    const zb__array *array = node->array;
    if (writer->unseen || array->info.ndim == 0 || !zb__chunk_key_enters(&array->keys, DIRECTORY))
        return;
    char *prefix = zb__path_join(node->path, DIRECTORY);
    if (prefix && zb__unseen_begin(zb__node_store(node), prefix, &home, &writer->unseen, NULL) == 0)
        writer->unseen_from = strlen(prefix) + 1;
    free(prefix);
}

/* Whether the array's last chunk may be put tells it of all: it is the one that a change of the
   shape cuts, or lets go. */
static enum zb_code check_last(zb_writer *writer, zb_error *err) {
    const zb_array_info *info = &writer->node->array->info;
    uint64_t index[ZB_MAX_NDIM];
    for (uint32_t d = 0; d < info->ndim; d++) {
        if (info->shape[d] == 0)
            return ZB_OK;
        index[d] = zb_array_chunk_of(writer->node, ZB_GRID_CHUNKS, d, info->shape[d] - 1).index;
    }
    char *key = zb__array_chunk_key(writer->node, index);
    const enum zb_code code = key ? zb_batch_check(&writer->batch, key, err)
                                  : zb_fail(err, ZB_ENOMEM, "no memory for a chunk's key");
    free(key);
    return code;
}

static enum zb_code come(zb_writer *writer, zb__unseen *unseen, zb_error *err) {
    zb_hierarchy *hierarchy = writer->node->hierarchy;
    const enum zb_sync sync = writer->options.sync;
    zb_lock *lock = NULL;
    enum zb_code code =
        sync != ZB_SYNC_NONE ? zb_store_flush(zb__unseen_store(unseen), err) : ZB_OK;
    if (!code)
        code = zb__hierarchy_lock(hierarchy, &lock, err);
    if (code == ZB_EUNSUPPORTED) /* no locks: as for other whole chunks */
        code = ZB_OK;
    if (!code)
        code = check_last(writer, err);
    code = zb__unseen_end(unseen, &writer->batch, sync, code, err);
    return zb__hierarchy_unlock(lock, code, err);
}

enum zb_code zb_writer_show(zb_writer *writer, zb_error *err) {
    zb__unseen *unseen = writer->unseen;
    if (!unseen)
        return ZB_OK;
    writer->unseen = NULL;
    const enum zb_code code = come(writer, unseen, err);
    if (!code)
        return ZB_OK;
    writer->lost = true;
    return zb_error_prefix(err, code, "store %s, array /%s", zb__node_store(writer->node)->label,
                           writer->node->path);
}

void zb__writer_forget_hidden(zb_writer *writer) {
    if (writer->unseen)
        (void)zb__unseen_end(writer->unseen, NULL, ZB_SYNC_NONE, ZB_ECONFLICT, NULL);
    writer->unseen = NULL;
}

enum zb_code zb__writer_put(zb_writer *writer, const zb_put *put, zb_error *err) {
    if (!writer->unseen)
        return zb__hierarchy_put(writer->node->hierarchy, put, err);
    const zb_put hidden = {.key = put->key + writer->unseen_from,
                           .parts = put->parts,
                           .count = put->count,
                           .sync = put->sync};
    return zb_store_put_as(zb__unseen_store(writer->unseen), &hidden, err);
}

enum zb_code zb__writer_erase(zb_writer *writer, const zb_erase *erase, zb_error *err) {
    if (!writer->unseen)
        return zb__hierarchy_erase_as(writer->node->hierarchy, erase, err);
    const zb_erase hidden = {.key = erase->key + writer->unseen_from, .sync = erase->sync};
    return zb_store_erase_as(zb__unseen_store(writer->unseen), &hidden, err);
}
