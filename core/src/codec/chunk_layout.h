/* SPDX-License-Identifier: MIT */
/*
 * A chunk layout: the shapes and sizes that a codec pipeline gives chunks of one shape. It is
 * immutable. Chunks of equal shape share one, so that reading and writing compare, multiply and
 * allocate nothing per chunk.
 */
#ifndef ZB_CODEC_CHUNK_LAYOUT_H
#define ZB_CODEC_CHUNK_LAYOUT_H

#include <stdatomic.h>

#include "codec/pipeline.h"
#include "zarrbridge/dtype.h"

typedef struct zb__shard zb__shard;

/* The dimensions along which inner chunks may not divide their shard; the rest of them divides. */
#define ZB__CUT_MAX 8

typedef struct zb__chunk_layout {
    const zb__pipeline *pipeline;
    uint64_t stored_shape[ZB_MAX_NDIM]; /* shape[axis[i]] */
    uint64_t decoded_size; /* bytes of the chunk's elements, at most chunk_bytes for a leaf */
    /* The size of the serialised chunk in front of the bytes→bytes codecs: exact for a leaf of
       numbers; else an upper bound, at most the limit chunk_bytes, or shard_bytes for a shard,
       which must then be decoded as a whole. */
    uint64_t decoded_bound;
    /* An upper bound for the stored size of a sane chunk that has to be decoded. */
    uint64_t encoded_bound;
    struct zb__chunk_layout
        *plain; /* behind the filters of the pipeline, as the array→bytes codec sees it; NULL
                   where none are applied. Its bounds are not set. */
    zb__shard *shard; /* of a chunk that holds inner chunks; NULL for a leaf */
    atomic_uint references;
} zb__chunk_layout;

/* The layout that the array→bytes codec is given. */
static inline const zb__chunk_layout *zb__chunk_layout_serializer(const zb__chunk_layout *layout) {
    return layout->plain ? layout->plain : layout;
}

/* A chunk of inner chunks; all shapes are in stored dimensions. */
struct zb__shard {
    uint64_t inner_shape[ZB_MAX_NDIM]; /* of a whole inner chunk, at most stored_shape */
    uint64_t grid[ZB_MAX_NDIM];        /* inner chunks per dimension */
    uint64_t count;                    /* product of grid */
    bool index_at_start;
    bool is_clipped;               /* the declared inner_shape is larger than the shard */
    bool is_draft;                 /* of the sharding draft: the index may lack its checksum */
    size_t index_size;             /* encoded, bytes; with the checksum */
    const zb__chunk_layout *index; /* of the index: uint64, shape grid + [2] */
    const zb__chunk_layout *inner; /* of a whole inner chunk */
    /* Where inner_shape does not divide stored_shape, the last inner chunk along a dimension ends
       with the shard. These dimensions, in order; and of each set of them, the layout of the inner
       chunks that end so along it, made when it is asked for first. */
    uint32_t cut[ZB__CUT_MAX], cut_count;
    uint64_t outer_shape[ZB_MAX_NDIM];       /* stored_shape, when cut_count > 0 */
    _Atomic(const zb__chunk_layout *) *ends; /* [1 << cut_count]; NULL when cut_count is 0 */
};

/* The layout of an inner chunk, by its number in C order of the stored dimensions. The shard owns
   it. Any thread. */
enum zb_code zb__cut_inner(const zb__shard *shard, uint64_t inner, const zb__chunk_layout **out,
                           zb_error *err);
static inline enum zb_code zb__shard_inner(const zb__shard *shard, uint64_t inner,
                                           const zb__chunk_layout **out, zb_error *err) {
    *out = shard->inner;
    return __builtin_expect(shard->cut_count > 0, 0) ? zb__cut_inner(shard, inner, out, err)
                                                     : ZB_OK;
}

/* The layout of chunks of this shape (ndim extents, none 0). The pipeline keeps the last ones that
   were asked for; the caller gives a layout back with zb__chunk_layout_release, before the pipeline
   is freed. Refuses shapes that do not go with the codecs (ZB_EFORMAT) and limits (ZB_ELIMIT). Any
   thread. */
enum zb_code zb__pipeline_layout(const zb__pipeline *pipeline, const uint64_t *shape,
                                 const zb__chunk_layout **out, zb_error *err);
void zb__chunk_layout_release(const zb__chunk_layout *layout); /* NULL is allowed */

/* The reason why no chunk of the layout is written (the filters aside); NULL: they are. Static. */
const char *zb__chunk_layout_read_only(const zb__chunk_layout *layout);

/* Refuses a stored size that cannot be right, before anything is read: another one than the only
   possible one where no codec compresses (ZB_EFORMAT), else one above encoded_bound (ZB_ELIMIT). */
enum zb_code zb__chunk_layout_check_stored(const zb__chunk_layout *layout, uint64_t size,
                                           zb_error *err);

/* Of the pipeline that makes and frees them. NULL when memory runs out. */
struct zb__chunk_layout_cache *zb__chunk_layout_cache_new(void);
void zb__chunk_layout_cache_free(struct zb__chunk_layout_cache *cache);

/* The bytes that a codec that does not compress may add to its input, with a wide margin. */
#define ZB__CODEC_SLACK (64u << 10)

#endif
