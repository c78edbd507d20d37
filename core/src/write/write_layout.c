/* SPDX-License-Identifier: MIT */
/* The inner chunks of chunks, and the copying between pieces and inner chunks. */
#include "write/writer.h"

#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "codec/chunk_layout.h"
#include "codec/elements.h"
#include "codec/encode.h"
#include "node/node.h"
#include "read/piece.h"
#include "types/conversion.h"
#include "types/scatter.h"
#include "types/values.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/write.h"

/* True if the inner chunks are inner chunks whose encoding has one possible size, and a checksum of
   all of it. */
static bool is_fixed(const zb__write_layout *layout) {
    const zb__pipeline *inner = layout->inner->pipeline;
    return layout->shard && !layout->inner->shard && !zb__chunk_layout_has_heap(layout->inner) &&
           zb__pipeline_is_fixed(inner) && zb__pipeline_is_checked(inner);
}

/* The inner chunk's pipeline may permute dimensions once more: its stored dimension i is our
   axis[i]. */
static void set_strides(zb__write_layout *layout) {
    const zb__chunk_layout *inner = layout->inner;
    uint64_t stride = 1;
    for (uint32_t i = layout->ndim; i-- > 0; stride *= inner->stored_shape[i])
        layout->strides[layout->shard ? inner->pipeline->axis[i] : i] = stride;
}

enum zb_code zb__write_layout_shape(zb__write_layout *layout, const zb__chunk_layout *chunk,
                                    zb_error *err) {
    bool sharded = chunk->shard && chunk->pipeline->codec_count == 0;
    layout->inner = sharded ? chunk->shard->inner : chunk;
    layout->shard = sharded ? chunk->shard : NULL;
    layout->inner_chunks = sharded ? chunk->shard->count : 1;
    for (uint32_t d = 0; d < layout->ndim; d++) {
        layout->inner_shape[d] = sharded ? chunk->shard->inner_shape[d] : chunk->stored_shape[d];
        layout->inner_grid[d] = sharded ? chunk->shard->grid[d] : 1;
    }
    uint64_t bound = zb__chunk_encode_bound(layout->inner);
    uint64_t limit = zb_limits_get()->shard_bytes;
    if (layout->inner->decoded_size > limit || bound > 2 * limit)
        return zb_fail(
            err, ZB_ELIMIT,
            "a chunk that is encoded as a whole has %llu bytes, limit shard_bytes is %llu",
            (unsigned long long)layout->inner->decoded_size, (unsigned long long)limit);
    layout->inner_bytes = (size_t)layout->inner->decoded_size;
    layout->inner_bound = (size_t)bound;
    layout->fixed = is_fixed(layout);
    set_strides(layout);
    return ZB_OK;
}

enum zb_code zb__write_layout_init(zb__write_layout *layout, const zb__array *array,
                                   zb_error *err) {
    *layout = (zb__write_layout){
        .ndim = array->info.ndim, .grid = &array->grid, .outer = array->layout->pipeline};
    for (uint32_t d = 0; d < layout->ndim; d++)
        layout->shape[d] = array->info.shape[layout->outer->axis[d]];
    enum zb_code code = zb__array_check_writable(array, err);
    if (!code)
        code = zb__write_layout_shape(layout, array->layout, err);
    if (code)
        return code;
    layout->fill = malloc(array->info.dtype.size);
    if (!layout->fill)
        return zb_fail(err, ZB_ENOMEM, "no memory for a writer");
    zb__convert(array->info.dtype, array->info.fill_value, 0, layout->inner->pipeline->dtype,
                layout->fill, 0, 1);
    return ZB_OK;
}

uint64_t zb__inner_inside(const zb__write_layout *layout, const uint64_t *origin, uint64_t inner,
                          uint64_t *count) {
    uint64_t elements = 1;
    for (uint32_t d = layout->ndim; d-- > 0;) {
        zb__span span = zb__inner_span(layout, d, &inner);
        span.start += origin[d];
        count[d] = zb__span_inside(span, layout->shape[d]);
        elements *= count[d];
    }
    return elements;
}

/* How a piece is copied to the elements of an inner chunk, from the byte *first on. The strides are
   kept in an array of the caller. */
static inline zb__box_copy copy_to(const zb__write_layout *layout, zb__piece *piece,
                                   int64_t *strides, uint64_t *first) {
    uint32_t ndim = layout->ndim;
    *first = 0;
    for (uint32_t d = 0; d < ndim; d++) {
        uint64_t stride = layout->strides[d] * layout->inner->pipeline->dtype.size;
        *first += zb__piece_start(piece)[d] * stride;
        strides[d] = zb__piece_count(piece, ndim)[d] > 1
                         ? (int64_t)(stride * zb__piece_step(piece, ndim)[d])
                         : 0;
    }
    return (zb__box_copy){.ndim = ndim,
                          .count = zb__piece_count(piece, ndim),
                          .src_strides = zb__piece_stride(piece, ndim),
                          .dst_strides = strides,
                          .src_dtype = piece->target->dtype,
                          .dst_dtype = layout->inner->pipeline->dtype};
}

void zb__inner_put(const zb__write_layout *layout, zb__piece *piece, uint8_t *elements) {
    int64_t strides[ZB_MAX_NDIM];
    uint64_t first;
    zb__box_copy copy = copy_to(layout, piece, strides, &first);
    zb__scatter(&copy, piece->dst, elements + first);
}

enum zb_code zb__inner_keep(const zb__write_layout *layout, zb__piece *piece, uint8_t *elements,
                            zb_values *values, zb_error *err) {
    int64_t strides[ZB_MAX_NDIM];
    uint64_t first;
    zb__box_copy copy = copy_to(layout, piece, strides, &first);
    return zb__values_copy(values, &copy, piece->dst, elements + first, err);
}

static enum zb_code measure(const zb__write_layout *layout, zb__piece *piece, uint64_t *bytes,
                            zb_error *err) {
    const zb__box_copy copy = {.ndim = layout->ndim,
                               .count = zb__piece_count(piece, layout->ndim),
                               .src_strides = zb__piece_stride(piece, layout->ndim),
                               .src_dtype = piece->target->dtype,
                               .dst_dtype = layout->inner->pipeline->dtype};
    return zb__values_measure(&copy, piece->dst, bytes, err);
}

enum zb_code zb__piece_measure(const zb__write_layout *layout, zb__piece *piece, uint64_t *bytes,
                               zb_error *err) {
    *bytes = 0;
    return layout->inner->pipeline->is_variable ? measure(layout, piece, bytes, err) : ZB_OK;
}

enum zb_code zb__piece_check(const zb__write_layout *layout, zb__piece *piece, zb_error *err) {
    uint64_t bytes;
    if (!zb__elements_are_measured(piece->target->dtype, layout->inner->pipeline->dtype))
        return ZB_OK;
    return measure(layout, piece, &bytes, err);
}

void zb__inner_fill(const zb__write_layout *layout, uint8_t *elements) {
    size_t item = layout->inner->pipeline->dtype.size;
    uint64_t count[1] = {layout->inner_bytes / item};
    int64_t stride[1] = {(int64_t)item};
    zb__box_copy copy = {.ndim = 1,
                         .count = count,
                         .dst_strides = stride,
                         .src_dtype = layout->inner->pipeline->dtype,
                         .dst_dtype = layout->inner->pipeline->dtype};
    zb__scatter_fill(&copy, layout->fill, elements);
}

enum zb_code zb__inner_encode_fill(const zb__write_layout *layout, zb__scratch *scratch,
                                   uint8_t **out, size_t *size, zb_error *err) {
    uint64_t bound;
    *out = NULL;
    enum zb_code code = zb__buffer_reserve(&scratch->decoded, layout->inner_bytes, err);
    if (code)
        return code;
    zb__inner_fill(layout, scratch->decoded.data);
    code = zb__chunk_measure(layout->inner, scratch->decoded.data, &bound, err);
    if (code)
        return code;
    *out = bound <= SIZE_MAX / 2 ? malloc((size_t)bound) : NULL;
    return *out ? zb__chunk_encode(layout->inner, scratch, scratch->decoded.data, layout->fill,
                                   true, *out, (size_t)bound, size, err)
                : zb_fail(err, ZB_ENOMEM, "no memory for a chunk of fill values");
}

/* ---- Layouts of a writer's chunks --------------------------------------------------------- */

/* Layouts that no chunk uses stay, up to this many: the months of a year have three lengths. */
#define KEPT 8

struct zb__shaped_layout {
    zb__write_layout layout; /* first: given back by its address. Its fill is the writer's */
    const zb__chunk_layout *chunk_layout;
    struct zb__shaped_layout *next;
    size_t users;
};

static void free_layout(zb_writer *writer, struct zb__shaped_layout *shaped) {
    zb__array_chunk_layout_end(writer->node->array, shaped->chunk_layout);
    free(shaped);
}

/* Frees the unused ones behind the first `reused` of them. */
static void trim(zb_writer *writer, size_t kept) {
    struct zb__shaped_layout **link = &writer->shaped;
    while (*link) {
        struct zb__shaped_layout *one = *link;
        if (one->users > 0 || kept > 0) {
            kept -= one->users > 0 ? 0 : 1;
            link = &one->next;
            continue;
        }
        *link = one->next;
        free_layout(writer, one);
    }
}

void zb__write_layouts_free(zb_writer *writer) {
    trim(writer, 0);
}

static enum zb_code add(zb_writer *writer, const zb__chunk_layout *chunk_layout,
                        struct zb__shaped_layout **out, zb_error *err) {
    struct zb__shaped_layout *shaped = *out = malloc(sizeof *shaped);
    if (!shaped)
        return zb_fail(err, ZB_ENOMEM, "no memory for the layout of a chunk");
    *shaped = (struct zb__shaped_layout){
        .layout = writer->layout, .chunk_layout = chunk_layout, .next = writer->shaped};
    enum zb_code code = zb__write_layout_shape(&shaped->layout, chunk_layout, err);
    if (code)
        free(shaped);
    else
        writer->shaped = shaped;
    return code;
}

enum zb_code zb__write_layout_take(zb_writer *writer, const uint64_t *index,
                                   const zb__write_layout **out, zb_error *err) {
    const zb__array *array = writer->node->array;
    const zb__chunk_layout *chunk_layout;
    *out = &writer->layout;
    enum zb_code code = zb__array_chunk_layout(array, index, &chunk_layout, err);
    if (code || chunk_layout == array->layout)
        return code;
    struct zb__shaped_layout *shaped = writer->shaped;
    while (shaped && shaped->chunk_layout != chunk_layout)
        shaped = shaped->next;
    if (shaped)
        zb__array_chunk_layout_end(array, chunk_layout); /* the layout holds one */
    else
        code = add(writer, chunk_layout, &shaped, err);
    if (code) {
        zb__array_chunk_layout_end(array, chunk_layout);
        return code;
    }
    shaped->users++;
    *out = &shaped->layout;
    return ZB_OK;
}

void zb__write_layout_give(zb_writer *writer, const zb__write_layout *layout) {
    if (!layout || layout == &writer->layout)
        return;
    struct zb__shaped_layout *shaped = (struct zb__shaped_layout *)(void *)(uintptr_t)layout;
    if (--shaped->users == 0)
        trim(writer, KEPT);
}

/* ---- Which arrays can be written ---------------------------------------------------------- */

/* Where filters stand in front of a shard, a missing inner chunk may have another value than a
   missing shard. A writer that left out what is missing would change values then. And version 1.0
   of the codec, which all readers know, wants inner chunks that divide the shard. */
enum zb_code zb__array_check_writable(const zb__array *array, zb_error *err) {
    const zb__chunk_layout *chunk_layout = array->layout;
    if (array->is_cut)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "the inner chunks do not divide their shards, as it is proposed for version "
                       "1.1 of sharding_indexed; such arrays are only read; copy the array into a "
                       "new one");
    const char *reason = zb__chunk_layout_read_only(chunk_layout);
    if (reason)
        return zb_fail(err, ZB_EUNSUPPORTED, "%s", reason);
    for (; chunk_layout; chunk_layout = chunk_layout->shard ? chunk_layout->shard->inner : NULL) {
        const void *missing = chunk_layout->pipeline->missing;
        if (missing && memcmp(missing, array->info.fill_value, array->info.dtype.size) != 0)
            return zb_fail(err, ZB_EUNSUPPORTED,
                           "the fill value does not pass the codecs in front of the shards "
                           "unchanged, so that the array can only be read");
    }
    return ZB_OK;
}
