/* SPDX-License-Identifier: MIT */
/* Reading boxes and points of arrays. */
#ifndef ZARRBRIDGE_READ_H
#define ZARRBRIDGE_READ_H

#include "zarrbridge/node.h"
#include "zarrbridge/values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The destination of elements: element (i0, i1, ...) of the box lies at data + sum of i_d *
   strides[d]. */
typedef struct zb_view {
    void *data;
    zb_dtype dtype;         /* converted to when it differs from the array's (see zb_array_read) */
    const int64_t *strides; /* bytes, [ndim], any sign; NULL for C order without gaps */
    zb_values *values;      /* gets the bytes that elements of variable length point at
                               (zb_dtype_is_variable); not used for others, and may be NULL then */
} zb_view;

/* One box to read: count[d] elements from start[d], step[d] apart. */
typedef struct zb_read {
    const zb_node *node;
    const uint64_t *start; /* [ndim] elements; NULL for all zeros */
    const uint64_t *count; /* [ndim] elements; NULL for the rest of each dimension */
    const uint64_t *step;  /* [ndim], at least 1; NULL for all ones */
    zb_view view;
    /* Nobody has asked for it yet: of a store on the network fewer requests are worth more bytes
       than elsewhere, up to three eighths of what comes. */
    bool is_ahead;
} zb_read;

/* Reads `count` boxes, of one array or several, as one plan: a chunk that several boxes touch is
   decoded once. A chunk that is not stored reads as the fill value. Any thread.
   Conversion: between bool, integers and floats, and between complex types. Integers and floats
   that do not fit are clamped to the target's range, NaN becomes 0, as HDF5 does; any value but 0
   is a true bool. All others only to their equals (zb_dtype_converts): strings are zb_slice
   elements, whose bytes belong to view.values, on error too.
   Errors: ZB_EINVAL for a group, for boxes that leave their arrays, and for a view without the
   values that its type needs; ZB_EUNSUPPORTED for types
   that do not convert; chunk errors; ZB_ECONFLICT when the array is not the one that was opened any
   more (zb_node_refresh opens the present one). On error the destinations hold undefined elements,
   and err names store, array and chunk. */
ZB_API enum zb_code zb_array_read(const zb_read *reads, size_t count, zb_error *err);

/* Told how much of a read is done, from 0 to 1, never less than before. Returns 0 to go on,
   anything else to cancel the read. */
typedef int (*zb_progress_fn)(void *context, double done);

/* The same for a caller that wants to hear of it: calls fn about every 200 ms, and at the end of a
   read that succeeds with 1. Only the thread that called is in fn, with no lock held, and not after
   the return. fn is to be short, and must not read from the same store: the read may stand still
   meanwhile, and others may wait for what it has asked for. Of a store on the network fn is called
   while servers are waited for, whatever they do, and a cancelled read ends what is under way and
   returns at once. A local store is read in parts of at most 128 chunks or shards, and fn is called
   between them; what a backend reads by blocking calls (zb_store_submit_by_threads) is waited for
   before the return. Errors as in zb_array_read, and ZB_ECANCELLED where fn has cancelled it. */
ZB_API enum zb_code zb_array_read_with(const zb_read *reads, size_t count, zb_progress_fn fn,
                                       void *context, zb_error *err);

/* Single elements to read, in any order, the same one several times, too. */
typedef struct zb_points {
    const zb_node *node;
    const uint64_t *coords; /* [count][ndim] elements; not used where count is 0 */
    size_t count;
    zb_view view; /* of one dimension: strides[0] bytes from one point's element to the next */
} zb_points;

/* Reads points of one array: each chunk that some of them lie in is decoded once. Conversion,
   errors and threads as of zb_array_read. */
ZB_API enum zb_code zb_array_read_points(const zb_points *points, zb_error *err);

/* Sets *bytes to the stored size of one innermost chunk (index[ndim] as ZB_GRID_INNER counts), 0
   when it is not stored. The chunk itself is not read, only indexes of shards. ZB_EINVAL for a
   group, and for a chunk that the array does not have; ZB_EUNSUPPORTED where codecs lie around a
   shard, whose inner chunks then have no bytes of their own; ZB_ECONFLICT as of zb_array_read;
   chunk errors. */
ZB_API enum zb_code zb_array_chunk_stored(const zb_node *array, const uint64_t *index,
                                          uint64_t *bytes, zb_error *err);

/* Where the encoded bytes of one innermost chunk are. */
typedef struct zb_chunk_place {
    char *key; /* of the object in the store, which the caller frees; NULL when it is not stored */
    uint64_t offset, bytes; /* in that object */
} zb_chunk_place;

/* The same with the place: fills *out. It holds until somebody writes to the array. */
ZB_API enum zb_code zb_array_chunk_place(const zb_node *array, const uint64_t *index,
                                         zb_chunk_place *out, zb_error *err);

/* Called for a stored chunk: its index [ndim], valid during the call alone, and with ZB_GRID_INNER
   the bytes of it in the store (else 0). Returns 0 to go on, anything else to stop. */
typedef int (*zb_chunk_fn)(void *context, const uint64_t *index, uint64_t bytes);

/* Calls fn for each chunk of the array that is stored, in no order. ZB_GRID_CHUNKS tells of objects
   by their names and opens none; ZB_GRID_INNER opens each and tells of the chunks in it, as
   zb_array_chunk_stored. The listing of the store decides how long that takes, not the array's
   shape; a store that cannot list is asked for each object, for at most 2^24 of them. What is
   stored behind the array's edge is left out. ZB_OK also when fn stops it. ZB_EINVAL for a group;
   ZB_EUNSUPPORTED where codecs lie around a shard, and for a larger grid in a store that cannot
   list; ZB_ECONFLICT as of zb_array_read: then what fn was told, and what not, does not count;
   chunk errors; errors of listings. */
ZB_API enum zb_code zb_array_stored_each(const zb_node *array, enum zb_grid_level level,
                                         zb_chunk_fn fn, void *context, zb_error *err);

/* The same for the innermost chunks that hold elements of a box: start and count [ndim], as in
   zb_read. The store is asked for each object, or from 2^24 objects on for its listing. ZB_EINVAL
   also for a box that leaves the array. */
ZB_API enum zb_code zb_array_stored_in(const zb_node *array, const uint64_t *start,
                                       const uint64_t *count, zb_chunk_fn fn, void *context,
                                       zb_error *err);

#ifdef __cplusplus
}
#endif
#endif
