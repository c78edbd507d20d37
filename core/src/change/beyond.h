/* SPDX-License-Identifier: MIT */
/*
 * Elements that are stored beyond the shape of an array: chunks outside its grid, and the part of
 * chunks on its edge that lies outside. No reader sees them until the array grows; they have to
 * read as the fill value then. Our own shrinking leaves nothing there, other programs may.
 */
#ifndef ZB_CHANGE_BEYOND_H
#define ZB_CHANGE_BEYOND_H

#include "node/edit.h"
#include "zarrbridge/node.h"

/* Clears what is stored outside `keep` but within `region` (both shapes, [ndim]), along the
   dimensions in which region is the larger one: chunks wholly outside are erased, the others
   refilled with the fill value there.

   node, document: the array as it stands in the store, under the hierarchy's lock. is_suspect: only
   chunks that hold something else than fill values there are written, at the cost of reading them;
   otherwise all are. */
enum zb_code zb__beyond_clear(const zb_node *node, const zb__document *document,
                              const uint64_t *keep, const uint64_t *region, bool is_suspect,
                              zb_error *err);

#endif
