/* SPDX-License-Identifier: MIT */
/*
 * The numbers of attributes in the order in which they were made, for objects that an HDF5 program
 * made to track it (H5Pset_attr_creation_order). Where the attributes of the document, and those of
 * scales behind them, have the numbers from 1 on, nothing is kept. Otherwise, as after one was
 * deleted or renamed, they are a member of the side attribute (side.h),
 *
 *     "attribute_list": [name, ...]
 *
 * as numbered_names.h describes. Attributes that are not in it come last, in the order of the
 * document.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_ATTRIBUTE_ORDER_H
#define ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_ATTRIBUTE_ORDER_H

#include "attributes/attribute_list.h"

/* Numbers a list that has just been made: by the one that was there before (or NULL), or by what is
   kept. */
void vol_attribute_order_assign(vol_node *node, vol_attrs *attrs, const vol_attrs *before);

/* Has what is to be kept wait with the changes of attributes. */
enum zb_code vol_attribute_order_keep(vol_node *node, zb_error *err);

#endif
