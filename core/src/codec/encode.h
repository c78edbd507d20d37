/* SPDX-License-Identifier: MIT */
/*
 * Encoding a chunk: the mirror of chunk_layout.h and pipeline.h. The input is the chunk's elements
 * as they are serialised: C order of stored dimensions, in the byte order of the pipeline's dtype.
 * That is the stored one for a leaf; a shard encoded as a whole takes the host's, and its inner
 * pipelines swap.
 */
#ifndef ZB_CODEC_ENCODE_H
#define ZB_CODEC_ENCODE_H

#include "codec/chunk_layout.h"
#include "zarrbridge/dtype.h"

/* The most bytes that zb__chunk_encode may write for a chunk of this layout; UINT64_MAX when it
   does not fit. */
uint64_t zb__chunk_encode_bound(const zb__chunk_layout *layout);

/* The same for a chunk of these elements, where the layout alone does not tell; errors are those of
   encoding them. */
enum zb_code zb__chunk_measure(const zb__chunk_layout *layout, const uint8_t *elements,
                               uint64_t *bound, zb_error *err);

/* Encodes one chunk into out[0..capacity), capacity at least the bound. A shard is encoded inner
   chunk by inner chunk, in C order, index included; inner chunks that are all `fill` (one element
   of the pipeline's dtype) are left out unless store_empty. *size is 0 when the whole chunk is fill
   and was left out. Uses the scratch's stage and block buffers, not encoded and decoded. Any
   thread. */
enum zb_code zb__chunk_encode(const zb__chunk_layout *layout, zb__scratch *scratch,
                              const uint8_t *elements, const void *fill, bool store_empty,
                              uint8_t *out, size_t capacity, size_t *size, zb_error *err);

/* True if all n elements are equal, bit by bit, to the one at `fill`. */
bool zb__is_all(const void *elements, uint64_t n, const void *fill, size_t item);

/* ---- For array→bytes codecs --------------------------------------------------------------- */

/* The part that stays the same while a chunk is walked. */
typedef struct zb__encoding {
    zb__scratch *scratch;
    zb_dtype dtype;   /* of the elements and the fill value that the caller gave */
    const void *fill; /* one element */
    bool store_empty;
} zb__encoding;

/* The elements of a chunk within the caller's. */
typedef struct zb__elements_view {
    const uint8_t *data;
    int64_t strides[ZB_MAX_NDIM]; /* bytes, of the chunk's stored dimensions */
} zb__elements_view;

/* A serialised chunk. */
typedef struct zb__serialised {
    /* Where it may be made at once, because no codec follows; NULL when one does. */
    uint8_t *target;
    size_t capacity;
    /* The place where it is: the target, the view, the scratch's block, or `own`, memory that the
       codec reserved and the caller of encode frees. size is 0 when it is all fill and left out. */
    const uint8_t *data;
    size_t size;
    zb__buffer own;
} zb__serialised;

/* The most bytes that the call below may write. */
enum zb_code zb__view_measure(const zb__encoding *e, const zb__chunk_layout *layout,
                              const zb__elements_view *view, uint64_t *bound, zb_error *err);

/* Encodes the chunk of this layout that the view shows into out[0..capacity), which it never
 * leaves;
 *size as in zb__chunk_encode. */
enum zb_code zb__view_encode(const zb__encoding *e, const zb__chunk_layout *layout,
                             const zb__elements_view *view, uint8_t *out, size_t capacity,
                             size_t *size, zb_error *err);

#endif
