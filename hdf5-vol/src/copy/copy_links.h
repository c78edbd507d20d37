/* SPDX-License-Identifier: MIT */
/*
 * Links of copied groups. A copy holds each object once, as HDF5's copies do: a hard link leads to
 * the copy of its node, and to a copy of its own where the node lies outside of what was copied.
 * Soft links are copied as they are, or, if the program wishes, become hard ones in the same way.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_COPY_LINKS_H
#define ZARRBRIDGE_HDF5_VOL_COPY_COPY_LINKS_H

#include "copy/copy_nodes.h"

/* Completes the copy `to` of the group `from`. ZB_EUNSUPPORTED where a link leads to a group above
   `from`, which would be copied into itself. */
enum zb_code vol_copy_links(vol_node *from, vol_node *to, const vol_copying *how, zb_error *err);

#endif
