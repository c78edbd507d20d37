/* SPDX-License-Identifier: MIT */
/* All chunks of an array into a new one of the same shape and elements. */
#ifndef ZB_CHANGE_MOVE_CHUNKS_H
#define ZB_CHANGE_MOVE_CHUNKS_H

#include "zarrbridge/node.h"

/* `to` has the source's shape, type and fill value, and nothing stored yet. Where both have
   innermost chunks of one shape, these move as they are encoded, as far as their chains allow
   (encoded.h); else elements are read and written. Errors name what could not be read. way: gets it
   in words, with the reason why no shorter one; ZB__WAY_SIZE bytes. */
#define ZB__WAY_SIZE 200
enum zb_code zb__chunks_move(const zb_node *from, const zb_node *to, char *way, zb_error *err);

#endif
