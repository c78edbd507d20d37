/* SPDX-License-Identifier: MIT */
/*
 * The entries of one group.
 *
 * A *link* is an entry of a group: a name, and what stands behind it. A *node* is a group or a
 * dataset that can be opened. Each node has one place in the store, and one link that is that
 * place. Behind such a link whose metadata cannot be read stands a dataset that tells the reason
 * (unreadable.h). One that cannot have a node at all is a soft link that leads nowhere, with the
 * reason as its value. All other links are kept in an attribute of the group (link_entries.h).
 */
#ifndef ZARRBRIDGE_HDF5_VOL_LINKS_LINKS_H
#define ZARRBRIDGE_HDF5_VOL_LINKS_LINKS_H

#include "links/link_list.h"
#include "tree/structs.h"

#include "zarrbridge/zarrbridge.h"

enum vol_link_kind {
    VOL_LINK_HARD,     /* the place of its node */
    VOL_LINK_SOFT,     /* leads to what `target` names */
    VOL_LINK_EXTERNAL, /* leads to what `target` names in the file called `external` */
    VOL_LINK_ALIAS,    /* another hard link: `target` is the way to its node's place (aliases.h) */
    VOL_LINK_FOREIGN   /* of a kind that this version does not know: kept, and not shown */
};

struct vol_link {
    vol_node *group; /* the owner */
    char *name;      /* first_name, or malloc'ed */
    char *stored;    /* the node's name in the store where it is not that of zb_name_stored, for
                        another program has made it; else NULL */
    enum vol_link_kind kind;
    bool is_entry;       /* of link_entries.h, which owns it */
    char *external;      /* external links: the name of the file */
    bool changed;        /* of entries: since they were stored */
    bool counted;        /* aliases: the node has it among its names */
    uint32_t shown;      /* datasets of dimensions without `order`: their order among each other */
    vol_link *next_gone; /* of entries that were removed since then */
    uint64_t order;      /* link_order.h: from 1 on; 0 where it is not known */
    vol_node *alias_of;  /* aliases: the node, once it was looked for; NULL where there is none */
    char *target;   /* the value of a soft link; JSON of a foreign one; NULL where there is none */
    vol_node *node; /* the one whose place this is; NULL when it is not opened yet, or cannot be */
    const char *reason; /* why the store's node cannot be read; a part of target */
    char first_name[];  /* large groups have one allocation for each link */
};

/* The links of one group. */
typedef struct vol_links {
    vol_link_list list; /* those that are known so far */
    bool listed;        /* all are known */
} vol_links;

/* A link that is in no group yet, to `node`; with a reason, why the store's node cannot be read. A
   reason without a node makes a soft link. */
enum zb_code vol_link_new(const char *name, vol_node *node, const char *reason, vol_link **out,
                          zb_error *err);

/* A link that is no node's place, with what it leads to (copied). */
enum zb_code vol_link_new_entry(const char *name, enum vol_link_kind kind, const char *target,
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

/* Another name, malloc'ed, for a link that is in no group. Its node has the name of zb_name_stored
   in the store now. */
void vol_link_set_name(vol_link *link, char *name);

/* Its node stays. */
void vol_link_free(vol_link *link);

/* Fails with the reason why the store's node cannot be read. */
enum zb_code vol_link_add_context(const vol_link *link, zb_error *err);

/* The known links: their number, number i of them, and the one of that name; NULL when there is
   none. */
size_t vol_links_count(const vol_node *group);
vol_link *vol_links_at(const vol_node *group, size_t i);
vol_link *vol_links_find(const vol_node *group, const char *name);

/* A walk over the nodes of a group that are open: the first one from link number *at on, 0 at the
   beginning, which goes behind it. NULL when there is none, as in a node that is no group. */
vol_node *vol_links_opened(const vol_node *group, size_t *at);

/* Whether these are all (vol_node_list of tree.h). */
bool vol_links_are_listed(const vol_node *group);
void vol_links_set_listed(vol_node *group, bool listed);

/* All links of a group have just been listed: gives them their order. */
void vol_links_assign_order(vol_node *group);

/* The links of a copy get the numbers of those that have their names in the copied group. */
void vol_links_copy_order(const vol_node *from, vol_node *made);

/* The i-th link of a listed group, by name, or by creation where the order is kept
   (link_order.h). */
vol_link *vol_links_in_order(vol_node *group, bool by_creation, bool backwards, size_t i);

/* Stores the order of a listed group's links if it has changed. */
enum zb_code vol_links_store_order(vol_node *group, zb_error *err);

/* Reserves memory for one more. */
enum zb_code vol_links_reserve(vol_node *group, zb_error *err);

/* Puts a link into a group that has memory for it and knows none of the name. */
void vol_links_insert(vol_node *group, vol_link *link);

/* Takes a link out of its group. */
void vol_links_take(vol_link *link);

/* Frees the links that are places, and whose nodes have been freed or never were; of the others
   the group only forgets that it shows them. */
void vol_links_clear(vol_node *group);

#endif
