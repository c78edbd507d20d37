/* SPDX-License-Identifier: MIT */
/*
 * Whether elements of variable length that are going to wait can be encoded, told before they wait:
 * a chunk that no flush could ever store would wait for ever.
 */
#ifndef ZB_WRITE_FITS_H
#define ZB_WRITE_FITS_H

#include "write/writer.h"

/* Looks at the units that a piece of the chunk at `index` touches, as they would be with the piece
   in them; elements that were not written count as nothing, since nobody knows those that are
   stored. `layout`: of the chunk. `bytes`: those that the piece's elements point at; `part` is room
   for a part of it. The codec's own error, ZB_ELIMIT; ZB_ENOMEM. */
enum zb_code zb__piece_fits(const zb_writer *writer, const zb__layout *layout,
                            const uint64_t *index, zb__piece *piece, zb__piece *part,
                            uint64_t bytes, zb_error *err);

#endif
