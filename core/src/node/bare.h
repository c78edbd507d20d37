/* SPDX-License-Identifier: MIT */
/* Groups below which the store has no document at all. */
#ifndef ZB_NODE_BARE_H
#define ZB_NODE_BARE_H

#include <stdbool.h>

#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

/* Whether a node has a document at path, of version 2 as well. One that cannot be asked about may
   be there: opening it tells why it cannot be read. ZB_ENOMEM is the only error, with *out true. */
enum zb_code zb__holds_document(zb_hierarchy *hierarchy, const char *path, bool *out,
                                zb_error *err);

/* Whether it is a group of a local store whose document describes nodes of which the store itself
   has none. */
bool zb__group_says_all(const zb_node *node);

#endif
