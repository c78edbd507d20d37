/* SPDX-License-Identifier: MIT */
/* Keys and leaves: the stored objects that a read needs, and the chunks in them. */
#ifndef ZB_READ_LEAF_H
#define ZB_READ_LEAF_H

#include "base/lru.h"
#include "base/scratch.h"
#include "codec/form.h"
#include "read/piece.h"
#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

/* A window of a stored object, or of memory, that holds a chunk's stored bytes. */
typedef struct zb__source {
    const uint8_t *memory; /* NULL: the object's */
    zb_object *object;     /* NULL: the bytes come from the store some other way (flow.h) */
    uint64_t offset, size; /* of the window */
} zb__source;

struct zb__stored_chunk;

/* A chunk to decode (or to fill), with all pieces that want elements of it. */
typedef struct zb__leaf {
    struct zb__leaf *next;
    struct zb__stored_chunk *chunk;
    const zb__form *form;
    zb__piece *pieces;     /* in the form's stored dimensions */
    bool missing;          /* not stored: the fill value */
    bool transient;        /* lies in decoded memory: its offset does not identify it */
    uint64_t offset, size; /* in the stored chunk's object */
    uint64_t lo, hi;       /* of a raw chunk: the bytes of it that the pieces want */
    const uint8_t *held;   /* its bytes where they are at hand already, else NULL */
    uint64_t inner; /* for messages and caches: number in the shard, UINT64_MAX unless sharded */
    const struct zb__leaf *around; /* for messages: the inner chunk that is this shard, or NULL */
    zb__lru_item *cached;          /* decoded bytes that cover the pieces, or NULL; one reference */
} zb__leaf;

/* One stored object that the plan needs. */
typedef struct zb__stored_chunk {
    const zb_node *node;
    uint64_t *index;      /* its place in the array's grid */
    uint64_t number;      /* the same, counted in C order; UINT64_MAX when that overflows */
    zb__piece *pieces;    /* in the stored dimensions of the array's chain */
    zb__arena arena;      /* of the leaves and pieces that expanding it makes */
    const zb__form *form; /* while its leaves are there: of this chunk (zb__chunk_form) */
    zb_object *object;    /* open while its wave runs, or NULL */
    bool is_missing;      /* when it was opened last, there was no object */
    bool is_fresh;        /* for a writer: what is read has to lie in the array's home */
    zb_object_info info;
    zb__leaf *leaves; /* after expanding; by offset, missing ones first */
    size_t leaf_count;
    zb__leaf *waiting; /* shards whose index has to come from the store first (expand.h) */
} zb__stored_chunk;

/* The bytes of the stored chunk's object that a leaf needs: all of an encoded chunk, of a raw one
   those that its pieces want. */
static inline uint64_t zb__leaf_begin(const zb__leaf *leaf) {
    return leaf->offset + leaf->lo;
}
static inline uint64_t zb__leaf_length(const zb__leaf *leaf) {
    return leaf->form->chain->is_raw ? leaf->hi - leaf->lo : leaf->size;
}

/* Puts the elements that a leaf's pieces want at their destinations. `stored` holds the bytes that
   the leaf needs, or is NULL when the leaf is missing, cached, or a raw chunk to read from the
   stored chunk's object. */
enum zb_code zb__leaf_run(const zb__leaf *leaf, const uint8_t *stored, zb__scratch *scratch,
                          zb_error *err);

/* Sets lo and hi of a raw leaf. */
void zb__leaf_set_extent(zb__leaf *leaf);

/* Elements that its pieces want, whatever has been read of them. */
uint64_t zb__stored_chunk_wanted(const zb__stored_chunk *chunk);

/* The name that messages give a leaf: prefixes *err with store, array, chunk and inner chunk. */
enum zb_code zb__leaf_blame(const zb__leaf *leaf, enum zb_code code, zb_error *err);

enum zb_code zb__stored_chunk_blame(const zb__stored_chunk *chunk, enum zb_code code,
                                    zb_error *err);

/* Sets leaf->cached when the leaf's chunk is worth caching and the cache holds the bytes that its
   pieces want. */
void zb__leaf_look_up(zb__leaf *leaf);

/* Whether the cache has something of the leaf's chunk, which is no inner one, of any version: then
   it pays to ask for the version before the object is opened. */
bool zb__leaf_may_be_cached(const zb__leaf *leaf);

#endif
