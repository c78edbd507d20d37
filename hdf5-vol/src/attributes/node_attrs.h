/* SPDX-License-Identifier: MIT */
/*
 * The list of attributes that a node has made, and whether it still holds: what the document says,
 * and what the program has changed since (attributes/attributes.h makes it). A dataset's list has
 * attributes that come from other nodes, too, so any change of the file makes it out of date.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_NODE_ATTRS_H
#define ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_NODE_ATTRS_H

#include "attributes/attribute_list.h"
#include "tree/structs.h"

typedef struct vol_node_attributes {
    vol_attrs *list; /* NULL until asked for */
    uint64_t change; /* file->changes when it was made; 0: it is out of date */
} vol_node_attributes;

/* The list as it is, out of date or not; NULL when there is none. The second makes an empty one,
   which is out of date, where there is none; NULL when memory runs out. */
vol_attrs *vol_node_attrs_now(const vol_node *node);
vol_attrs *vol_node_attrs_begin(vol_node *node);

/* Puts another list in its place, which is up to date; takes it over. */
void vol_node_attrs_set(vol_node *node, vol_attrs *list);

bool vol_node_attrs_are_current(const vol_node *node);
void vol_node_attrs_outdate(vol_node *node);

/* The document may tell other numbers (attribute_order.h) than it did. */
void vol_node_attrs_unnumber(vol_node *node);

/* How up to date the list is, for a caller that makes its own change in it: the list is as good as
   before then. */
uint64_t vol_node_attrs_change(const vol_node *node);
void vol_node_attrs_as_before(vol_node *node, uint64_t change);

/* Whether some have been created, and not written yet. */
bool vol_node_attrs_wait(const vol_node *node);

/* Whether it has attributes that no document tells. */
bool vol_node_attrs_have_own(const vol_node *node);

#endif
