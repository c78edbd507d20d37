/* SPDX-License-Identifier: MIT */
/* The grid of an array, as programs ask for it. */
#include "array/grid.h"
#include "node/node.h"
#include "zarrbridge/array.h"

/* ---- The grid ----------------------------------------------------------------------------- */

/* NULL when the node is a group, or its array has no such dimension. */
static const zb__grid *grid_of(const zb_node *node, enum zb_grid_level level, uint32_t dim) {
    const zb__array *array = node->array;
    if (!array || dim >= array->info.ndim)
        return NULL;
    return level == ZB_GRID_INNER ? &array->inner : &array->grid;
}

static zb_chunk_span in_array(const zb_node *node, uint32_t dim, zb__span span) {
    return (zb_chunk_span){.index = span.index,
                           .start = span.start,
                           .extent = span.extent,
                           .inside = zb__span_inside(span, node->array->info.shape[dim])};
}

uint64_t zb_array_chunk_count(const zb_node *array, enum zb_grid_level level, uint32_t dim) {
    const zb__grid *grid = grid_of(array, level, dim);
    return grid ? zb__grid_count(grid, dim, array->array->info.shape[dim]) : 0;
}

zb_chunk_span zb_array_chunk_at(const zb_node *array, enum zb_grid_level level, uint32_t dim,
                                uint64_t index) {
    const zb__grid *grid = grid_of(array, level, dim);
    return grid ? in_array(array, dim, zb__grid_at(grid, dim, index))
                : (zb_chunk_span){.index = index};
}

zb_chunk_span zb_array_chunk_of(const zb_node *array, enum zb_grid_level level, uint32_t dim,
                                uint64_t element) {
    const zb__grid *grid = grid_of(array, level, dim);
    if (!grid)
        return (zb_chunk_span){.index = 0};
    if (element > INT64_MAX)
        return (zb_chunk_span){.start = UINT64_MAX};
    return in_array(array, dim, zb__grid_find(grid, dim, element));
}

/* ---- The grid as it is declared ----------------------------------------------------------- */

size_t zb_array_run_count(const zb_node *array, uint32_t dim) {
    const zb__grid *grid = grid_of(array, ZB_GRID_CHUNKS, dim);
    return grid && zb__grid_has_runs(grid, dim) ? grid->runs[dim].count : 0;
}

zb_chunk_run zb_array_run_at(const zb_node *array, uint32_t dim, size_t i) {
    if (i >= zb_array_run_count(array, dim))
        return (zb_chunk_run){.extent = 0};
    const zb__runs *runs = &array->array->grid.runs[dim];
    return (zb_chunk_run){.extent = runs->run[i].extent, .count = zb__run_cells(runs, i)};
}
