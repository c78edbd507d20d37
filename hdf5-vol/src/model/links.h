/* SPDX-License-Identifier: MIT */
/* The entries of one group, in the order of their names. */
#ifndef ZARRBRIDGE_HDF5_VOL_MODEL_LINKS_H
#define ZARRBRIDGE_HDF5_VOL_MODEL_LINKS_H

#include "model/node.h"

/* A link that is in no group yet, to `node`; with a reason, why the store's node cannot be read. A
   reason without a node makes a soft link. */
enum zb_code vol_link_new(const char *name, vol_node *node, const char *reason, vol_link **out,
                          zb_error *err);

/* A link that is no node's place, with what it leads to (copied). */
enum zb_code vol_link_new_named(const char *name, enum vol_link_kind kind, const char *target,
                                vol_link **out, zb_error *err);

enum zb_code vol_link_new_external(const char *name, const char *file, const char *target,
                                   vol_link **out, zb_error *err);

/* The place of a node that is not opened yet (vol_link_open of tree.h). */
enum zb_code vol_link_new_unopened(const char *name, vol_link **out, zb_error *err);
bool vol_link_is_unopened(const vol_link *link);

/* Gives such a link its node and its reason, as vol_link_new does; the second one takes them away,
   but does not free the node. */
enum zb_code vol_link_set_node(vol_link *link, vol_node *node, const char *reason, zb_error *err);
void vol_link_unset_node(vol_link *link);

/* Its node stays. */
void vol_link_free(vol_link *link);

/* Fails with the reason why the store's node cannot be read. */
enum zb_code vol_link_blame(const vol_link *link, zb_error *err);

/* The place of a name in a list that is sorted by names, or the one where it would be inserted. */
size_t vol_links_position(vol_link *const *link, size_t count, const char *name, bool *found);

/* The known link of that name; NULL when there is none. */
vol_link *vol_links_find(const vol_node *group, const char *name);

/* Makes room for one more. */
enum zb_code vol_links_reserve(vol_node *group, zb_error *err);

/* Puts a link into a group that has room and knows none of the name. */
void vol_links_insert(vol_node *group, vol_link *link);

/* Takes a link out of its group. */
void vol_links_take(vol_link *link);

#endif
