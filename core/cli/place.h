/* SPDX-License-Identifier: MIT */
/* The stores and nodes that arguments of the command line name. A name may end in that of a
   document, as x.zarr/zarr.json: it means the node that the document describes; or be that of a
   door: it means what that leads to. */
#ifndef ZB_CLI_PLACE_H
#define ZB_CLI_PLACE_H

#include "zarrbridge/hierarchy.h"
#include "zarrbridge/node.h"

/* A node, and the store of the hierarchy that it is or will be in: that one's lock and consolidated
   metadata are concerned. */
typedef struct place {
    zb_hierarchy *hierarchy;
    char *root, *node;
} place;

/* other: a place whose store is shared when it is the same; NULL opens the store and creates
   none. *out is to be cleared, on error as well. */
enum zb_code place_find(const char *name, const place *other, place *out, zb_error *err);

/* The place, and its node opened. *where is to be cleared and *out to be released, on error as
   well. */
enum zb_code place_open(const char *name, place *where, zb_node **out, zb_error *err);

/* The same, of an array. */
enum zb_code place_open_array(const char *name, place *where, zb_node **out, zb_error *err);

void place_clear(place *where);

/* The store itself whose root has this name, for what looks at all of its objects. A store whose
   root has no document may have nodes below; ZB_EUNSUPPORTED where it is something else. */
enum zb_code store_open(const char *name, zb_hierarchy **out, zb_error *err);

#endif
