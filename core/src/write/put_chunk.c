/* SPDX-License-Identifier: MIT */
/* From encoded inner chunks to a stored object. */
#include "write/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array/keys.h"
#include "codec/pipeline.h"
#include "codec/shard_index.h"
#include "hierarchy/staged.h"
#include "node/current.h"
#include "node/node.h"
#include "util/back_off.h"
#include "util/clock.h"
#include "util/scratch.h"
#include "write/journal.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

enum zb_code zb__chunk_add_context(const zb_writer *writer, const uint64_t *index,
                                   enum zb_code code, zb_error *err) {
    char text[ZB__CHUNK_KEY_MAX];
    const zb_node *node = writer->node;
    unsigned tries = 0;
    if (err && code == ZB_ECONFLICT) /* an array that has gone is better news than its chunk */
        (void)zb__node_is_back(node, &tries, err);
    zb__chunk_key(&node->array->keys, node->array->info.ndim, index, text);
    return zb_error_prefix(err, code, "store %s, array /%s, %s %s", zb__node_store(node)->label,
                           node->path, node->array->layout->shard ? "shard" : "chunk", text);
}

/* The lock is that of the chunk in the array's home. */
static enum zb_code lock_in_place(const zb_node *node, const char *key, zb_lock **lock,
                                  zb_error *err) {
    const zb_locking locking = {.key = key, .home = zb__node_home(node)};
    enum zb_code code;
    unsigned tries = 0;
    do
        code = zb_store_lock_as(zb__node_store(node), &locking, lock, err);
    while (code == ZB_ECONFLICT && zb__node_is_back(node, &tries, err));
    return code;
}

enum zb_code zb__chunk_lock(const zb_writer *writer, const char *key, bool whole, zb_lock **lock,
                            zb_error *err) {
    zb_error why = {.code = ZB_OK};
    *lock = NULL;
    enum zb_code code = lock_in_place(writer->node, key, lock, &why);
    if (code == ZB_OK || (code == ZB_EUNSUPPORTED && (whole || writer->options.without_lock)))
        return ZB_OK;
    if (code == ZB_EUNSUPPORTED && why.sys_errno != EROFS)
        return zb_fail(err, ZB_ECONFLICT,
                       "a part of the chunk cannot be written safely: no lock (%s): write whole "
                       "chunks, or ask for writing without lock",
                       why.message);
    why.code = code == ZB_EUNSUPPORTED ? ZB_EIO : code;
    if (err)
        *err = why;
    return why.code;
}

/* The parts of an object: its stored inner chunks, and the index before or after them. */
typedef struct parts {
    zb_part *part;
    size_t count;
    uint64_t *entries;
    uint8_t *index;
    bool has_inner_chunks; /* or the index alone */
} parts;

static void free_parts(parts *p) {
    free(p->part);
    free(p->entries);
    free(p->index);
}

static enum zb_code shard_parts(const zb__write_layout *layout, const zb__encoded *inner_chunks,
                                parts *p, zb__scratch *scratch, zb_error *err) {
    const zb__shard *shard = layout->shard;
    size_t n = (size_t)layout->inner_chunks;
    p->part = malloc((n + 1) * sizeof *p->part);
    p->entries = calloc(n, 2 * sizeof *p->entries);
    p->index = malloc(shard->index_size);
    if (!p->part || !p->entries || !p->index)
        return zb_fail(err, ZB_ENOMEM, "no memory for a shard's index");
    size_t first = p->count = shard->index_at_start ? 1 : 0;
    uint64_t offset = shard->index_at_start ? shard->index_size : 0;
    for (size_t i = 0; i < n; i++) {
        bool stored = inner_chunks[i].size > 0;
        p->entries[2 * i] = stored ? offset : ZB__INDEX_EMPTY;
        p->entries[2 * i + 1] = stored ? inner_chunks[i].size : ZB__INDEX_EMPTY;
        if (!stored)
            continue;
        p->part[p->count++] = (zb_part){.data = inner_chunks[i].data, .size = inner_chunks[i].size};
        offset += inner_chunks[i].size;
    }
    enum zb_code code = zb__shard_index_encode(shard, scratch, p->entries, p->index, err);
    size_t place = first ? 0 : p->count;
    p->part[place] = (zb_part){.data = p->index, .size = shard->index_size};
    p->has_inner_chunks = p->count > first;
    p->count += first ? 0 : 1;
    return code;
}

enum zb_code zb__chunk_erase(zb_writer *writer, const char *key, zb_error *err) {
    const zb_erase erase = {.key = key,
                            .sync = writer->options.sync,
                            .home = zb__node_home(writer->node),
                            .expected = ZB_EXPECT_AS_READ,
                            .batch = &writer->batch};
    return zb__writer_erase(writer, &erase, err);
}

/* A chunk of fill values is an object that is not there. Where that cannot be had without taking
   away what another program has put since the object was read, one is put that says the same: a
   shard's index alone, or a chunk of fill values. */
static enum zb_code put_nothing(zb_writer *writer, const zb__write_layout *layout,
                                const zb_put *put, const parts *p, zb__scratch *scratch,
                                zb_error *err) {
    zb_put said = *put;
    zb_part single;
    uint8_t *fill = NULL;
    enum zb_code code = zb__chunk_erase(writer, put->key, err);
    if (code != ZB_EUNSUPPORTED)
        return code;
    code = layout->shard ? ZB_OK : zb__inner_encode_fill(layout, scratch, &fill, &single.size, err);
    single.data = fill;
    said.parts = layout->shard ? p->part : &single;
    said.count = 1;
    said.batch = NULL; /* its check has just been made */
    if (!code)
        code = zb__hierarchy_put(writer->node->hierarchy, &said, err);
    free(fill);
    return code;
}

bool zb__chunk_pause(unsigned tries) {
    enum { MOST_TRIES = 16, MOST_DOUBLINGS = 6 };
    const int64_t most = 10 * ZB__MILLISECOND;
    if (tries >= MOST_TRIES)
        return false;
    zb__back_off(most << (tries < MOST_DOUBLINGS ? tries : MOST_DOUBLINGS));
    return true;
}

enum zb_code zb__chunk_see(const zb_writer *writer, const char *key, zb_error *err) {
    zb_object_info info;
    const enum zb_code code =
        zb_store_stat(zb__place_of(writer->node->hierarchy, key), key, &info, err);
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

enum zb_code zb__chunk_put(zb_writer *writer, const zb__write_layout *layout, const char *key,
                           const zb__encoded *inner_chunks, enum zb__put_way way,
                           zb__scratch *scratch, zb_error *err) {
    parts p = {0};
    zb_put put = {.key = key,
                  .sync = writer->options.sync,
                  .waits = way == ZB__PUT_WAITS,
                  .expected =
                      way == ZB__PUT_EXPECTS_NONE ? ZB_EXPECT_NO_OBJECT : ZB_EXPECT_ANYTHING,
                  .home = zb__node_home(writer->node),
                  .batch = &writer->batch};
    zb_part single = {.data = inner_chunks[0].data, .size = inner_chunks[0].size};
    enum zb_code code = ZB_OK;
    if (layout->shard)
        code = shard_parts(layout, inner_chunks, &p, scratch, err);
    put.parts = layout->shard ? p.part : &single;
    put.count = layout->shard ? p.count : 1;
    if (code == ZB_OK)
        code = (layout->shard ? p.has_inner_chunks : single.size > 0)
                   ? zb__writer_put(writer, &put, err)
                   : put_nothing(writer, layout, &put, &p, scratch, err);
    /* A journal of an older object could be taken for ours: inner chunks are at the same places. */
    if (code == ZB_OK && layout->fixed)
        code = zb__journal_erase(writer->node, key, err);
    free_parts(&p);
    return code;
}
