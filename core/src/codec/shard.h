/* SPDX-License-Identifier: MIT */
/* The index of a shard. */
#ifndef ZB_CODEC_SHARD_H
#define ZB_CODEC_SHARD_H

#include "codec/form.h"
#include "zarrbridge/error.h"

#define ZB__INDEX_EMPTY UINT64_MAX

/* Decodes a shard index of index_size bytes into entries[2 * count]: offset and length of each
   inner chunk in C order of stored dimensions, host byte order, ZB__INDEX_EMPTY twice for a missing
   one (one alone is ZB_EFORMAT). Checks the checksum, not the bounds: the reader compares them with
   the object's size. */
enum zb_code zb__shard_index_decode(const zb__shard *shard, zb__scratch *scratch,
                                    const uint8_t *encoded, uint64_t *entries, zb_error *err);

/* The same of a shard of the draft: encoded[0..size) are the last bytes of the shard, index_size of
   them or, of a shorter shard, all. The index ends with a checksum, as zarr-python reads and writes
   it, or has none, as the draft had it; the checksum itself tells. */
enum zb_code zb__draft_index_decode(const zb__shard *shard, zb__scratch *scratch,
                                    const uint8_t *encoded, size_t size, uint64_t *entries,
                                    zb_error *err);

/* Encodes a shard index: entries[2 * count] as zb__shard_index_decode gives them, into index_size
   bytes. */
enum zb_code zb__shard_index_encode(const zb__shard *shard, zb__scratch *scratch,
                                    const uint64_t *entries, uint8_t *out, zb_error *err);

#endif
