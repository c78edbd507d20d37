/* SPDX-License-Identifier: MIT */
/* The names below a group, before anything is opened. */
#ifndef ZB_NODE_CHILDREN_H
#define ZB_NODE_CHILDREN_H

#include "util/names.h"
#include "zarrbridge/node.h"

/* The names below a group that may hold a node, sorted: from a listing, or from consolidated
   metadata where the store cannot list. Names of ours are left out. `asks`: with each
   name comes whether it holds a document, as far as a listing tells. The caller frees the names,
   also after an error. */
enum zb_code zb__children_names(const zb_node *group, bool asks, zb__names *out, zb_error *err);

#endif
