/* SPDX-License-Identifier: MIT */
/* Dimension scales (scales.h), when nodes get another place. */
#ifndef ZARRBRIDGE_HDF5_VOL_SCALES_SCALE_MOVES_H
#define ZARRBRIDGE_HDF5_VOL_SCALES_SCALE_MOVES_H

#include "tree/copies.h"

/* After a node was moved, which had this name: dimensions are called like their scales. */
enum zb_code vol_scales_moved(vol_node *top, const char *old_name, zb_error *err);

/* Gives a dimension without a variable another place: the record of its group, the names by which
   objects lead to it, and the names of dimensions. */
enum zb_code vol_scales_move_dimension(vol_link *link, const vol_place *place, zb_error *err);

/* Before the first of the calls below: names may have changed, and those of dimensions will. */
void vol_scales_before_copies(vol_file *from, vol_file *to);

/* `copy` is the copy of a node, and all others are there: references to what was copied lead to the
   copies. Others lead where they led, or nowhere when that is in another file. */
enum zb_code vol_scales_copied(const vol_copies *copies, vol_node *node, vol_node *copy,
                               zb_error *err);

#endif
