/* SPDX-License-Identifier: MIT */
/* Cutting a region along the grid, for callers that hand its parts to several writers. */
#include "node/node.h"
#include "read/box.h"
#include "read/piece.h"
#include "zarrbridge/write.h"

enum zb_code zb_array_piece_each(const zb_node *array, const uint64_t *start, const uint64_t *count,
                                 zb_piece_fn fn, void *context, zb_error *err) {
    if (!array->array)
        return zb_fail(err, ZB_EINVAL, "/%s is a group, not an array", array->path);
    const zb__grid *grid = &array->array->grid;
    const uint64_t *shape = array->array->info.shape;
    zb__arena memory = {0};
    zb__selection selection = {.node = array, .start = start, .count = count, .item = 1};
    zb__piece *region;
    bool empty;
    uint64_t bytes, from[ZB_MAX_NDIM];
    enum zb_code code = zb__box_piece(&selection, &memory, &region, &empty, &bytes, err);
    int stop = code != ZB_OK || empty;
    zb__cells cells;
    if (!stop)
        zb__cells_begin(&cells, region, grid);
    for (; !stop && !cells.done; zb__cells_next(&cells)) {
        zb_piece piece = {.index = cells.cell, .start = from, .count = cells.run, .is_whole = true};
        for (uint32_t d = 0; d < grid->ndim; d++) {
            from[d] = zb__piece_start(region)[d] + cells.first[d];
            piece.is_whole =
                piece.is_whole && cells.run[d] == zb__grid_inside(grid, d, cells.cell[d], shape[d]);
        }
        stop = fn(context, &piece);
    }
    zb__arena_free(&memory);
    return code;
}
