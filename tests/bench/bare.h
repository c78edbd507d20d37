/* SPDX-License-Identifier: MIT */
/*
 * The calibration of the benchmark: the same bytes decoded with the bare library and copied row by
 * row, or copied, encoded and written, on the same number of threads, without any code of
 * zarrbridge. The core's own cost is the time that it takes beyond this.
 *
 * The calibration supports the data sets: 2 or more dimensions that the chunks divide, raw, zstd,
 * gzip and blosc chunks, one level of shards with the index at the end. It exits with a message for
 * other arrays.
 */
#ifndef ZB_BENCH_BARE_H
#define ZB_BENCH_BARE_H

#include "zarrbridge/zarrbridge.h"

/* Reads the whole array of a store directory into out (C order). */
void bare_read(const char *directory, const zb_array_info *info, unsigned threads, void *out);

/* Writes the chunks of the whole array (C order) into a store directory that has none of them, at
   the levels of the data sets. */
void bare_write(const char *directory, const zb_array_info *info, unsigned threads,
                const void *array);

/* The least time that the bare library takes for inner chunk (1, 1) of the first shard of such a
   2-D array, from memory to memory, on one thread. */
double bare_decode_ms(const char *directory, const zb_array_info *info, double (*now_ms)(void));

#endif
