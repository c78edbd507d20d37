/* SPDX-License-Identifier: MIT */
/* Nodes: groups and arrays, and the facts about them that are known without reading data. */
#ifndef ZARRBRIDGE_NODE_H
#define ZARRBRIDGE_NODE_H

#include "zarrbridge/array.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/hierarchy.h"
#include "zarrbridge/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A group or an array. */
typedef struct zb_node zb_node;

/* Opens the node at path ("" for the root; "a/b", no leading or trailing slash) by its zarr.json
   (core specification 3.1, "Metadata documents"). One small read, no listing. Where there is none,
   documents of version 2 are looked for (.zarray, .zgroup, and .zattrs), at last, where the store
   can list, a directory with nodes of version 2 below. Of a store that is not local, the
   consolidated metadata of a group that was opened before describe the nodes below it. The caller
   releases *out; the node keeps the store alive. ZB_ENOTFOUND when there is no node; document
   errors, which say which member is wrong. Any thread. */
ZB_API enum zb_code zb_node_open(zb_hierarchy *hierarchy, const char *path, zb_node **out,
                                 zb_error *err);

/* The same, for the nodes around one that is open, and those that a list has just named. Of a store
   that is not local, a document that came from it less than ten seconds ago
   (ZARRBRIDGE_REMOTE_FRESH_SECONDS), or a list without the node's name, is taken for the present
   one, until something is changed through the store. */
ZB_API enum zb_code zb_node_open_cached(zb_hierarchy *hierarchy, const char *path, zb_node **out,
                                        zb_error *err);

/* Opens the node that is at this node's path now: after ZB_ECONFLICT, or to see the shape and the
   attributes that other writers have given it. Always by its own document. Errors as
   zb_node_open. */
ZB_API enum zb_code zb_node_refresh(const zb_node *node, zb_node **out, zb_error *err);

/* One more reference, which is released like the first one; returns the node. The last release
   frees the node, and gives up its store. Any thread. */
ZB_API zb_node *zb_node_retain(zb_node *node);
ZB_API void zb_node_release(zb_node *node); /* NULL is allowed */

ZB_API zb_hierarchy *zb_node_hierarchy(const zb_node *node); /* borrowed */
ZB_API const char *zb_node_path(const zb_node *node);        /* as given to zb_node_open */
ZB_API const char *zb_node_name(const zb_node *node); /* last part of the path, "" for the root */
/* The attributes: a JSON object, or NULL when there are none. Lives as long as the node. */
ZB_API const zb_json *zb_node_attributes(const zb_node *node);
/* The document as it stands in the store, but that the map of consolidated metadata has no entries
   where the store is local and can list names, unless none of the nodes that it describes is there;
   of a node of version 2, the zarr.json that says the same. Lives as long as the node. */
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

/* The children of a group, each opened: names that hold a node. From a listing where the store
   can list, else from consolidated metadata (as zarr-python writes it). A child that cannot be
   opened is not an error. The caller frees with zb_children_free. ZB_EINVAL for an array; store
   errors; ZB_ELIMIT for `children`; ZB_EUNSUPPORTED where neither a listing nor consolidated
   metadata is there. */
ZB_API enum zb_code zb_group_children(const zb_node *group, zb_children *out, zb_error *err);
ZB_API void zb_children_free(zb_children *children);

/* Called once for each name; returns 0 to go on, anything else to stop. */
typedef int (*zb_name_fn)(void *context, const char *name);

/* Calls fn for the name of each child of a group, in the order of zb_group_children, and opens
   none: the store is asked whether there is a document, not what it says. So a group may have more
   children than fit in memory as nodes. Errors as zb_group_children, none where fn stops it. */
ZB_API enum zb_code zb_group_names(const zb_node *group, zb_name_fn fn, void *context,
                                   zb_error *err);

/* A node in a list of many. All is valid during the call alone. */
typedef struct zb_entry {
    const char *path;           /* as zb_node_open takes it */
    const zb_array_info *array; /* NULL for a group, and for a node that cannot be read */
    int format;                 /* as zb_node_format; 0 for a node that cannot be read */
    const char *reason;         /* why it cannot be read; else NULL */
    bool is_last;               /* no name follows it in its group that may be a node */
} zb_entry;

/* Of a zb_entry_fn: go on, but not to the nodes below this one. */
#define ZB_WALK_PAST (-1)

/* Called once for each node; returns 0 or ZB_WALK_PAST to go on, anything else to stop. */
typedef int (*zb_entry_fn)(void *context, const zb_entry *entry);

/* Calls fn for the node at path and for all nodes below it, a group before its children, these in
   the order of their names. No node is kept: memory is needed for the names of the groups that the
   walk is in. Names as zb_group_children finds them. ZB_OK also when fn stops it; ZB_ENOTFOUND when
   there is no node at path; ZB_EIO when the document of that one cannot be had; errors of listings;
   ZB_ELIMIT for `children` and `links`. */
ZB_API enum zb_code zb_node_each(zb_hierarchy *hierarchy, const char *path, zb_entry_fn fn,
                                 void *context, zb_error *err);

/* ---- Arrays ------------------------------------------------------------------------------- */

/* The version of Zarr that the store has the node in: 3, or 2. Nodes of version 2 are shown as
   those of version 3 are; they are read and copied, not changed (ZB_EUNSUPPORTED). */
ZB_API int zb_node_format(const zb_node *node);

/* ZB_OK for a node of version 3; else the error that each change of it gives, with the way out. */
ZB_API enum zb_code zb_node_may_change(const zb_node *node, zb_error *err);

/* ZB_ECONFLICT when the store has no array at the path any more, or another one: what was read from
   it last may be that one's, or may have been missing. All reads ask by themselves. One stat while
   the document stays as it is; a distant store is asked no more often than its answers last. Errors
   of the store. Any thread. */
ZB_API enum zb_code zb_array_still(const zb_node *array, zb_error *err);

/* NULL when the node is a group. */
ZB_API const zb_array_info *zb_node_array(const zb_node *node);

/* The chunk_key_encoding of an array as JSON text, for zb_array_spec.key_encoding; malloc'ed. NULL
   where a new array has the same without one, for nodes of version 2, and when memory runs out. */
ZB_API char *zb_array_key_encoding(const zb_node *array);

/* ---- The grid ----------------------------------------------------------------------------- */

/* The places of an array's chunks. Programs ask instead of dividing by chunk_shape, so that they
   need not know the kind of the grid. Each dimension is divided by itself: a chunk is the product
   of one span along each. These calls look at the opened metadata only: no store is asked, they do
   not fail, and any number of threads may call them at once. All numbers are counted in elements or
   chunks. */

/* The kind of chunks that a call is about. Both kinds are the same where the array is not
   sharded. */
enum zb_grid_level {
    ZB_GRID_CHUNKS, /* the content of one key: a chunk, or a shard. The unit of storing */
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

/* The number of chunks that lie in the array along a dimension, the last of them maybe in part; 0
   when its extent is 0. 0 also for a group, and for a dimension that the array does not have. An
   array of 0 dimensions has one chunk, and no dimension to ask about. */
ZB_API uint64_t zb_array_chunk_count(const zb_node *array, enum zb_grid_level level, uint32_t dim);

/* The chunk at an index of the grid. An index behind the array's last chunk gives the chunk that
   would be there if the array were larger, with `inside` 0; one that would begin at 2^63 or later,
   or behind the end of a grid that ends, gives start UINT64_MAX and extent 0. All but `index` is 0
   for a group, and for a dimension that the array does not have. */
ZB_API zb_chunk_span zb_array_chunk_at(const zb_node *array, enum zb_grid_level level, uint32_t dim,
                                       uint64_t index);

/* The chunk that an element lies in, likewise: behind the array's edge, the one that it would lie
   in. From element 2^63 on, `index`, `extent` and `inside` are 0 and `start` is UINT64_MAX; the
   same behind the end of a grid that ends, with the number of its chunks as index. All is 0 for a
   group, and for a dimension that the array does not have. */
ZB_API zb_chunk_span zb_array_chunk_of(const zb_node *array, enum zb_grid_level level, uint32_t dim,
                                       uint64_t element);

/* The grid as it is declared, of chunks or shards. Along a dimension whose chunks have several
   extents, and which therefore ends, it is a number of runs from the first chunk to the last; they
   reach to the array's edge or beyond, maybe by whole chunks. 0 runs: all chunks have the extent
   chunk_shape[dim], without an end; also for a group, and for a dimension that the array does not
   have. */
ZB_API size_t zb_array_run_count(const zb_node *array, uint32_t dim);

/* Run i, below that number; all 0 behind it. */
ZB_API zb_chunk_run zb_array_run_at(const zb_node *array, uint32_t dim, size_t i);

/* What an array takes in its store: the number of its chunks, or shards, that are there and lie in
   the grid, and the sum of the sizes of all that are there. */
typedef struct zb_stored {
    uint64_t chunks, bytes;
} zb_stored;

/* Lists the store. ZB_EINVAL for a group; ZB_EUNSUPPORTED where the store cannot list; store
   errors; ZB_ELIMIT for `children` names in one directory. */
ZB_API enum zb_code zb_array_stored(const zb_node *array, zb_stored *out, zb_error *err);

/* The bytes of that alone, likewise. */
ZB_API enum zb_code zb_array_storage_size(const zb_node *array, uint64_t *bytes, zb_error *err);

/* Whether a name is reserved, so that no node can be created under it: the specification keeps
   names that begin with "__" and "zarr.json" for itself, version 2 those of its documents, and this
   library the exact forms of those that it gives to temporary objects, markers and hidden arrays.
   Other programs make nodes under names that begin with "__" (xarray does for arrays without a
   name): they are listed, read, changed, copied, moved and deleted as all others. */
ZB_API bool zb_name_is_reserved(const char *name);

#ifdef __cplusplus
}
#endif
#endif
