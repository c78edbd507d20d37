/* SPDX-License-Identifier: MIT */
/* The comment of an object (H5Oset_comment): a UTF-8 text, the member "comment" of side.h. */
#ifndef ZARRBRIDGE_HDF5_VOL_OBJECTS_COMMENT_H
#define ZARRBRIDGE_HDF5_VOL_OBJECTS_COMMENT_H

#include "tree/node.h"

/* "" where there is none. Borrowed until the next change of the node. */
const char *vol_comment(vol_node *node);

/* An empty text, or NULL, takes the comment away. */
enum zb_code vol_comment_set(vol_node *node, const char *text, zb_error *err);

#endif
