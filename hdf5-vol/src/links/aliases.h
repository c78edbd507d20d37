/* SPDX-License-Identifier: MIT */
/*
 * Second hard links. A node has one place in the store, and that place is its first link. Another
 * hard link is an *alias*: an entry of its group (link_entries.h) with the way to the node,
 *
 *     "links": {name: {"hard": "../g/d"}, ...}
 *
 * and the node knows its aliases by a member of its own side attribute,
 *
 *     "names": ["../../h/name", ...]
 *
 * both as places.h describes. An alias counts as long as both agree and no node has its name; so a
 * document that another program has copied or changed misleads nobody. An alias whose node is
 * gone is shown as a soft link that leads nowhere.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_LINKS_ALIASES_H
#define ZARRBRIDGE_HDF5_VOL_LINKS_ALIASES_H

#include "links/alias_list.h"
#include "links/link_entries.h"

/* The node behind a hard link of either kind, which is opened; *out is NULL when there is none, and
   for other links. Errors as vol_link_open. */
enum zb_code vol_link_node(vol_link *link, vol_node **out, zb_error *err);

/* Whether an alias leads to no node. */
bool vol_alias_is_lost(vol_link *alias);

/* The aliases of a node. */
size_t vol_alias_count(vol_node *node);

/* Calls `act` for the groups that hold the known aliases of a node, until it fails. */
enum zb_code vol_alias_each_group(const vol_node *node,
                                  enum zb_code (*act)(vol_node *group, zb_error *err),
                                  zb_error *err);

/* Makes one. */
enum zb_code vol_alias_create(const vol_place *place, vol_node *node, zb_error *err);

/* The same in two steps, of which the second one reads and stores nothing: it may follow upon a
   change that cannot be undone. The way (malloc'ed) stays true when node and group move. */
enum zb_code vol_alias_way(const vol_node *group, vol_node *node, char **way, zb_error *err);
enum zb_code vol_alias_create_by(const vol_place *place, vol_node *node, const char *way,
                                 zb_error *err);

/* Takes an entry of any kind out of its group, where it is of no use any more. */
void vol_alias_remove(vol_link *link);

/* An alias of the node that lies neither in `top` nor below it; NULL when there is none. */
vol_link *vol_alias_outside(vol_node *node, const vol_node *top);

/* Before a node is deleted, or moved for the first time: looks for all aliases that lie, or lead,
   below it. */
enum zb_code vol_alias_gather(vol_node *top, zb_error *err);

/* After it was deleted, while it still is in the tree: its aliases of other nodes go. */
void vol_alias_drop_below(vol_node *top);

/* Stores a changed list of a node's aliases. */
enum zb_code vol_alias_store_names(vol_node *node, zb_error *err);

/* Forgets what is known of a group's links and their order, and of a node's aliases, in order to
   read them again: changes have been stored. */
void vol_alias_forget(vol_node *node);

/* Those of a node alone. */
void vol_alias_forget_names(vol_node *node);

/* Whether a node has aliases, or has had some since its list was stored: neither of both ends is
   freed then. */
bool vol_alias_holds(const vol_node *node);
/* Whether they have changed since they were stored. */
static inline bool vol_alias_is_changed(const vol_node *node) {
    return node->aliases && node->aliases->changed;
}

#endif
