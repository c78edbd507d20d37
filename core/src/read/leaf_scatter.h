/* SPDX-License-Identifier: MIT */
/* The elements of a leaf, decoded or of the fill value, to the destinations of its pieces. */
#ifndef ZB_READ_LEAF_SCATTER_H
#define ZB_READ_LEAF_SCATTER_H

#include "read/leaf.h"

/* data[0] is byte `lo` of the decoded chunk. */
void zb__leaf_scatter(const zb__leaf *leaf, const uint8_t *data, uint64_t lo);

/* The element of a missing chunk. */
void zb__leaf_fill(const zb__leaf *leaf);

/* The same two for elements of variable length, of which the reader gets copies. */
enum zb_code zb__leaf_copy(const zb__leaf *leaf, const uint8_t *elements, zb_error *err);
enum zb_code zb__leaf_copy_fill(const zb__leaf *leaf, zb_error *err);

#endif
