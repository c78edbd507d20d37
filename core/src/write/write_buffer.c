/* SPDX-License-Identifier: MIT */
/*
 * Buffered chunks: parts of chunks wait here for the rest, by inner chunks, with a bit for each
 * element that was written. An inner chunk without a written element takes no memory.
 *
 * The rows of a raster, one after the other, fill each inner chunk from its first element to its
 * last. As long as they do so, the number of elements is enough. A row has many inner chunks, and
 * no cache holds the lines of all: elements in order touch no bits, and the place of the next row
 * is prefetched.
 */
#include "write/writer.h"

#include <stdlib.h>
#include <string.h>

#include "read/piece.h"
#include "types/move.h"
#include "types/values.h"
#include "util/pages.h"
#include "util/slab.h"
#include "write/budget.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/write.h"

/* ---- The list of buffered chunks, by last use -------------------------------------------------
   */

static void unlink_chunk(zb_writer *writer, zb__buffered_chunk *chunk) {
    *(chunk->newer ? &chunk->newer->older : &writer->newest) = chunk->older;
    *(chunk->older ? &chunk->older->newer : &writer->oldest) = chunk->newer;
}

static void link_newest(zb_writer *writer, zb__buffered_chunk *chunk) {
    chunk->newer = NULL;
    chunk->older = writer->newest;
    *(writer->newest ? &writer->newest->newer : &writer->oldest) = chunk;
    writer->newest = chunk;
}

/* ---- The table of buffered chunks, by index ---------------------------------------------------
   */

static uint64_t hash_of(const zb_writer *writer, const uint64_t *index) {
    return zb__hash(index, writer->layout.ndim * sizeof *index);
}

static zb__buffered_chunk *chunk_of(zb__map_link *link) {
    return (zb__buffered_chunk *)(void *)link;
}

zb__buffered_chunk *zb__buffered_chunk_find(const zb_writer *writer, const uint64_t *index) {
    zb__map_link *link = zb__map_first(&writer->buffered, hash_of(writer, index));
    while (link && memcmp(chunk_of(link)->index, index, writer->layout.ndim * sizeof *index) != 0)
        link = zb__map_next(link);
    return chunk_of(link);
}

/* ---- Memory of inner chunks: the elements, and behind them their bits
   ---------------------------- */

struct zb__spare {
    struct zb__spare *next;
};

/* A slab's huge pages are touched before its blocks are in use: that much is resident for nothing.
   The slab counts as waiting, and only a writer that finds half of the budget free begins to use
   slabs, or many writers of few inner chunks would fill it with nothing. */
#define SLAB_REST ((uint64_t)2 << 20)

/* Smaller memory comes from malloc as it is: alignment would cost more than it gains. */
#define ALIGNED_FROM ((size_t)4 << 10)

static size_t bits_offset(const zb__write_layout *layout) {
    return (layout->inner_bytes + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
}

static size_t bits_bytes(const zb__write_layout *layout) {
    return (layout->inner_bytes / layout->inner->pipeline->dtype.size + 63) / 64 * sizeof(uint64_t);
}

static size_t inner_memory_bytes(const zb__write_layout *layout) {
    return bits_offset(layout) + bits_bytes(layout);
}

/* The size of an inner chunk's memory with the allocator's own part (16 bytes, and up to a cache
   line for the alignment): most of it in inner chunks of few bytes. */
static uint64_t inner_cost(const zb__write_layout *layout) {
    size_t bytes = inner_memory_bytes(layout);
    if (bytes >= ALIGNED_FROM)
        return (uint64_t)bytes + 80;
    return bytes < 24 ? 32 : ((uint64_t)bytes + 8 + 15) & ~(uint64_t)15;
}

static bool has_slabs(const zb_writer *writer) {
    return writer->slabs.list != NULL;
}

/* Memory of a slab, or NULL when the inner chunk is better off without a slab or none can be had.
   */
static void *take_from_slab(zb_writer *writer, size_t bytes) {
    if (!zb__slab_fits(bytes))
        return NULL;
    bool had_slabs = has_slabs(writer);
    if (!had_slabs && zb__waiting_bytes(0) + SLAB_REST > zb_limits_get()->write_cache_bytes / 2)
        return NULL;
    void *memory = zb__slab_alloc(&writer->slabs, bytes, UINT64_MAX);
    if (!had_slabs && has_slabs(writer))
        zb__waiting_bytes((int64_t)SLAB_REST);
    return memory;
}

static void give_to_slab(zb_writer *writer, void *memory) {
    zb__slab_free(&writer->slabs, memory);
    if (!has_slabs(writer))
        zb__waiting_bytes(-(int64_t)SLAB_REST);
}

static void *new_inner_memory(zb_writer *writer, size_t bytes) {
    if (bytes < ALIGNED_FROM)
        return malloc(bytes);
    void *memory = take_from_slab(writer, bytes);
    return memory ? memory : zb__pages_map(bytes);
}

static void *take_inner_memory(zb_writer *writer) {
    struct zb__spare *spare = writer->spare;
    if (spare) {
        writer->spare = spare->next;
        zb__idle_end(inner_cost(&writer->layout));
        return spare;
    }
    void *memory = new_inner_memory(writer, inner_memory_bytes(&writer->layout));
    if (memory)
        zb__waiting_bytes((int64_t)inner_cost(&writer->layout));
    return memory;
}

static void free_inner_memory(zb_writer *writer, void *memory) {
    if (zb__slab_has(&writer->slabs, memory))
        give_to_slab(writer, memory);
    else
        zb__pages_unmap(memory, inner_memory_bytes(&writer->layout));
    zb__waiting_bytes(-(int64_t)inner_cost(&writer->layout));
}

/* Keeps an inner chunk's memory for the next one, whose pages then need no first touch. */
static void give_inner_memory(zb_writer *writer, void *memory) {
    if (!zb__idle_begin(inner_cost(&writer->layout))) {
        free_inner_memory(writer, memory);
        return;
    }
    struct zb__spare *spare = memory;
    spare->next = writer->spare;
    writer->spare = spare;
}

void zb__spare_free(zb_writer *writer) {
    while (writer->spare) {
        struct zb__spare *next = writer->spare->next;
        free_inner_memory(writer, writer->spare);
        zb__idle_end(inner_cost(&writer->layout));
        writer->spare = next;
    }
}

/* ---- Buffered chunks --------------------------------------------------------------------------
   */

void zb__buffered_chunk_drop(zb_writer *writer, zb__buffered_chunk *chunk) {
    zb__map_remove(&writer->buffered, &chunk->link);
    unlink_chunk(writer, chunk);
    for (uint64_t i = 0; i < chunk->layout->inner_chunks; i++) {
        if (chunk->inner_chunks[i].elements)
            give_inner_memory(writer, chunk->inner_chunks[i].elements);
        zb_values_free(chunk->inner_chunks[i].values);
    }
    zb__waiting_bytes(-(int64_t)chunk->bytes);
    zb__write_layout_give(writer, chunk->layout);
    free(chunk->inner_chunks);
    free(chunk);
}

/* The memory of a buffered chunk without that of its inner chunks. */
static uint64_t chunk_bytes(const zb__write_layout *layout) {
    return sizeof(zb__buffered_chunk) + layout->inner_chunks * sizeof(zb__buffered_inner);
}

static zb__buffered_chunk *buffered_chunk(zb_writer *writer, const uint64_t *index,
                                          const zb__write_layout *layout) {
    zb__buffered_chunk *chunk = calloc(1, sizeof *chunk);
    zb__buffered_inner *inner_chunks = calloc((size_t)layout->inner_chunks, sizeof *inner_chunks);
    if (!chunk || !inner_chunks || !zb__map_reserve(&writer->buffered)) {
        free(chunk);
        free(inner_chunks);
        return NULL;
    }
    chunk->inner_chunks = inner_chunks;
    chunk->layout = layout;
    for (uint32_t d = 0; d < layout->ndim; d++) {
        chunk->index[d] = index[d];
        chunk->origin[d] = zb__chunk_span(layout, d, index).start;
    }
    uint64_t count[ZB_MAX_NDIM];
    for (uint64_t i = 0; i < layout->inner_chunks; i++) {
        inner_chunks[i].missing = zb__inner_inside(layout, chunk->origin, i, count);
        chunk->missing += inner_chunks[i].missing;
    }
    chunk->bytes = chunk_bytes(layout);
    zb__waiting_bytes((int64_t)chunk->bytes);
    link_newest(writer, chunk);
    zb__map_add(&writer->buffered, &chunk->link, hash_of(writer, index));
    return chunk;
}

/* ---- Adding pieces ------------------------------------------------------------------------ */

/* Sets n bits from `first`, `step` apart; returns the number of clear ones among them. */
static uint64_t set_bits(uint64_t *bits, uint64_t first, uint64_t n, uint64_t step) {
    uint64_t fresh = 0;
    for (uint64_t run; n > 0; n -= run, first += run * step) {
        uint64_t *word = &bits[first >> 6], place = first & 63, room = 64 - place;
        run = step > 1 ? 1 : n < room ? n : room;
        uint64_t mask = (run < 64 ? (1ull << run) - 1 : UINT64_MAX) << place;
        fresh += *word & mask ? (uint64_t)__builtin_popcountll(mask & ~*word) : run;
        *word |= mask;
    }
    return fresh;
}

void zb__inner_need_bits(const zb__write_layout *layout, zb__buffered_inner *inner) {
    if (inner->written)
        return;
    inner->written = (uint64_t *)(void *)(inner->elements + bits_offset(layout));
    memset(inner->written, 0, bits_bytes(layout));
    set_bits(inner->written, 0, inner->in_order, 1);
}

/* Marks n elements, `step` apart. */
static uint64_t mark_run(const zb__write_layout *layout, zb__buffered_inner *inner, uint64_t first,
                         uint64_t n, uint64_t step) {
    if (!inner->written && first == inner->in_order && step == 1) {
        size_t item = layout->inner->pipeline->dtype.size;
        inner->in_order += n;
        zb__prefetch_row((const char *)inner->elements + inner->in_order * item, n * item);
        return n;
    }
    zb__inner_need_bits(layout, inner);
    return set_bits(inner->written, first, n, step);
}

/* Marks a piece's elements; returns the number of new ones. */
static uint64_t mark(const zb__write_layout *layout, zb__piece *piece, zb__buffered_inner *inner) {
    uint32_t ndim = layout->ndim;
    if (ndim == 0)
        return mark_run(layout, inner, 0, 1, 1);
    const uint64_t *strides = layout->strides;
    const uint32_t last = ndim - 1;
    const uint64_t *start = zb__piece_start(piece), *count = zb__piece_count(piece, ndim);
    const uint64_t *step = zb__piece_step(piece, ndim);
    uint64_t at[ZB_MAX_NDIM], fresh = 0, rows = 1;
    for (uint32_t d = 0; d < last; d++) {
        at[d] = 0;
        rows *= count[d];
    }
    for (uint64_t row = 0; row < rows; row++) {
        uint64_t first = start[last] * strides[last];
        for (uint32_t d = 0; d < last; d++)
            first += (start[d] + at[d] * step[d]) * strides[d];
        fresh += mark_run(layout, inner, first, count[last], step[last] * strides[last]);
        for (uint32_t d = last; d-- > 0 && ++at[d] == count[d];)
            at[d] = 0;
    }
    return fresh;
}

/* What a zb_values holds at the least, once there is text in it. */
#define SMALL_VALUES ((uint64_t)1200)

/* Counts that an inner chunk's values have grown. */
static void count_values(zb__buffered_chunk *chunk, uint64_t before, uint64_t after) {
    chunk->value_bytes += after - before;
    chunk->bytes += after - before;
    zb__waiting_bytes((int64_t)(after - before));
}

void zb__buffered_chunk_count(zb__buffered_chunk *chunk) {
    const zb__write_layout *layout = chunk->layout;
    uint64_t held = 0;
    if (!layout->inner->pipeline->is_variable)
        return;
    for (uint64_t i = 0; i < layout->inner_chunks; i++)
        held += chunk->inner_chunks[i].values ? zb__values_bytes(chunk->inner_chunks[i].values) : 0;
    count_values(chunk, chunk->value_bytes, held);
}

/* Copies a piece to an inner chunk of elements of variable length. */
static enum zb_code keep_values(const zb__write_layout *layout, zb__buffered_chunk *chunk,
                                zb__buffered_inner *inner, zb__piece *piece, zb_error *err) {
    uint64_t before = zb__values_bytes(inner->values);
    enum zb_code code = zb__inner_keep(layout, piece, inner->elements, inner->values, err);
    count_values(chunk, before, zb__values_bytes(inner->values));
    return code;
}

/* Gives an inner chunk room for elements. */
static enum zb_code open_inner(zb_writer *writer, zb__buffered_chunk *chunk, uint64_t number,
                               zb_error *err) {
    const zb__write_layout *layout = chunk->layout;
    zb__buffered_inner *inner = &chunk->inner_chunks[number];
    if (layout->inner->pipeline->is_variable && !inner->values) {
        enum zb_code code = zb_values_new(&inner->values, err);
        if (code != ZB_OK)
            return code;
        count_values(chunk, 0, zb__values_bytes(inner->values));
    }
    inner->elements = take_inner_memory(writer);
    if (!inner->elements)
        return zb_fail(err, ZB_ENOMEM, "no memory for a chunk that is written in parts");
    chunk->inner_bytes += inner_cost(&writer->layout);
    if (inner->missing * layout->inner->pipeline->dtype.size < layout->inner_bytes)
        zb__inner_fill(layout, inner->elements); /* beyond the array's edge */
    return ZB_OK;
}

uint64_t zb__inner_number(const zb__write_layout *layout, const zb__cells *cells) {
    uint64_t number = 0;
    for (uint32_t d = 0; d < layout->ndim; d++)
        number = number * layout->inner_grid[d] + cells->cell[d];
    return number;
}

uint64_t zb__write_buffer_bytes(const zb_writer *writer, const zb__write_layout *layout,
                                const uint64_t *index, zb__piece *piece, uint64_t text,
                                uint64_t most) {
    const uint64_t one = inner_cost(&writer->layout);
    zb__grid grid = zb__grid_of(layout->ndim, layout->inner_shape);
    uint64_t inner_chunks = 1;
    for (uint32_t d = 0; d < layout->ndim; d++) {
        uint64_t first = zb__piece_start(piece)[d];
        uint64_t last = first + (zb__piece_count(piece, layout->ndim)[d] - 1) *
                                    zb__piece_step(piece, layout->ndim)[d];
        inner_chunks *=
            zb__grid_find(&grid, d, last).index - zb__grid_find(&grid, d, first).index + 1;
    }
    /* Twice the text: the blocks in which it is kept double. An inner chunk's first is a small one.
       */
    const uint64_t values =
        layout->inner->pipeline->is_variable
            ? zb__work_product(2, text) + zb__work_product(inner_chunks, SMALL_VALUES)
            : 0;
    uint64_t bytes = zb__work_product(inner_chunks, one) + chunk_bytes(layout) + values;
    const zb__buffered_chunk *chunk =
        /* otherwise it does not matter */
        bytes > most ? zb__buffered_chunk_find(writer, index) : NULL;
    if (!chunk)
        return bytes;
    zb__cells cells;
    bytes = values;
    zb__cells_begin(&cells, piece, &grid);
    for (; !cells.done; zb__cells_next(&cells)) {
        if (!chunk->inner_chunks[zb__inner_number(layout, &cells)].elements)
            bytes += one;
    }
    return bytes;
}

/* The buffered chunk of this index, which becomes the one that was used last. */
static enum zb_code find_or_open(zb_writer *writer, const uint64_t *index, zb__buffered_chunk **out,
                                 zb_error *err) {
    zb__buffered_chunk *chunk = *out = zb__buffered_chunk_find(writer, index);
    if (chunk) {
        unlink_chunk(writer, chunk);
        link_newest(writer, chunk);
        return ZB_OK;
    }
    const zb__write_layout *layout;
    enum zb_code code = zb__write_layout_take(writer, index, &layout, err);
    if (code)
        return code;
    *out = buffered_chunk(writer, index, layout);
    if (*out)
        return ZB_OK;
    zb__write_layout_give(writer, layout);
    return zb_fail(err, ZB_ENOMEM, "no memory for a chunk that is written in parts");
}

enum zb_code zb__write_buffer_add(zb_writer *writer, const uint64_t *index, zb__piece *piece,
                                  zb__piece *part, zb__buffered_chunk **out, zb_error *err) {
    zb__buffered_chunk *chunk;
    enum zb_code code = find_or_open(writer, index, &chunk, err);
    *out = chunk;
    if (code)
        return code;
    const zb__write_layout *layout = chunk->layout;
    zb__grid grid = zb__grid_of(layout->ndim, layout->inner_shape);
    zb__cells cells;
    zb__cells_begin(&cells, piece, &grid);
    for (; !cells.done && code == ZB_OK; zb__cells_next(&cells)) {
        uint64_t number = zb__inner_number(layout, &cells);
        zb__buffered_inner *inner = &chunk->inner_chunks[number];
        if (!inner->elements)
            code = open_inner(writer, chunk, number, err);
        if (code == ZB_OK) {
            zb__cells_part(&cells, NULL, part);
            if (!inner->values)
                zb__inner_put(layout, part, inner->elements);
            else if ((code = keep_values(layout, chunk, inner, part, err)) != ZB_OK)
                break;
            uint64_t fresh = mark(layout, part, inner);
            inner->missing -= fresh;
            chunk->missing -= fresh;
        }
    }
    return code;
}
