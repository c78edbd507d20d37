/* SPDX-License-Identifier: MIT */
/*
 * The order in which the links of a group were made, for groups that keep it
 * (H5Pset_link_creation_order). It is a member of the group's side attribute (side.h), with the
 * names of nodes and of other links:
 *
 *     "order": [name, ...], "order_indexed": false
 *
 * The list has the numbers of links that have gone (numbered_names.h). The second member is there
 * when HDF5 was told to track the order, and not to index it. Names that are not in the list, since
 * other programs have made the nodes, come last, in the order of names. Behind these are datasets
 * of dimensions (vol_extras of tree.h), which have no number unless the list has their names. The
 * list is stored when links are (link_store.h).
 */
#ifndef ZARRBRIDGE_HDF5_VOL_LINKS_LINK_ORDER_H
#define ZARRBRIDGE_HDF5_VOL_LINKS_LINK_ORDER_H

#include "links/link_list.h"

#include "zarrbridge/zarrbridge.h"

/* What a group knows of it. */
typedef struct vol_order {
    bool known;      /* `flags` are */
    bool changed;    /* since it was stored */
    unsigned flags;  /* H5P_CRT_ORDER_... */
    uint64_t last;   /* the largest `order` of a link since the group had none */
    uint32_t shown;  /* the largest `shown` of a link */
    uint64_t bytes;  /* that the names take in the document */
    vol_link **list; /* the links in this order; NULL until asked for */
} vol_order;

/* A group's H5P_CRT_ORDER_... flags; 0 where no order is kept. */
unsigned vol_order_flags(vol_node *group);

/* A group that was just made, and has no links yet, keeps the order. */
enum zb_code vol_order_begin(vol_node *group, unsigned flags, zb_error *err);

/* Before a link of that name is added to a group whose links are all known: whether the
   document can hold it. */
enum zb_code vol_order_check(vol_node *group, const char *name, zb_error *err);

/* For links.c, which alone knows the links of a group: all have just been listed. */
void vol_order_assign(vol_node *group, const vol_link_list *links);

/* Likewise: a link came into a listed group, or leaves one (as the last one); or what was made of
   the links before is wrong now. */
void vol_order_added(vol_link *link);
void vol_order_taken(vol_link *link, bool is_last);
void vol_order_cleared(vol_node *group);

/* Likewise: these links in the order in which they were made. NULL where no order is kept, and when
   memory runs out. Borrowed until a link comes or goes. */
vol_link *const *vol_order_sorted(vol_node *group, const vol_link_list *links);

/* Likewise: stores the order of these links if it has changed. */
enum zb_code vol_order_store(vol_node *group, const vol_link_list *links, zb_error *err);

/* Likewise: the links of a copied group get the numbers of those that have their names. */
void vol_order_copy(const vol_node *from, const vol_link_list *originals, vol_node *made,
                    const vol_link_list *copies);

/* Gives the newest link of a group the number of one that it has replaced, which may have been in
   another group. Its own one is free again. */
void vol_order_replace(vol_link *link, uint64_t order);

/* Numbers of a group go on behind this one: what is renamed has its new link before the old one
   goes, so that its group is never empty. */
void vol_order_go_on(vol_node *group, uint64_t last);

/* The largest number that a link of a listed group has had; 0 where no order is kept. */
uint64_t vol_order_last(const vol_node *group);

/* The document may tell another order than it did. */
void vol_order_forget(vol_node *group);

#endif
