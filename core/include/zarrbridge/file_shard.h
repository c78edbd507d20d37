/* SPDX-License-Identifier: MIT */
/*
 * A file of another format as the shard of an array, without a copy of its bytes.
 *
 * A shard is bytes in any order and an index that says where inner chunks lie, here at the end. A
 * format that takes no notice of what follows its own bytes, as HDF5 does, can have both: its
 * programs read the file, and Zarr's read the same file as the only shard of an array.
 */
#ifndef ZARRBRIDGE_FILE_SHARD_H
#define ZARRBRIDGE_FILE_SHARD_H

#include "zarrbridge/node.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An inner chunk that the file has, encoded as the array's inner codecs do it. */
typedef struct zb_file_chunk {
    uint64_t number;       /* in C order of the array's inner chunks */
    uint64_t offset, size; /* in the file, bytes */
} zb_file_chunk;

typedef struct zb_file_shard {
    int fd;                      /* a regular file, open for reading */
    uint64_t length;             /* bytes that its own format uses; the index comes behind them */
    const zb_file_chunk *chunks; /* in any order; others are not stored */
    size_t count;
    bool is_kept; /* the file itself gets no index: the shard shares its blocks */
} zb_file_shard;

/*
 * Makes a file the shard of an array that has one shard, with the index at the end, and has not
 * stored it. The index is appended to the file, and the shard becomes a further name of it (a hard
 * link). An index that is there from before is used again. Where the file has other names, which
 * may be shards with an index of their own, or other bytes behind its length, and where the two are
 * on different mounts, it stays as it is, and the shard shares its blocks (a reflink). A writer of
 * the array replaces the shard and leaves the file.
 *
 * ZB_EUNSUPPORTED, with nothing changed, for other arrays, where the file system has no reflinks
 * either, and for stores that are no directories; ZB_EINVAL for chunks that leave the file, or are
 * named twice; ZB_ECONFLICT where there is a shard, or another program takes the file at this
 * moment; errors as of other writes. The caller keeps writers of the file out.
 */
ZB_API enum zb_code zb_array_take_file(const zb_node *array, const zb_file_shard *shard,
                                       zb_error *err);

#ifdef __cplusplus
}
#endif
#endif
