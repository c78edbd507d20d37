/* SPDX-License-Identifier: MIT */
/*
 * Links that are no node's place. A group keeps them in a member of its side attribute (side.h):
 *
 *     "links": {name: {"soft": path}, name: {"hard": place},
 *               name: {"external": [file, path]}, ...}
 *
 * A soft link leads to what its path names, seen from the group; an external one to what its path
 * names in another file. A hard one is another name of a node: aliases.h.
 *
 * Names of nodes and of links are one set of names. Where a store has both, since another program
 * has made the node, the node is shown and the link is hidden: it stays in the document, and is
 * back when the node has gone. Entries of another form are kept, too, and not shown.
 *
 * Changes are stored at the next flush of the file, or before anything that needs them in the
 * store, so that making n links writes one document.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_LINKS_LINK_ENTRIES_H
#define ZARRBRIDGE_HDF5_VOL_LINKS_LINK_ENTRIES_H

#include "links/link_list.h"
#include "tree/tree.h"

#include "zarrbridge/change.h"

/* Those of a group that has been asked for them. */
typedef struct vol_link_entry_set {
    vol_link_list list;
    uint64_t bytes; /* what they take in the document, at most */
    bool changed;   /* since they were stored */
    vol_link *gone; /* removed since then: a list */
} vol_link_entry_set;

/* Those of a group, which owns them; NULL when memory runs out. The second reads nothing: NULL also
   while nobody has asked for them. */
const vol_link_list *vol_link_entries(vol_node *group, zb_error *err);
const vol_link_list *vol_link_entries_known(const vol_node *group);

/* The one of that name, whether a node hides it or not; NULL when there is none that is shown. */
vol_link *vol_link_entry_find(vol_node *group, const char *name);

/* Adds one whose name nothing has. Takes over `link`, also on failure. */
enum zb_code vol_link_entry_add(vol_node *group, vol_link *link, zb_error *err);

/* Takes one out of its group, where it is of no use any more: for aliases.h, which removes links of
   any kind. */
void vol_link_entry_remove(vol_link *link);

/* Puts those that no node hides among the links of a group whose nodes have been listed. */
enum zb_code vol_link_entries_show(vol_node *group, zb_error *err);

/* Stores the links of one group that have changed, and no others: what other programs have changed
   stays. Whether there are any. */
enum zb_code vol_link_entries_store(vol_node *group, zb_error *err);
static inline bool vol_link_entries_changed(const vol_node *group) {
    return group->link_entries && group->link_entries->changed;
}

/* Forgets the links of a group, in order to read them again: changes have been stored. */
void vol_link_entries_forget(vol_node *group);

#endif
