/* SPDX-License-Identifier: MIT */
/*
 * The same array with another shape. A grid of several extents ends; where the new shape goes
 * beyond, one chunk with the rest is added, as zarr-python does. It is made larger where shards
 * must be whole inner chunks. A smaller shape leaves the grid as it is.
 */
#ifndef ZB_CHANGE_RESHAPE_H
#define ZB_CHANGE_RESHAPE_H

#include "node/edit.h"
#include "zarrbridge/node.h"

/* node, document: the array as it stands. *out gets the node, and *out_document unless it is NULL
   its text. ZB_EUNSUPPORTED for the draft grid `rectangular`, which leaves no room for another
   shape. */
enum zb_code zb__array_reshape(const zb_node *node, const zb__document *document,
                               const uint64_t *shape, zb__document *out_document, zb_node **out,
                               zb_error *err);

/* Takes the text of a writer on the stack as the new value of a member of the document's root. */
enum zb_code zb__document_take(zb__document *document, const char *name, zb_json_writer *w,
                               zb_error *err);

#endif
