/* SPDX-License-Identifier: MIT */
/* Nodes copied as they stand in the store, by copy_nodes.h and copy_links.h. */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_COPY_STORED_H
#define ZARRBRIDGE_HDF5_VOL_COPY_COPY_STORED_H

#include "tree/tree.h"

/* Copies a node with all below it; or, not `whole`, a group alone, without its links. */
enum zb_code vol_copy_stored(vol_node *node, const vol_place *place, bool whole, vol_node **out,
                             zb_error *err);

#endif
