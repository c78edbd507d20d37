/* SPDX-License-Identifier: MIT */
/*
 * Changing the hierarchy: each call changes the store and then the tree of the open file. After an
 * error the store is as write.h says, and the tree as it was.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_TREE_EDIT_H
#define ZARRBRIDGE_HDF5_VOL_TREE_EDIT_H

#include "tree/missing_groups.h"
#include "tree/tree.h"

#include "zarrbridge/change.h"

/* The place where the node called `path`, seen from base, can be made: nothing has that name yet
   (ZB_ECONFLICT). ZB_ENOTFOUND for groups that are missing and not made. */
enum zb_code vol_place_find(vol_node *base, const char *path, vol_missing missing, vol_place *out,
                            zb_error *err);
/* The same for a node that is going to be made at once, which tells whether the store has one of
   that name (ZB_ECONFLICT): it is not asked before. */
enum zb_code vol_place_for_new(vol_node *base, const char *path, vol_missing missing,
                               vol_place *out, zb_error *err);
/* Frees the name. */
void vol_place_clear(vol_place *place);

/* attributes: a JSON object as text, or NULL. */
enum zb_code vol_edit_create_group(const vol_place *place, const char *attributes, vol_node **out,
                                   zb_error *err);
enum zb_code vol_edit_create_array(const vol_place *place, const zb_array_spec *spec,
                                   vol_node **out, zb_error *err);

/* Puts a node that has been made in the store into the tree; takes over `made`. A node without a
   place in the tree is in the store all the same: vol_edit_take_back. */
enum zb_code vol_edit_add(const vol_place *place, zb_node *made, vol_node **out, zb_error *err);

/* Deletes a node that has just been made in the store, and for which there is no place in the tree.
   whole: with what lies below it; else it stays where another program has made something there.
   Returns `code`, the reason, whose message tells of a node that stays. */
enum zb_code vol_edit_take_back(vol_file *file, const char *path, bool whole, enum zb_code code,
                                zb_error *err);

/* An array without a name, in memory until vol_edit_link gives it one. */
enum zb_code vol_edit_create_loose(vol_file *file, const zb_array_spec *spec, vol_node **out,
                                   zb_error *err);
/* A group likewise. */
enum zb_code vol_edit_create_loose_group(vol_file *file, const char *attributes, vol_node **out,
                                         zb_error *err);
/* On a rank that follows (tree/follow.h) the node is in the store already. */
enum zb_code vol_edit_link(vol_node *loose, const vol_place *place, zb_error *err);

/* Deletes the node whose place a link is (NULL: that of the root), with all below it; see
   edit_links.h for nodes that have other names. Its ids stay valid; datasets with ids live on in
   memory (dataset/deleted.h), and data that wait for others are forgotten. ZB_OK also where another
   program has deleted it. */
enum zb_code vol_edit_delete(vol_link *link, zb_error *err);

enum zb_code vol_edit_move(vol_link *link, const vol_place *place, zb_error *err);

/* Takes a dataset out of the store and shows one from memory in its place, which stands for a
   dimension only. */
enum zb_code vol_edit_make_dimension(vol_node *dataset, zb_error *err);

/* Shows the changes of other programs: the node's document and, of a group, its children. Data that
   wait for a dataset are stored before. ZB_ENOTFOUND when the node is gone, ZB_ECONFLICT when open
   ids cannot follow to the node that is there now. */
enum zb_code vol_edit_refresh(vol_node *node, zb_error *err);

#endif
