/* SPDX-License-Identifier: MIT */
/*
 * Chunk and shard shapes for datasets that were created without any.
 *
 * Chunks of about 1 MiB are small enough for a window, large enough to compress and to decode in
 * one task. Many of them in one shard keep the number of files bearable; small arrays stay without
 * shards, since a chunk of its own can be written without reading its neighbours.
 */
#include "create/spec.h"

#define CHUNK_BYTES ((uint64_t)1 << 20)
#define SHARD_BYTES ((uint64_t)64 << 20)
#define SHARDED_FROM ((uint64_t)256 << 20)

/* Saturates. */
static uint64_t bytes_of(uint32_t ndim, const uint64_t *shape, uint32_t element_size) {
    uint64_t bytes = element_size;
    for (uint32_t d = 0; d < ndim; d++)
        if (__builtin_mul_overflow(bytes, shape[d], &bytes))
            return UINT64_MAX;
    return bytes;
}

/* Halves the longest side until it fits: the chunk gets about the same length everywhere. */
void vol_cut_chunk(uint32_t ndim, const uint64_t *shape, uint32_t element_size, uint64_t *chunk) {
    for (uint32_t d = 0; d < ndim; d++)
        chunk[d] = shape[d] > 0 ? shape[d] : 1;
    while (bytes_of(ndim, chunk, element_size) > CHUNK_BYTES) {
        uint32_t longest = 0;
        for (uint32_t d = 1; d < ndim; d++)
            if (chunk[d] > chunk[longest])
                longest = d;
        if (ndim == 0 || chunk[longest] == 1)
            return;
        chunk[longest] -= chunk[longest] / 2;
    }
}

/* Doubles the side that has the fewest chunks, as long as there are more of them. */
bool vol_cut_shard(uint32_t ndim, const uint64_t *shape, uint32_t element_size,
                   const uint64_t *chunk, uint64_t *shard) {
    uint64_t times[ZB_MAX_NDIM];
    if (ndim == 0 || bytes_of(ndim, shape, element_size) <= SHARDED_FROM)
        return false;
    for (uint32_t d = 0; d < ndim; d++) {
        times[d] = 1;
        shard[d] = chunk[d];
    }
    while (bytes_of(ndim, shard, element_size) <= SHARD_BYTES / 2) {
        uint32_t next = ndim;
        for (uint32_t d = 0; d < ndim; d++)
            if (shard[d] < shape[d] && (next == ndim || times[d] < times[next]))
                next = d;
        if (next == ndim)
            break;
        times[next] *= 2;
        shard[next] *= 2;
    }
    return bytes_of(ndim, shard, element_size) > bytes_of(ndim, chunk, element_size);
}
