/* SPDX-License-Identifier: MIT */
/*
 * Elements that are stored beyond the shape of an array: chunks outside its grid, and the part of
 * chunks on its edge that lies outside. No reader sees them until the array grows; they have to
 * read as the fill value then. Our own shrinking leaves nothing there, other programs may.
 */
#ifndef ZB_CHANGE_BEYOND_H
#define ZB_CHANGE_BEYOND_H

#include "change/reshape.h"
#include "zarrbridge/node.h"

/* What growing along one dimension has found out: which chunks on the edge hold nothing but fill
   values beyond it, by their versions. The node that is longer keeps it (node.h), so that they are
   read again only when they have changed. */
typedef struct zb__clean_edge {
    uint32_t dim;
    uint64_t index; /* of the chunks, along dim */
    size_t count;
    uint64_t version[]; /* [count], in the order of the grid; 0: not known */
} zb__clean_edge;

/* Looks at what is suspect: what was known of the array with the shape `keep` (or NULL), and what
   is known now (malloc'ed, or NULL). */
typedef struct zb__edge_looks {
    const zb__clean_edge *known;
    zb__clean_edge *seen;
} zb__edge_looks;

/* Clears what is stored outside `keep` but within `region` (both shapes, [ndim]), along the
   dimensions in which region is the larger one: chunks wholly outside are erased, the others
   refilled with the fill value there.

   node, text: the array as it stands in the store, under the hierarchy's lock. looks: only chunks
   that hold something else than fill values there are written, at the cost of reading them; NULL:
   all are. */
enum zb_code zb__beyond_clear(const zb_node *node, const zb__document_text *text,
                              const uint64_t *keep, const uint64_t *region, zb__edge_looks *looks,
                              zb_error *err);

#endif
