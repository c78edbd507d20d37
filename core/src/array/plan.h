/* SPDX-License-Identifier: MIT */
/*
 * From boxes to tasks. The data's way through a read:
 *
 *     zb_read[]  --split by the array's grid-->  keys (one per stored object, with their pieces)
 *     key        --expand (expand.c)-->          leaves (one per chunk to decode, sorted by offset)
 *     leaves     --merge neighbours-->           tasks (one ranged read, then decode and scatter)
 *
 * A plan is executed in waves of a bounded number of keys, so that its memory and its open files do
 * not grow with the request.
 */
#ifndef ZB_ARRAY_PLAN_H
#define ZB_ARRAY_PLAN_H

#include "array/piece.h"
#include "base/lru.h"
#include "meta/array.h"

/* A window of an open object, or of memory: where a chunk's stored bytes are. */
typedef struct zb__source {
    zb_object *object;     /* NULL: memory */
    const uint8_t *memory; /* when object is NULL */
    uint64_t offset, size; /* of the window */
} zb__source;

struct zb__key;

/* A chunk to decode (or to fill), with all pieces that want something of it. */
typedef struct zb__leaf {
    struct zb__leaf *next;
    struct zb__key *key;
    const zb__chain *chain;
    zb__piece *pieces;     /* in the chain's stored dimensions */
    bool missing;          /* not stored: the fill value */
    bool transient;        /* lies in decoded memory: its offset does not identify it */
    uint64_t offset, size; /* in the key's object */
    uint64_t inner; /* for messages and caches: number in the shard, UINT64_MAX unless sharded */
    const struct zb__leaf *around; /* for messages: the inner chunk that is this shard, or NULL */
    zb__lru_item *cached;          /* decoded bytes that cover the pieces, or NULL; one reference */
} zb__leaf;

/* One stored object that the plan needs. */
typedef struct zb__key {
    const zb_node *node;
    uint64_t *index;   /* its place in the array's grid */
    uint64_t number;   /* the same, counted in C order; UINT64_MAX when that overflows */
    zb__piece *pieces; /* in the stored dimensions of the array's chain */
    zb__arena arena;   /* of what expanding it makes */
    zb_object *object; /* open while its wave runs, or NULL */
    zb_object_info info;
    zb__leaf *leaves; /* after expanding; by offset, missing ones first */
    size_t leaf_count;
} zb__key;

/* Opens the key's object where that is worth it before its tasks run, reads shard indexes, and
   fills key->leaves. Called in parallel for different keys. */
enum zb_code zb__key_expand(zb__key *key, zb__scratch *scratch, zb_error *err);

/* Splits the pieces of `shard`, a leaf whose decoded bytes are `source`, calling emit for each
   inner chunk. What the inner chunks point to lives in the arena. */
typedef enum zb_code (*zb__emit_fn)(void *context, const zb__leaf *leaf, zb_error *err);
enum zb_code zb__shard_expand(const zb__leaf *shard, const zb__source *source, zb__arena *arena,
                              zb__scratch *scratch, zb__emit_fn emit, void *context, zb_error *err);

/* Puts what a leaf's pieces want at their destinations. `stored` are its size bytes, or NULL when
   it is missing, cached, or a raw chunk that is to be read from the key's object. */
enum zb_code zb__leaf_run(const zb__leaf *leaf, const uint8_t *stored, zb__scratch *scratch,
                          zb_error *err);

/* The name that messages give a leaf: prefixes *err with store, array, chunk and inner chunk. */
enum zb_code zb__leaf_blame(const zb__leaf *leaf, enum zb_code code, zb_error *err);
enum zb_code zb__key_blame(const zb__key *key, enum zb_code code, zb_error *err);

/* Opens the key's object. A missing one gives ZB_OK with key->object NULL. */
enum zb_code zb__key_open(zb__key *key, zb_error *err);

/* Is the leaf's chunk worth caching, and is what its pieces want cached already? Sets leaf->cached.
 */
void zb__leaf_look_up(zb__leaf *leaf);

#endif
