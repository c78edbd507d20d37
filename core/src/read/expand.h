/* SPDX-License-Identifier: MIT */
/* From a stored chunk to its leaves. */
#ifndef ZB_READ_EXPAND_H
#define ZB_READ_EXPAND_H

#include "base/scratch.h"
#include "read/leaf.h"
#include "read/piece.h"
#include "zarrbridge/error.h"

/* Opens the stored chunk's object. A missing one gives ZB_OK with chunk->object NULL. */
enum zb_code zb__stored_chunk_open(zb__stored_chunk *chunk, zb_error *err);

/* Opens the stored chunk's object where that pays before its tasks run, reads shard indexes, and
   fills chunk->leaves. Called in parallel for different stored chunks. */
enum zb_code zb__stored_chunk_expand(zb__stored_chunk *chunk, zb__scratch *scratch, zb_error *err);

/* Puts the leaves in the order of their bytes in the object: they are best read so. Those that want
   mostly the same bytes of an uncompressed chunk become one. */
enum zb_code zb__stored_chunk_sort(zb__stored_chunk *chunk, zb_error *err);

/* The same step by step, for bytes that come from the store while others are decoded: nothing is
   read here. First zb__stored_chunk_begin sets chunk->form. Then zb__leaf_expand is given all of
   the stored chunk (zb__stored_chunk_whole, or the same of another size) when chunk->info is known;
   it adds to chunk->leaves, and puts the shards whose index is not in the cache on chunk->waiting.
   When the stored bytes of such an index have come (zb__index_place), zb__leaf_expand_by goes on
   from there. One thread at a time for each stored chunk. */
enum zb_code zb__stored_chunk_begin(zb__stored_chunk *chunk, zb_error *err);
zb__leaf zb__stored_chunk_whole(zb__stored_chunk *chunk);
enum zb_code zb__leaf_expand(const zb__leaf *leaf, zb__scratch *scratch, zb_error *err);
enum zb_code zb__leaf_expand_by(const zb__leaf *leaf, const uint8_t *encoded, size_t size,
                                zb__scratch *scratch, zb_error *err);

/* Splits the pieces of `shard`, a leaf whose decoded bytes are `source`, calling emit for each
   inner chunk. The arena owns everything that the inner chunks point to. */
typedef enum zb_code (*zb__emit_fn)(void *context, const zb__leaf *leaf, zb_error *err);
enum zb_code zb__shard_expand(const zb__leaf *shard, const zb__source *source, zb__arena *arena,
                              zb__scratch *scratch, zb__emit_fn emit, void *context, zb_error *err);

#endif
