/* SPDX-License-Identifier: MIT */
/*
 * Scratch: the buffers and contexts that one task at a time works with. They are kept for the life
 * of the process, because first touch of fresh memory costs as much as a codec and a compressor's
 * context costs up to 12 µs to make.
 */
#ifndef ZB_UTIL_SCRATCH_H
#define ZB_UTIL_SCRATCH_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "zarrbridge/error.h"

/* A growing buffer; its content does not survive growth. */
typedef struct zb__buffer {
    uint8_t *data;
    size_t capacity;
} zb__buffer;

/* Makes room for `size` bytes. The pages are not touched. */
enum zb_code zb__buffer_reserve(zb__buffer *buffer, size_t size, zb_error *err);
void zb__buffer_free(zb__buffer *buffer);

/* A kind of context, such as a compressor's, of which each scratch has at most one. Its owner
   declares it as a static constant but for the number, which is given out at the first use. */
typedef struct zb__scratch_slot {
    enum zb_code (*create)(void **context, zb_error *err);
    void (*free)(void *context);
    atomic_uint number; /* 0: none yet */
} zb__scratch_slot;

typedef struct zb__scratch_context {
    void *context; /* NULL until it is asked for */
    void (*free)(void *context);
} zb__scratch_context;

typedef struct zb__scratch {
    zb__buffer encoded;            /* bytes as read from the store; owned by the reader */
    zb__buffer decoded;            /* one decoded chunk; owned by the reader */
    zb__buffer stage[2];           /* between two bytes→bytes codecs; owned by the pipeline */
    zb__buffer work[2];            /* between two array→array codecs; owned by the pipeline */
    zb__buffer block;              /* inside one codec; when encoding, a serialised chunk */
    zb__buffer filtered;           /* inside one codec that encodes from `block` */
    zb__scratch_context *contexts; /* by the numbers of their slots */
    unsigned context_count;
    struct zb__scratch *next; /* in the list of idle ones */
} zb__scratch;

/* Takes an idle scratch or makes one; NULL when memory runs out. Give it back with zb__scratch_put.
   Any thread. */
zb__scratch *zb__scratch_take(void);
void zb__scratch_put(zb__scratch *scratch);

/* The slow half of zb__scratch_use: makes the context. */
enum zb_code zb__scratch_make(zb__scratch *scratch, zb__scratch_slot *slot, void **context,
                              zb_error *err);

/* The slot's context in this scratch, made at its first use. It stays the scratch's. */
static inline enum zb_code zb__scratch_use(zb__scratch *scratch, zb__scratch_slot *slot,
                                           void **context, zb_error *err) {
    unsigned number = atomic_load_explicit(&slot->number, memory_order_relaxed);
    if (number >= scratch->context_count || !scratch->contexts[number].context)
        return zb__scratch_make(scratch, slot, context, err);
    *context = scratch->contexts[number].context;
    return ZB_OK;
}

/* Frees all idle ones. */
void zb__scratch_clear(void);

#endif
