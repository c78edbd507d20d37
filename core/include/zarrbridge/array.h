/* SPDX-License-Identifier: MIT */
/* The facts about an array that are known without reading data, and the specification of a new
   one. */
#ifndef ZARRBRIDGE_ARRAY_H
#define ZARRBRIDGE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A codec of the pipeline, outermost first, for display: sharding is followed by the codecs of its
 * inner chunks. */
typedef struct zb_codec_info {
    const char *name;
    const zb_json *configuration; /* object or NULL */
    uint32_t shard_level;         /* 0 for the array's own pipeline, 1 inside its shards, ... */
} zb_codec_info;

/* Writes the codec as a document has it: an object with its name and its configuration. */
ZB_API void zb_codec_print(zb_json_writer *writer, const zb_codec_info *codec);

/* Chunks of one extent that follow each other along a dimension. Both numbers are at least 1. */
typedef struct zb_chunk_run {
    uint64_t extent, count;
} zb_chunk_run;

/* All facts about an array that are known without reading data. They live as long as the node. */
typedef struct zb_array_info {
    uint32_t ndim;                      /* 0 to ZB_MAX_NDIM */
    const uint64_t *shape;              /* [ndim] */
    const uint64_t *chunk_shape;        /* [ndim]: extents under one key; the shard's when sharded.
                                           Of the largest chunk where a grid has several shapes:
                                           good for sizes, not for places (see "The grid") */
    const uint64_t *inner_shape;        /* [ndim]: the innermost chunk, the unit of decoding;
                                           likewise. Of shards that their inner chunks do not
                                           divide, the shard */
    uint32_t shard_depth;               /* 0: not sharded */
    const char *const *dimension_names; /* [ndim], entries may be NULL; NULL when absent */
    zb_dtype dtype;                     /* host byte order */
    const void *fill_value;             /* one element of dtype */
    bool fill_is_default;               /* fill_value was null or missing in the document */
    const zb_codec_info *codecs;
    size_t codec_count; /* 0 where a draft document leaves all of them out */
} zb_array_info;

/* The chunks along a dimension, from the first to the last; a count of 0 says nothing of them. */
typedef struct zb_chunk_runs {
    const zb_chunk_run *run;
    size_t count;
} zb_chunk_runs;

/* The specification of an array. Pointers are borrowed for the call. */
typedef struct zb_array_spec {
    uint32_t ndim;
    const uint64_t *shape;           /* [ndim] */
    const uint64_t *inner_shape;     /* [ndim]: the unit of encoding */
    const uint64_t *shard_shape;     /* [ndim], multiples of inner_shape; NULL: not sharded */
    const zb_chunk_runs *chunk_runs; /* [ndim] or NULL: along a dimension with runs, the extents of
                                        the chunks, or of the shards where shard_shape is not NULL,
                                        instead of the one above. They reach the array's edge */
    zb_dtype dtype;         /* `swapped`: stored in the byte order opposite to the host's */
    const void *fill_value; /* one element in host order; NULL: zero */
    const char *codecs;     /* codecs of the innermost chunk: a JSON list as text; NULL: zstd
                               level 3; "[]": none. Members that a configuration leaves out get a
                               default. Without an array→bytes codec in it, `bytes` (or vlen-utf8
                               for strings, vlen-bytes for bytes) is put behind the array→array
                               codecs. With one (`bytes`, `packbits`, `sharding_indexed` …) it is
                               the whole pipeline of the array, of chunks of inner_shape, and
                               shard_shape is NULL: so come nested shards, and codecs before and
                               after a shard */
    const char *const *dimension_names; /* [ndim] or NULL */
    const char *attributes;             /* a JSON object as text, or NULL */
    char separator;                     /* of chunk keys; 0 means '/' */
    const char
        *key_encoding; /* the chunk_key_encoding of the document, as JSON text, when it is not
                          `default` with this separator (which is 0 then): `v2`, or the
                          proposed `suffix` and `fanout`, which few readers know. Or NULL */
} zb_array_spec;

#ifdef __cplusplus
}
#endif
#endif
