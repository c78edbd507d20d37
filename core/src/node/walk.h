/* SPDX-License-Identifier: MIT */

/* Walks over the content of a store below a node: names, nodes, chunks. */
#ifndef ZB_NODE_WALK_H
#define ZB_NODE_WALK_H

#include "node/listing.h"
#include "util/names.h"
#include "zarrbridge/node.h"

/* Links can make of a few directories a tree without end, or one of 2^40 paths. Listings cut
   circles; each walk counts the links that it goes through, and ends with ZB_ELIMIT at the limit
   `links`. */
typedef struct zb__links {
    uint64_t count; /* so far */
} zb__links;

/* Called before each prefix that is walked into. key: for the message. */
enum zb_code zb__links_count(zb__links *links, const zb__name *name, const char *key,
                             zb_error *err);

/* Tells what lies at a path: *kind becomes 'a', 'g', or 0 for nothing, of version 2 as of version
   3. The node_type alone decides, so that nodes that this version cannot open count; a document
   that is not JSON counts as a group. */
enum zb_code zb__node_kind(zb_hierarchy *hierarchy, const char *path, char *kind, zb_error *err);
/* The same, and *older: there is no zarr.json. A node of version 2 is there if *kind is not 0. */
enum zb_code zb__node_kind_of(zb_hierarchy *hierarchy, const char *path, char *kind, bool *older,
                              zb_error *err);

/* The node at path, when there is one, and all nodes below, parents first. Nodes below groups
   without a document are included. */
enum zb_code zb__nodes_at(zb_hierarchy *hierarchy, const char *path, zb__names *out, zb_error *err);

/* The same, and the keys of all objects at or below path that belong to no node and lie in no
   array: files of other programs. The library's own (hierarchy/markers.h) are left out. The caller
   frees both lists, after an error, too. */
enum zb_code zb__nodes_and_others(zb_hierarchy *hierarchy, const char *path, zb__names *out,
                                  zb__names *others, zb_error *err);

/* The same for erasing them: a link that leads to a node is in the list as a link, with nothing
   below it. The node behind the link may lie elsewhere, and belong to another store. tops: the node
   at path and, of those below, the ones that are below no other. */
enum zb_code zb__nodes_owned(zb_hierarchy *hierarchy, const char *path, bool tops, zb__names *out,
                             zb_error *err);

/* The paths of the hidden arrays of the node at path (zarrbridge/change.h); the caller frees them,
   after an error, too. */
enum zb_code zb__hidden_at(zb_hierarchy *hierarchy, const char *path, zb__names *out,
                           zb_error *err);

/* Calls fn for each object below prefix, but not for those below `skip` and not for the object
   `skip` itself (NULL: none). Keys are whole. */
typedef enum zb_code (*zb__key_fn)(void *context, const char *key, zb_error *err);
enum zb_code zb__keys_below(zb_hierarchy *hierarchy, const char *prefix, const char *skip,
                            zb__key_fn fn, void *context, zb_error *err);

/* True for the key of a chunk of the array, within its grid or not: index is set, [ndim]. */
bool zb__chunk_index_of(const zb_node *node, const char *key, uint64_t *index);

/* Calls fn for each object whose key is a chunk key of the array, within its grid or not. Other
   objects there are left alone. The store has to list; the grid is never walked. */
typedef enum zb_code (*zb__chunk_fn)(void *context, const char *key, const uint64_t *index,
                                     zb_error *err);
enum zb_code zb__chunks_each(const zb_node *node, zb__chunk_fn fn, void *context, zb_error *err);

/* The same, and for each prefix in the place of a chunk besides: no chunk can be read there. */
enum zb_code zb__chunk_places_each(const zb_node *node, zb__chunk_fn fn, void *context,
                                   zb_error *err);

/* Fails where a directory is in the place of a chunk of the array at path: its elements cannot be
   read, and would be fill in a copy that has no such directory. What this version cannot open has
   no chunks that are known. */
enum zb_code zb__chunk_prefixes_refuse(zb_hierarchy *hierarchy, const char *path, zb_error *err);

#endif
