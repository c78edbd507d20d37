/* SPDX-License-Identifier: MIT */
/* From tokens to nodes that have not been met yet. */
#ifndef ZARRBRIDGE_HDF5_VOL_OBJECTS_TOKEN_SEARCH_H
#define ZARRBRIDGE_HDF5_VOL_OBJECTS_TOKEN_SEARCH_H

#include "tree/tree.h"

/* The node with a token; looks through the whole store when it has not been met yet. */
vol_node *vol_node_by_token(vol_file *file, uint64_t token, zb_error *err);

#endif
