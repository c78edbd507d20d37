/* SPDX-License-Identifier: MIT */
/* Gathering parts of chunks. */
#ifndef ZB_WRITE_GATHER_H
#define ZB_WRITE_GATHER_H

#include "read/piece.h"
#include "write/layout.h"
#include "write/writer.h"
#include "zarrbridge/write.h"

/* Adds a piece (stored dimensions, the chunk's coordinates) to the chunk at this index of the grid.
   part: a scratch piece. */
enum zb_code zb__gather(zb_writer *writer, const uint64_t *index, zb__piece *piece, zb__piece *part,
                        zb__open_chunk **out, zb_error *err);

/* Forgets an open chunk, because it was stored or is about to be overwritten whole. */
void zb__open_chunk_drop(zb_writer *writer, zb__open_chunk *chunk);

zb__open_chunk *zb__open_chunk_find(const zb_writer *writer, const uint64_t *index);

/* Makes the bits of `written` for a unit that has elements. */
void zb__unit_need_bits(const zb__layout *layout, zb__open_unit *unit);

/* The bytes that gathering this piece will add to those that wait, if these are more than `most`;
   else any number up to `most`. layout: of the chunk. `text`: the bytes that the piece's elements
   point at. */
uint64_t zb__gather_bytes(const zb_writer *writer, const zb__layout *layout, const uint64_t *index,
                          zb__piece *piece, uint64_t text, uint64_t most);

/* The number of the unit in its chunk that a walk over a piece's units is at. */
uint64_t zb__unit_number(const zb__layout *layout, const zb__cells *cells);

/* Counts what the chunk's values hold by now, after something was read into them. */
void zb__open_chunk_count(zb__open_chunk *chunk);

/* Gives back the memory that is kept for the next open chunks. */
void zb__spare_free(zb_writer *writer);

#endif
