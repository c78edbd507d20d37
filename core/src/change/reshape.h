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

/* The text of a node's document. */
typedef struct zb__document_text {
    char *text;
    size_t size;
} zb__document_text;

/* node, text: the array as it stands. *out gets the node, and *out_text unless it is NULL its text,
   which the caller frees. ZB_EUNSUPPORTED for the draft grid `rectangular`, which leaves no room
   for another shape. */
enum zb_code zb__array_reshape(const zb_node *node, const zb__document_text *text,
                               const uint64_t *shape, zb__document_text *out_text, zb_node **out,
                               zb_error *err);

/* Takes the text of a writer on the stack as the new value of a member of the document's root. */
enum zb_code zb__document_take(zb__document *document, const char *name, zb_json_writer *w,
                               zb_error *err);

#endif
