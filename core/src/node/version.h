/* SPDX-License-Identifier: MIT */
/* The version of the document that a node was made of. */
#ifndef ZB_NODE_VERSION_H
#define ZB_NODE_VERSION_H

#include <stdbool.h>
#include <stdint.h>

#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

/* Remembers the identity of the node, which has just been opened, and the version of its
   document. */
void zb__node_mark_version(zb_node *node, uint64_t home, const zb_object_info *info);

/* True if this is, for sure, the version of the document that the node was made of. */
bool zb__node_unchanged(const zb_node *node, const zb_object_info *info);

#endif
