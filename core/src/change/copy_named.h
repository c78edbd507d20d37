/* SPDX-License-Identifier: MIT */
/*
 * What there is to copy from a store that cannot list: the nodes that consolidated metadata name,
 * the hidden arrays that attributes name, and the objects at the keys of their grids.
 */
#ifndef ZB_CHANGE_COPY_NAMED_H
#define ZB_CHANGE_COPY_NAMED_H

#include "node/walk.h"
#include "util/names.h"
#include "zarrbridge/node.h"

/* As zb__nodes_at, the node at path first. ZB_ENOTFOUND when there is none; ZB_EUNSUPPORTED for a
   group without consolidated metadata; an error, too, for a node that cannot be read, whose keys
   nobody knows. Each group counts as one with hidden arrays. */
enum zb_code zb__named_nodes(zb_hierarchy *hierarchy, const char *path, zb__names *out,
                             zb_error *err);

/* As zb__hidden_at. */
enum zb_code zb__named_hidden(zb_hierarchy *hierarchy, const char *path, zb__names *out,
                              zb_error *err);

/* Chunks of a grid that are asked for. Each costs a request, whether it is stored or not. */
#define ZB__MOST_NAMED_CHUNKS (1u << 20)

/* Calls fn for the key of each chunk in the grid of the array at path, whether it is stored or not,
   in several threads at once. ZB_EUNSUPPORTED for a grid with too many chunks to ask for. */
enum zb_code zb__named_keys(zb_hierarchy *hierarchy, const char *path, zb__key_fn fn, void *context,
                            zb_error *err);

/* Calls fn for each chunk in the grid, one after the other. Errors as zb__named_keys. */
enum zb_code zb__named_chunks(const zb_node *array, zb__chunk_fn fn, void *context, zb_error *err);

#endif
