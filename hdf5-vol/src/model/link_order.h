/* SPDX-License-Identifier: MIT */
/*
 * The order in which the links of a group were made, for groups that keep it
 * (H5Pset_link_creation_order). It is a member of the group's side attribute (side.h), with the
 * names of nodes and of other links:
 *
 *     "order": [name, ...], "order_indexed": false
 *
 * The second member is there when HDF5 was told to track the order, and not to index it. Names that
 * are not in the list, since other programs have made the nodes, come last, in the order of names.
 * The list is stored when links are (aliases.h).
 */
#ifndef ZARRBRIDGE_HDF5_VOL_MODEL_LINK_ORDER_H
#define ZARRBRIDGE_HDF5_VOL_MODEL_LINK_ORDER_H

#include "model/structs.h"

#include "zarrbridge/zarrbridge.h"

/* What a group knows of it. */
typedef struct vol_order {
    bool known;      /* `flags` are */
    bool changed;    /* since it was stored */
    unsigned flags;  /* H5P_CRT_ORDER_... */
    uint64_t last;   /* the largest `order` of a link since the group had none */
    uint64_t bytes;  /* that the names take in the document */
    vol_link **list; /* the links in this order; NULL until asked for */
} vol_order;

/* A group's H5P_CRT_ORDER_... flags; 0 where no order is kept. */
unsigned vol_order_flags(vol_node *group);

/* A group that was just made, and has no links yet, keeps the order. */
enum zb_code vol_order_begin(vol_node *group, unsigned flags, zb_error *err);

/* Before a link of that name is added: all links are known, and there is room in the document. */
enum zb_code vol_order_prepare(vol_node *group, const char *name, zb_error *err);

/* All links of a group have just been listed. */
void vol_order_assign(vol_node *group);

/* For links.c: a link came into its group, or leaves it; or all are forgotten. */
void vol_order_added(vol_link *link);
void vol_order_taken(vol_link *link);
void vol_order_cleared(vol_node *group);

/* Gives a link the place of one that it has replaced. */
void vol_order_set(vol_link *link, uint64_t order);

/* The i-th link of a listed group, by name, or by creation where the order is kept. */
vol_link *vol_order_link(vol_node *group, bool by_creation, bool backwards, size_t i);

/* The largest number that a link of a listed group has had; 0 where no order is kept. */
uint64_t vol_order_last(const vol_node *group);

/* Stores a changed order; whether there is one to be stored. */
enum zb_code vol_order_store(vol_node *group, zb_error *err);
bool vol_order_is_changed(const vol_node *group);

/* The document may tell another order than it did. */
void vol_order_forget(vol_node *group);

#endif
