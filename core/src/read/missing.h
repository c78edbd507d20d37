/* SPDX-License-Identifier: MIT */
/*
 * Chunks that were not found. One that is not stored reads as fill values; but chunks are found by
 * the path of their array, and one that another program moves away and back has none for a moment.
 * So what a read has not found is looked for once more, in the place that surely is the array's.
 */
#ifndef ZB_READ_MISSING_H
#define ZB_READ_MISSING_H

#include "read/leaf.h"

/* Chunks that one question is about. */
#define ZB__MISSING_TOGETHER 64

/* Looks for chunks in the store, and says of each whether it is_missing. */
typedef enum zb_code (*zb__look_fn)(void *context, zb__stored_chunk *chunks, size_t count,
                                    zb_error *err);

/* Looks, and again while some chunk that is missing may be stored after all. On success those that
   are missing are not stored; where the store cannot tell, it is believed. ZB_ECONFLICT where an
   array may have gone; errors of the look. */
enum zb_code zb__missing_surely(zb__stored_chunk *chunks, size_t count, zb__look_fn look,
                                void *context, zb_error *err);

#endif
