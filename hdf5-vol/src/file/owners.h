/* SPDX-License-Identifier: MIT */
/*
 * Whose data wait. All handles of a store that is written share its nodes, and so what waits in
 * them: data, attributes, links. Each node knows the handles that have changed it since all of it
 * was stored, its owners. When something of it cannot be stored, they are told, and no others. A
 * handle whose close has failed takes what is its own alone with it; all else goes on waiting for
 * the others.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_FILE_OWNERS_H
#define ZARRBRIDGE_HDF5_VOL_FILE_OWNERS_H

#include "tree/structs.h"

#include "zarrbridge/zarrbridge.h"

/* A set of handles. None: everyone, as for what no handle has asked for. */
typedef uint64_t vol_owners;
/* What waits concerns everyone: the changes through objects whose own file id is closed, of which
   no later close could tell; and those of handles that are too many for a set. */
#define VOL_OWNERS_EVERYONE ((vol_owners)1)
#define VOL_OWNERS_ALL UINT64_MAX

/* A new handle of a file as a set; and its end. */
vol_owners vol_owners_enter(vol_file *file);
void vol_owners_leave(vol_file *file, vol_owners handle);

/* From now on changes of the file's nodes are those of a handle; VOL_OWNERS_EVERYONE, or none (0):
   they do not change who owns what waits. */
void vol_owners_act(vol_file *file, vol_owners handle);

/* Called before a node gets a change that waits. */
void vol_owners_note(vol_node *node);
/* The same for changes of links, which also tells link_store.h of them. */
void vol_owners_note_links(vol_node *node);

/* Whether what waits in a node concerns a handle, so that it is told of errors. */
bool vol_owners_concern(const vol_node *node, vol_owners handle);

/* These handles own nothing of a node any more. */
void vol_owners_drop(vol_node *node, vol_owners handles);

/* Whether anything waits in a node; and whether links are among it. */
bool vol_owners_wait(const vol_node *node);
bool vol_owners_links_changed(const vol_node *node);

/* Whether all that waits in a node belongs to these handles (VOL_OWNERS_ALL: always). */
bool vol_owners_alone(const vol_node *node, vol_owners handles);

#endif
