/* SPDX-License-Identifier: MIT */
/* The nodes that arguments of the command line name. */
#ifndef ZB_CLI_PLACE_H
#define ZB_CLI_PLACE_H

#include "zarrbridge/hierarchy.h"

/* A node, and the store of the hierarchy that it is or will be in: that one's lock and consolidated
   metadata are concerned. */
typedef struct place {
    zb_hierarchy *hierarchy;
    char *root, *node;
} place;

/* other: a place whose store is shared when it is the same; NULL opens the store and creates
   none. *out is to be cleared, on error as well. */
enum zb_code place_find(const char *path, const place *other, place *out, zb_error *err);
void place_clear(place *where);

#endif
