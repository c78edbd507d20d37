/* SPDX-License-Identifier: MIT */
/*
 * zarrbridge: read Zarr v3 stores from C.
 *
 *     zb_error err;
 *     zb_store *store;
 *     zb_node *node;
 *     if (zb_store_open_fs("x.zarr", &store, &err) || zb_node_open(store, "temp", &node, &err))
 *         die(err.message);
 *     const zb_array_info *info = zb_node_array(node);
 *     zb_read read = {.node = node, .start = start, .count = count,
 *                     .view = {.data = buffer, .dtype = info->dtype}};
 *     if (zb_array_read(&read, 1, &err))
 *         die(err.message);
 *
 * What to know first:
 * - Stores, nodes and JSON documents are immutable once opened and reference-counted: any number
 *   of threads may use them at once. A node sees the metadata that it was opened with; its data
 *   are read anew at each call (caches are revalidated, so another process's rewrite is seen).
 * - A missing chunk reads as the fill value. A damaged one is an error, never fill values; so is
 *   reading an array that has been deleted, moved or made anew since its node was opened.
 * - Whatever a store contains is bounded by zb_limits.
 * - The library never prints, never exits, and starts its threads at the first large read.
 *
 * The format is the Zarr core specification, version 3.1 (which 3.0 documents satisfy as well).
 */
#ifndef ZARRBRIDGE_ZARRBRIDGE_H
#define ZARRBRIDGE_ZARRBRIDGE_H

#include "zarrbridge/error.h"
#include "zarrbridge/json.h"
#include "zarrbridge/store.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ZB_MAX_NDIM 32 /* also HDF5's limit */

/* ---- Limits ------------------------------------------------------------------------------- */

/* Bounds on what untrusted content can make the library do. Each can be raised or lowered by the
   environment variable that zb_limit_describe names, read once per process. The defaults of the
   three caches are smaller where physical memory, control groups or RLIMIT_AS leave the process
   little; values from the environment are taken as they are. */
typedef struct zb_limits {
    uint64_t json_depth;  /* nesting of a metadata document */
    uint64_t json_values; /* values in a metadata document: each takes about 100 bytes of memory */
    uint64_t document_bytes;     /* size of a zarr.json without consolidated metadata */
    uint64_t consolidated_bytes; /* size of a zarr.json with it */
    uint64_t children;           /* names listed in one group */
    uint64_t nodes;              /* nodes met in one hierarchy, by callers that keep them all */
    uint64_t links;              /* symbolic links to directories that one walk goes through */
    uint64_t chunk_bytes;        /* decoded size of one innermost chunk */
    uint64_t shard_bytes;        /* stored size of a shard that must be decoded as a whole */
    uint64_t index_bytes;        /* encoded size of one shard index */
    uint64_t shard_depth;        /* nesting of sharding_indexed */
    uint64_t codecs;             /* codecs in one chain */
    uint64_t gzip_members;       /* members of one gzip stream */
    uint64_t cache_bytes;        /* decoded-chunk cache of the process; 0 switches it off */
    uint64_t index_cache_bytes;  /* shard-index cache of the process */
    uint64_t write_cache_bytes;  /* parts of chunks that wait in all writers of the process; half as
                                    much again is for encoding and merging them */
    uint64_t lock_seconds;       /* how long a writer waits for another one's lock */
    uint64_t threads; /* worker threads, the caller included; 0 = the usable processors */
} zb_limits;

ZB_API const zb_limits *zb_limits_get(void);

/* Row i of the table of limits: name, environment variable, default (on this machine) and current
   value. False past the last row. All strings are static. */
typedef struct zb_limit_row {
    const char *name, *variable, *meaning;
    uint64_t default_value, value;
} zb_limit_row;
ZB_API bool zb_limit_describe(size_t i, zb_limit_row *row);

/* ---- Data types --------------------------------------------------------------------------- */

enum zb_kind {
    ZB_KIND_BOOL,    /* 1 byte, 0 or 1 */
    ZB_KIND_INT,     /* two's complement, 1, 2, 4 or 8 bytes */
    ZB_KIND_UINT,    /* 1, 2, 4 or 8 bytes */
    ZB_KIND_FLOAT,   /* IEEE 754 binary16, 32, 64 */
    ZB_KIND_COMPLEX, /* real then imaginary part, 8 or 16 bytes together */
    ZB_KIND_RAW      /* r<bits>: size bytes without further meaning */
};

/* An element in memory. Host byte order unless `swapped`. */
typedef struct zb_dtype {
    enum zb_kind kind;
    uint32_t size; /* bytes */
    bool swapped;  /* components are in the byte order opposite to the host's */
} zb_dtype;

/* The Zarr name ("uint16", "complex64", "r24"). text needs 24 bytes; returned again. */
ZB_API const char *zb_dtype_name(zb_dtype dtype, char text[24]);

/* ---- Nodes -------------------------------------------------------------------------------- */

/* A group or an array. */
typedef struct zb_node zb_node;

/* Opens the node at path ("" for the root; "a/b", no leading or trailing slash) by its zarr.json.
   ZB_ENOTFOUND when there is none; ZB_EFORMAT and ZB_EUNSUPPORTED say which member is wrong.
   One small read, no listing. The caller releases *out; the node keeps the store alive. */
ZB_API enum zb_code zb_node_open(zb_store *store, const char *path, zb_node **out, zb_error *err);

/* Opens the node again that is at this node's path now: after ZB_ECONFLICT, or to see the shape and
   the attributes that others have given it. Errors as zb_node_open. */
ZB_API enum zb_code zb_node_refresh(const zb_node *node, zb_node **out, zb_error *err);

ZB_API zb_node *zb_node_retain(zb_node *node);
ZB_API void zb_node_release(zb_node *node); /* NULL is allowed */

ZB_API zb_store *zb_node_store(const zb_node *node);  /* borrowed */
ZB_API const char *zb_node_path(const zb_node *node); /* as given to zb_node_open */
ZB_API const char *zb_node_name(const zb_node *node); /* last part of the path, "" for the root */
/* The attributes: a JSON object, or NULL when there are none. Lives as long as the node. */
ZB_API const zb_json *zb_node_attributes(const zb_node *node);
/* The whole document as it stands in the store. Lives as long as the node. */
ZB_API const zb_json *zb_node_document(const zb_node *node);

/* A name below a group. `node` is NULL when the node cannot be opened; `reason` then says why. */
typedef struct zb_child {
    const char *name;
    zb_node *node;
    const char *reason;
} zb_child;
typedef struct zb_children {
    size_t count;
    zb_child *child; /* sorted by name, bytewise */
} zb_children;

/* The children of a group, each opened: names that hold a zarr.json. From a listing where the store
   can list, else from consolidated metadata. The caller frees with zb_children_free. */
ZB_API enum zb_code zb_group_children(const zb_node *group, zb_children *out, zb_error *err);
ZB_API void zb_children_free(zb_children *children);

/* ---- Arrays ------------------------------------------------------------------------------- */

/* A codec of the chain, outermost first, for display: sharding is followed by the codecs of its
 * inner chunks. */
typedef struct zb_codec_info {
    const char *name;
    const zb_json *configuration; /* object or NULL */
    uint32_t shard_level;         /* 0 for the array's own chain, 1 inside its shards, ... */
} zb_codec_info;

/* All that is known of an array without reading data. Lives as long as the node. */
typedef struct zb_array_info {
    uint32_t ndim;                      /* 0 to ZB_MAX_NDIM */
    const uint64_t *shape;              /* [ndim] */
    const uint64_t *chunk_shape;        /* [ndim]: what one key holds; the shard's when sharded.
                                           Of the largest chunk where a grid has several shapes:
                                           good for sizes, not for places (see "The grid") */
    const uint64_t *inner_shape;        /* [ndim]: the innermost chunk, the unit of decoding;
                                           likewise */
    uint32_t shard_depth;               /* 0: not sharded */
    const char *const *dimension_names; /* [ndim], entries may be NULL; NULL when absent */
    zb_dtype dtype;                     /* host byte order */
    const void *fill_value;             /* one element of dtype */
    bool fill_is_default;               /* fill_value was null or missing in the document */
    const zb_codec_info *codecs;
    size_t codec_count;
} zb_array_info;

/* NULL when the node is a group. */
ZB_API const zb_array_info *zb_node_array(const zb_node *node);

/* ---- The grid ----------------------------------------------------------------------------- */

/* Where the chunks of an array lie. Programs ask instead of dividing by chunk_shape, so that they
   need not know what kind of grid it is. Each dimension is divided by itself: a chunk is the
   product of one span along each. These calls look at the opened metadata only: no store is asked,
   they do not fail, and any number of threads may call them at once. All numbers are counted in
   elements or chunks. */

/* Which chunks are meant. Both are the same where the array is not sharded. */
enum zb_grid_level {
    ZB_GRID_CHUNKS, /* what one key holds: a chunk, or a shard. The unit of storing */
    ZB_GRID_INNER   /* the innermost chunks, numbered through all of the array: index 0 begins at
                       element 0. The unit of decoding */
};

/* A chunk along one dimension. */
typedef struct zb_chunk_span {
    uint64_t index;  /* in the grid */
    uint64_t start;  /* its first element */
    uint64_t extent; /* its elements as it is encoded */
    uint64_t inside; /* those of them that lie in the array: fewer than `extent` in the last chunk
                        that the array's edge cuts, 0 behind the edge */
} zb_chunk_span;

/* How many chunks lie in the array along a dimension, the last of them maybe in part; 0 when its
   extent is 0. 0 also for a group, and for a dimension that the array does not have. An array of 0
   dimensions has one chunk, and no dimension to ask about. */
ZB_API uint64_t zb_array_chunk_count(const zb_node *array, enum zb_grid_level level, uint32_t dim);

/* The chunk at an index of the grid. An index behind the array's last chunk gives what would be
   there if the array were larger, with `inside` 0; one that would begin at 2^63 or later gives
   start UINT64_MAX and extent 0. All but `index` is 0 for a group, and for a dimension that the
   array does not have. */
ZB_API zb_chunk_span zb_array_chunk_at(const zb_node *array, enum zb_grid_level level, uint32_t dim,
                                       uint64_t index);

/* The chunk that an element lies in, likewise: behind the array's edge, the one that it would lie
   in. From element 2^63 on, `index`, `extent` and `inside` are 0 and `start` is UINT64_MAX. All is
   0 for a group, and for a dimension that the array does not have. */
ZB_API zb_chunk_span zb_array_chunk_of(const zb_node *array, enum zb_grid_level level, uint32_t dim,
                                       uint64_t element);

/* ---- Reading ------------------------------------------------------------------------------ */

/* Where elements go: element (i0, i1, ...) of the box lies at data + sum of i_d * strides[d]. */
typedef struct zb_view {
    void *data;
    zb_dtype dtype;         /* converted to when it differs from the array's (see zb_array_read) */
    const int64_t *strides; /* bytes, [ndim], any sign; NULL for C order without gaps */
} zb_view;

/* One box to read: count[d] elements from start[d], step[d] apart. */
typedef struct zb_read {
    const zb_node *node;
    const uint64_t *start; /* [ndim] elements; NULL for all zeros */
    const uint64_t *count; /* [ndim] elements; NULL for the rest of each dimension */
    const uint64_t *step;  /* [ndim], at least 1; NULL for all ones */
    zb_view view;
} zb_read;

/* Reads `count` boxes, of one array or several, as one plan: a chunk that several boxes touch is
   decoded once. Boxes must lie within their arrays (ZB_EINVAL).
   Conversion: between bool, integers and floats, and between complex types. Integers and floats
   that do not fit are clamped to the target's range, NaN becomes 0, as HDF5 does; anything non-zero
   is a true bool. Raw only to raw of the same size. Else ZB_EUNSUPPORTED. ZB_ECONFLICT when the
   array is not the one any more that was opened (zb_node_refresh opens what is there). On error the
   destinations hold undefined elements and err names store, array and chunk. */
ZB_API enum zb_code zb_array_read(const zb_read *reads, size_t count, zb_error *err);

/* Reads `count` single elements: coordinate i is coords[i*ndim .. i*ndim+ndim), and goes to
   data + i * stride (stride in bytes). Conversion and errors as in zb_array_read. */
ZB_API enum zb_code zb_array_read_points(const zb_node *node, const uint64_t *coords, size_t count,
                                         void *data, zb_dtype dtype, int64_t stride, zb_error *err);

/* Can elements of `from` be converted into `to` by the reads above? */
ZB_API bool zb_dtype_converts(zb_dtype from, zb_dtype to);

/* How many bytes the array takes in its store: the sum of the sizes of its chunks. Lists the store
   (ZB_EUNSUPPORTED where that cannot be done), at most `children` names in one directory. */
ZB_API enum zb_code zb_array_storage_size(const zb_node *node, uint64_t *bytes, zb_error *err);

/* ---- Process-wide state ------------------------------------------------------------------- */

/* Drops all cached chunks and indexes (for tests, and before measuring cold reads). */
ZB_API void zb_cache_clear(void);

/* The library's version, e.g. "0.1.0". */
ZB_API const char *zb_version(void);

#ifdef __cplusplus
}
#endif
#endif
