/* SPDX-License-Identifier: MIT */
/* Dimension scales (scales.h), when nodes get another place. */
#ifndef ZARRBRIDGE_HDF5_VOL_SCALES_SCALE_MOVES_H
#define ZARRBRIDGE_HDF5_VOL_SCALES_SCALE_MOVES_H

#include "tree/tree.h"

/* After a node was moved, which had this name: dimensions are called like their scales. */
enum zb_code vol_scales_moved(vol_node *top, const char *old_name, zb_error *err);

/* After `from` was copied to `to`: references within lead to the copies. Those out of it lead where
   they led, or nowhere when that is in another file. */
enum zb_code vol_scales_copied(vol_node *from, vol_node *to, zb_error *err);

#endif
