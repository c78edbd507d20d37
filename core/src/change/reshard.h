/* SPDX-License-Identifier: MIT */
/* The document of an array with other shards. */
#ifndef ZB_CHANGE_RESHARD_H
#define ZB_CHANGE_RESHARD_H

#include "node/edit.h"
#include "zarrbridge/change.h"
#include "zarrbridge/node.h"

/* Whether the options want another document of the array than it has. */
bool zb__reshard_is_due(const zb_node *array, const zb_copy_options *options);

/* Changes an array's own document; the rest of it stays byte for byte. ZB_EUNSUPPORTED as
   zb_chain_of. */
enum zb_code zb__reshard(const zb_node *array, const zb_copy_options *options,
                         zb__document *document, zb_error *err);

#endif
