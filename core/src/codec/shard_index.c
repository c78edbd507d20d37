/* SPDX-License-Identifier: MIT */
/*
 * The index of a shard, decoded and encoded. The library sees plain (offset, length) pairs in C
 * order of the grid; their form in the index's pipeline (another byte order, transposes, a
 * checksum) stays in here.
 */
#include "codec/shard_index.h"

#include <inttypes.h>

#include "types/scatter.h"
#include "util/bytes.h"
#include "zarrbridge/dtype.h"

static const zb_dtype entry_type = {.kind = ZB_KIND_UINT, .size = sizeof(uint64_t)};

/* True if the stored bytes are the entries as we keep them. */
static bool is_plain(const zb__chunk_layout *index) {
    const zb__pipeline *pipeline = index->pipeline;
    for (uint32_t i = 0; i < pipeline->ndim; i++) {
        if (pipeline->axis[i] != i)
            return false;
    }
    return !pipeline->dtype.swapped;
}

/* Copies all entries between our order and the stored one. */
static void move_entries(const zb__chunk_layout *index, bool store, const void *from, void *to) {
    const zb__pipeline *pipeline = index->pipeline;
    int64_t stored[ZB_MAX_NDIM], ours[ZB_MAX_NDIM], by_axis[ZB_MAX_NDIM];
    uint64_t shape[ZB_MAX_NDIM];
    int64_t stored_stride = sizeof(uint64_t), our_stride = sizeof(uint64_t);
    for (uint32_t i = 0; i < pipeline->ndim; i++)
        shape[pipeline->axis[i]] = index->stored_shape[i];
    for (uint32_t i = pipeline->ndim; i-- > 0;) {
        stored[i] = stored_stride;
        stored_stride *= (int64_t)index->stored_shape[i];
        by_axis[i] = our_stride;
        our_stride *= (int64_t)shape[i];
    }
    for (uint32_t i = 0; i < pipeline->ndim; i++)
        ours[i] = by_axis[pipeline->axis[i]];
    zb__box_copy copy = {.ndim = pipeline->ndim,
                         .count = index->stored_shape,
                         .src_strides = store ? ours : stored,
                         .dst_strides = store ? stored : ours,
                         .src_dtype = store ? entry_type : pipeline->dtype,
                         .dst_dtype = store ? pipeline->dtype : entry_type};
    zb__scatter(&copy, from, to);
}

/* An entry is either there or missing; one half alone means damage. */
static enum zb_code check_entries(const uint64_t *entries, uint64_t count, zb_error *err) {
    for (uint64_t i = 0; i < count; i++) {
        uint64_t offset = entries[2 * i], length = entries[2 * i + 1];
        if ((offset == ZB__INDEX_EMPTY) != (length == ZB__INDEX_EMPTY))
            return zb_fail(err, ZB_EFORMAT,
                           "entry %" PRIu64 " of the index is half empty: offset %" PRIu64
                           ", length %" PRIu64,
                           i, offset, length);
    }
    return ZB_OK;
}

enum zb_code zb__shard_index_decode(const zb__shard *shard, zb__scratch *scratch,
                                    const uint8_t *encoded, uint64_t *entries, zb_error *err) {
    const zb__chunk_layout *index = shard->index;
    size_t size = (size_t)index->decoded_size; /* at most index_bytes, see shard.c */
    uint8_t *stored = (uint8_t *)entries;
    if (!is_plain(index)) {
        enum zb_code code = zb__buffer_reserve(&scratch->block, size, err);
        if (code)
            return code;
        stored = scratch->block.data;
    }
    zb__sink sink = {.data = stored, .capacity = size, .exact = true, .hi = size};
    enum zb_code code =
        zb__pipeline_decode(index->pipeline, scratch, encoded, shard->index_size, &sink, err);
    if (code)
        return zb_error_prefix(err, code, "index");
    if (!is_plain(index))
        move_entries(index, false, stored, entries);
    return check_entries(entries, shard->count, err);
}

enum zb_code zb__draft_index_decode(const zb__shard *shard, zb__scratch *scratch,
                                    const uint8_t *encoded, size_t size, uint64_t *entries,
                                    zb_error *err) {
    size_t raw = (size_t)shard->index->decoded_size;
    if (size < raw)
        return zb_fail(err, ZB_EFORMAT, "the shard has %zu bytes, fewer than its index of %zu",
                       size, raw);
    if (size == shard->index_size) {
        enum zb_code code = zb__shard_index_decode(shard, scratch, encoded, entries, err);
        if (code != ZB_ECHECKSUM)
            return code;
    }
    for (uint64_t i = 0; i < 2 * shard->count; i++)
        entries[i] = zb__load_le64(encoded + (size - raw) + 8 * i);
    return check_entries(entries, shard->count, err);
}

enum zb_code zb__shard_index_encode(const zb__shard *shard, zb__scratch *scratch,
                                    const uint64_t *entries, uint8_t *out, zb_error *err) {
    const zb__chunk_layout *index = shard->index;
    const uint8_t *stored = (const uint8_t *)entries;
    size_t size = (size_t)index->decoded_size, written = 0;
    if (!is_plain(index)) {
        enum zb_code code = zb__buffer_reserve(&scratch->block, size, err);
        if (code)
            return code;
        move_entries(index, true, entries, scratch->block.data);
        stored = scratch->block.data;
    }
    /* The codecs are of fixed size, so they give index_size bytes. */
    enum zb_code code = zb__pipeline_encode(index->pipeline, scratch, stored, size, out,
                                            shard->index_size, &written, err);
    return code ? zb_error_prefix(err, code, "index") : ZB_OK;
}

enum zb_code zb__inner_chunk_check(const zb__inner_chunks *walk, zb_error *err) {
    if (walk->size == 0)
        return zb_fail(err, ZB_EFORMAT, "its index entry has 0 bytes");
    if (zb__inner_chunk_fits(walk))
        return ZB_OK;
    return zb_fail(err, ZB_EFORMAT,
                   "its index entry (offset %llu, %llu bytes) leaves the shard's %llu bytes",
                   (unsigned long long)walk->offset, (unsigned long long)walk->size,
                   (unsigned long long)walk->shard_size);
}
