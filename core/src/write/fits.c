/* SPDX-License-Identifier: MIT */
/* The size of units before their elements wait: see fits.h. */
#include "write/fits.h"

#include <stdlib.h>
#include <string.h>

#include "codec/encode.h"
#include "types/scatter.h"
#include "types/values.h"
#include "write/gather.h"
#include "write/put_chunk.h"
#include "zarrbridge/limits.h"

/* What a codec may put before each element, and before all of them. */
#define OVERHEAD 8

/* The place of a unit in its chunk, which may not be open. */
typedef struct place {
    uint64_t origin[ZB_MAX_NDIM];
    uint64_t number;
    const zb__open_unit *open; /* NULL: no element of it was written */
} place;

static bool is_written(const zb__open_unit *unit, uint64_t i) {
    return unit->written ? unit->written[i >> 6] >> (i & 63) & 1 : i < unit->in_order;
}

/* The unit's elements: the fill value beyond the array's edge, those that were written, and
   nothing. They point at bytes of others. */
static void bring_together(const zb__layout *layout, const place *at, uint8_t *elements) {
    const zb_dtype dtype = layout->unit->chain->dtype;
    uint64_t inside[ZB_MAX_NDIM], number = at->number, item = dtype.size;
    if (zb__unit_inside(layout, at->origin, number, inside) * item < layout->unit_bytes) {
        int64_t strides[ZB_MAX_NDIM];
        zb__unit_fill(layout, elements);
        for (uint32_t d = 0; d < layout->ndim; d++)
            strides[d] = (int64_t)(layout->strides[d] * item);
        const zb__box_copy box = {.ndim = layout->ndim,
                                  .count = inside,
                                  .dst_strides = strides,
                                  .src_dtype = dtype,
                                  .dst_dtype = dtype};
        uint8_t *nothing = elements + layout->unit_bytes; /* zeros, see measure */
        zb__scatter_fill(&box, nothing, elements);
    }
    for (uint64_t i = 0; at->open && i < layout->unit_bytes / item; i++)
        if (is_written(at->open, i))
            memcpy(elements + i * item, at->open->elements + i * item, item);
}

static enum zb_code measure(const zb__layout *layout, const place *at, zb__piece *part,
                            zb_error *err) {
    uint64_t bytes;
    /* One element more, which stays as it is. */
    uint8_t *elements = calloc(1, layout->unit_bytes + layout->unit->chain->dtype.size);
    if (!elements)
        return zb_fail(err, ZB_ENOMEM, "no memory for a chunk that is written in parts");
    bring_together(layout, at, elements);
    zb__unit_put(layout, part, elements);
    enum zb_code code = zb__chunk_measure(layout->unit, elements, &bytes, err);
    free(elements);
    return code;
}

/* True when not even all that the unit holds in memory, old text included, is too much. */
static bool fits_surely(const zb__layout *layout, const zb__open_unit *open, uint64_t bytes) {
    const uint64_t item = layout->unit->chain->dtype.size, count = layout->unit_bytes / item;
    const uint64_t fill = zb__values_bytes_of(layout->unit->chain->dtype, layout->fill) + OVERHEAD;
    uint64_t most;
    if (__builtin_mul_overflow(count + 1, fill, &most) ||
        __builtin_add_overflow(most, bytes, &most) ||
        __builtin_add_overflow(most, open ? zb__values_bytes(open->values) : 0, &most))
        return false;
    return most <= zb_limits_get()->chunk_bytes;
}

enum zb_code zb__piece_fits(const zb_writer *writer, const zb__layout *layout,
                            const uint64_t *index, zb__piece *piece, zb__piece *part,
                            uint64_t bytes, zb_error *err) {
    if (!layout->unit->chain->is_variable)
        return ZB_OK;
    const zb__open_chunk *chunk = zb__open_chunk_find(writer, index);
    zb__grid grid = zb__grid_of(layout->ndim, layout->unit_shape);
    place at;
    for (uint32_t d = 0; d < layout->ndim; d++)
        at.origin[d] = zb__chunk_span(layout, d, index).start;
    enum zb_code code = ZB_OK;
    zb__cells cells;
    zb__cells_begin(&cells, piece, &grid);
    for (; !cells.done && code == ZB_OK; zb__cells_next(&cells)) {
        at.number = zb__unit_number(layout, &cells);
        at.open = chunk && chunk->units[at.number].elements ? &chunk->units[at.number] : NULL;
        if (fits_surely(layout, at.open, bytes))
            continue;
        zb__cells_part(&cells, NULL, part);
        code = measure(layout, &at, part, err);
    }
    return code == ZB_OK ? ZB_OK : zb__chunk_blame(writer, index, code, err);
}
