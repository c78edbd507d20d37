/* SPDX-License-Identifier: MIT */
/*
 * The store of the fault tests: a directory with a few groups and arrays of known values, and the
 * checks of the state that is left.
 *
 * A *snapshot* holds every array's shape and values. After each fault, each array must be that of
 * the snapshot before or that after the change, and each of its chunks the old or the new one,
 * whole; all documents open; and consolidated metadata, where there is some, tells the truth.
 */
#ifndef ZB_TEST_FAULT_WORLD_H
#define ZB_TEST_FAULT_WORLD_H

#include "support/check.h"
#include "zarrbridge/write.h"

/* Arrays are int32 with two dimensions. */
#define WORLD_PATHS 16
typedef struct world_array {
    bool exists;
    uint64_t shape[2];
    uint64_t chunk[2]; /* what is old or new as a whole. Of an array in the snapshot before, the
                          test may say something smaller */
    int32_t *values;   /* C order, malloc'ed */
} world_array;

typedef struct world_snapshot {
    world_array array[WORLD_PATHS]; /* by the order of world_paths */
} world_snapshot;
extern const char *const world_paths[]; /* every path where an array may be; ends with NULL */

/* Makes the store in a directory that does not exist yet:
       g           group with attributes
       g/plain     [12,10] in chunks of [4,5], gzip
       g/shard     [14,16] in shards of [8,8], inner chunks of [2,4], zstd and crc32c
       g/fixed     [8,16] in shards of [8,8], inner chunks of [2,4], crc32c alone
       g/sub/deep  [4,4] in chunks of [4,4], not compressed
   consolidated: the root has a block of consolidated metadata. */
void world_make(const char *root, bool consolidated);

/* The value that world_make and scenarios write at row, column; generation: 0 for the old ones. */
int32_t world_value(int generation, uint64_t row, uint64_t column);
#define WORLD_FILL (-1)

/* A new empty directory for stores: in TMPDIR, else in memory where syncs cost nothing, else where
   check_new_directory makes it. Removed by check_remove_directory. */
char *world_new_place(void);

/* Removes a directory with all below, if it is there. */
void world_remove(const char *root);

void world_snapshot_take(const char *root, world_snapshot *out);
void world_snapshot_free(world_snapshot *snapshot);

/* Every array is as before or as after, chunk by chunk, and the hierarchy is sound. `what` is said
   when not. */
void world_check(const char *root, const world_snapshot *before, const world_snapshot *after,
                 const char *what);

/* The same for one array whose shards are changed in place: each inner chunk is the old one or the
   new one, or reading it is ZB_ECHECKSUM or ZB_EFORMAT. */
void world_check_live(const char *root, const char *path, const world_snapshot *before,
                      const world_snapshot *after, const char *what);

/* Temporary files and other names of zarrbridge that are left anywhere below; locks: their files,
   too. */
int world_left_over(const char *root, bool locks);
/* A writer comes to every directory; left-over names must go then. */
void world_sweep(const char *root);

#endif
