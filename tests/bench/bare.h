/* SPDX-License-Identifier: MIT */
/*
 * The calibration of the benchmark: the same bytes decoded with the bare library and copied row by
 * row, or copied, encoded and written, on the same number of threads, without any code of
 * zarrbridge. The core's own cost is the time that it takes beyond this.
 *
 * The calibration supports arrays of version 3 with elements of one size and one or more dimensions
 * that the chunks divide, raw, zstd, gzip and blosc chunks, one level of shards with the index at
 * the end, no filters. It exits with a message for damaged ones.
 */
#ifndef ZB_BENCH_BARE_H
#define ZB_BENCH_BARE_H

#include "timing.h"
#include "zarrbridge/zarrbridge.h"

/* Is it an array that the calibration supports? */
bool bare_knows(const char *directory, const zb_node *node);

/* Reads the whole array of a store directory into out (C order). */
void bare_read(const char *directory, const zb_array_info *info, unsigned threads, void *out);

/* Writes the chunks of the whole array (C order) into a store directory that has none of them, at
   the levels of the data sets. */
void bare_write(const char *directory, const zb_array_info *info, unsigned threads,
                const void *array);

/* The least time that the bare library takes for inner chunk (1, 1) of the first shard of such a
   2-D array, from memory to memory, on one thread. */
least bare_decode_time(const char *directory, const zb_array_info *info);

#endif
