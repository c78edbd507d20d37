/* SPDX-License-Identifier: MIT */
/*
 * A codec chain bound to the shape and type of one chunk: transposes folded into a permutation of
 * dimensions, then either plain bytes (a leaf chunk) or sharding (inner chunks with a chain of
 * their own), then bytes→bytes codecs.
 *
 * Coordinates: "dimension d" is as the chunk is handed to the chain; "stored dimension i" is after
 * the transposes, where stored dimension i holds dimension axis[i].
 */
#ifndef ZB_CODEC_CHAIN_H
#define ZB_CODEC_CHAIN_H

#include "codec/codec.h"
#include "zarrbridge/zarrbridge.h"

typedef struct zb__shard zb__shard;

typedef struct zb__chain {
    uint32_t ndim;
    zb_dtype dtype;                     /* as stored: swapped when `endian` is not the host's */
    uint32_t axis[ZB_MAX_NDIM];         /* the composed transposes */
    uint64_t stored_shape[ZB_MAX_NDIM]; /* shape[axis[i]] */
    uint64_t decoded_size; /* bytes of the chunk's elements, at most chunk_bytes for a leaf */
    zb__shard *shard;      /* NULL for a leaf */
    zb__codec *codecs;     /* bytes→bytes, in encoding order */
    size_t codec_count;
    unsigned cost; /* of decoding, nanoseconds per KiB of decoded bytes */
} zb__chain;

/* The configuration of sharding_indexed; all shapes are in stored dimensions. */
struct zb__shard {
    uint64_t inner_shape[ZB_MAX_NDIM]; /* divides the shard's stored_shape */
    uint64_t grid[ZB_MAX_NDIM];        /* inner chunks per dimension */
    uint64_t count;                    /* product of grid */
    bool index_at_start;
    size_t index_size; /* encoded, bytes */
    zb__chain *index;  /* chain of the index: uint64, shape grid + [2] */
    zb__chain *inner;  /* chain of an inner chunk */
};

#define ZB__INDEX_EMPTY UINT64_MAX

/* Binds the JSON list `codecs` for chunks of this shape. depth is the number of shards around (0
   for an array's own chain). Every rule of the chain is checked here, so that decoding need not. */
enum zb_code zb__chain_bind(const zb_json *codecs, zb_dtype dtype, uint32_t ndim,
                            const uint64_t *shape, uint32_t depth, zb__chain **out, zb_error *err);
/* The same for a shard's index: uint64, as large as index_bytes allows, which the caller checks. */
enum zb_code zb__chain_bind_index(const zb_json *codecs, uint32_t ndim, const uint64_t *shape,
                                  uint32_t depth, zb__chain **out, zb_error *err);
void zb__chain_free(zb__chain *chain); /* NULL is allowed */

/* Do both chains decode every chunk alike? What only encoding needs may differ. */
bool zb__chain_same(const zb__chain *a, const zb__chain *b);

/* Undoes the bytes→bytes codecs: in[0..size) becomes the serialised chunk in *sink (see
   zb__sink: exact for a leaf, a bound for a shard). With no codecs the bytes are copied. */
enum zb_code zb__chain_decode(const zb__chain *chain, zb__scratch *scratch, const uint8_t *in,
                              size_t size, zb__sink *sink, zb_error *err);

/* Decodes a shard index of index_size bytes into entries[2 * count]: offset and length of each
   inner chunk in C order of stored dimensions, host byte order, ZB__INDEX_EMPTY twice for a missing
   one (one alone is ZB_EFORMAT). Checks the checksum, not the bounds: the object's size is the
   reader's to compare with. */
enum zb_code zb__shard_index_decode(const zb__shard *shard, zb__scratch *scratch,
                                    const uint8_t *encoded, uint64_t *entries, zb_error *err);

/* The stored bytes are the elements: any byte range can be read alone. */
static inline bool zb__chain_is_raw(const zb__chain *chain) {
    return chain->codec_count == 0;
}

/* Part of a chunk decodes in less time than the whole. */
bool zb__chain_is_partial(const zb__chain *chain);

/* The size of the serialised chunk in front of the bytes→bytes codecs: exact for a leaf; for a
   shard, which must then be decoded as a whole, an upper bound, at most the limit shard_bytes. */
uint64_t zb__chain_decoded_bound(const zb__chain *chain);

/* An upper bound for the stored size of a sane chunk that has to be decoded; larger ones are
   refused (ZB_ELIMIT). */
uint64_t zb__chain_encoded_bound(const zb__chain *chain);

/* Refuses a stored size that cannot be right, before anything is read: another one than the only
   possible one where no codec compresses (ZB_EFORMAT), else one above the bound (ZB_ELIMIT). */
enum zb_code zb__chain_check_stored(const zb__chain *chain, uint64_t size, zb_error *err);

#endif
