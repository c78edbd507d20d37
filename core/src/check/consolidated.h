/* SPDX-License-Identifier: MIT */

/* Consolidated metadata against the documents that it repeats. */
#ifndef ZB_CHECK_CONSOLIDATED_H
#define ZB_CHECK_CONSOLIDATED_H

#include "zarrbridge/node.h"

/* Writes into `why` how the group's block is out of date; `why` stays empty when it is not, when
   the group has no block, or when the block is all that is known of the nodes. An empty block below
   the root means nothing: writers put one into every group. */
enum zb_code zb__consolidated_compare(const zb_node *group, char why[ZB_MESSAGE_SIZE],
                                      zb_error *err);

/* Tells whether a block has been taken out of the group's document, to be put back. */
enum zb_code zb__consolidated_is_dirty(const zb_node *group, bool *dirty, zb_error *err);

#endif
