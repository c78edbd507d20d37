/* SPDX-License-Identifier: MIT */
/*
 * Chunks that were not found. One that is not stored reads as fill values; but chunks are found by
 * the path of their array, and one that another program moves away and back has none for a moment.
 * So what a read has not found is looked for once more, in the place that surely is the array's.
 */
#ifndef ZB_READ_MISSING_H
#define ZB_READ_MISSING_H

#include "read/leaf.h"

/* After a read of these chunks: NULL when each that was not found is not stored, else an array of
   which that is not sure. Where the store cannot tell, it is believed. */
const zb_node *zb__missing_doubt(const zb__stored_chunk *chunks, size_t count);

/* Looks for chunks that are in doubt, until their array counts as gone: a chunk that another
   program stores between two looks is in doubt as well. */
#define ZB__MISSING_TRIES 8

/* zb__stored_chunk_open, after which a chunk that is missing is not stored. ZB_ECONFLICT where its
   array may have gone. */
enum zb_code zb__missing_open(zb__stored_chunk *chunk, zb_error *err);

#endif
