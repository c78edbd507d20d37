/* SPDX-License-Identifier: MIT */
/*
 * The layouts of a writer's chunks. Chunks of a regular grid share the writer's own. Where chunks
 * have several extents, those of one shape share one as long as a chunk of that shape is open or
 * encoded; the writer's own is that of the largest chunk, by which budgets and memory go.
 *
 * For the thread that plans; tasks that encode only read the layout of their chunk.
 */
#ifndef ZB_WRITE_CHUNK_LAYOUT_H
#define ZB_WRITE_CHUNK_LAYOUT_H

#include "write/layout.h"
#include "write/writer.h"

/* The layout of the chunk at an index of the grid, to be given back. ZB_EINVAL for a chunk that the
   grid does not have. */
enum zb_code zb__chunk_layout_take(zb_writer *writer, const uint64_t *index, const zb__layout **out,
                                   zb_error *err);
void zb__chunk_layout_give(zb_writer *writer, const zb__layout *layout); /* NULL is allowed */

/* Frees those that are kept for later; none is in use. */
void zb__chunk_layouts_free(zb_writer *writer);

#endif
