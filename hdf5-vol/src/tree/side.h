/* SPDX-License-Identifier: MIT */
/*
 * The HDF5 extension of a node (zarrbridge/hdf5_extension.h), with the changes that wait.
 *
 * All data, and all attributes that have a JSON form, are where they always are. What the extension
 * says of an attribute or of a shape counts only while that still fits: other programs may have
 * changed them since. HDF5 programs do not see the attribute unless it is not ours, and can make
 * none of its name.
 *
 * Changes wait with those of the attributes: see waiting.h.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_TREE_SIDE_H
#define ZARRBRIDGE_HDF5_VOL_TREE_SIDE_H

#include "tree/node.h"
#include "waiting/waiting.h"

#include "zarrbridge/hdf5_extension.h"

/* Of a file: the text of an attribute, and what was parsed of it; NULL before the first one. */
typedef struct vol_side_last {
    char *text;
    zb_hdf5_extension *extension;
} vol_side_last;

/* Makes sure that what is stored has been parsed. No node is made without that, so that a lack of
   memory never looks like no member at all. */
enum zb_code vol_side_load(vol_node *node, zb_error *err);

/* Parses what the node's new document says. Where memory lacks it is parsed at the next question,
   and until then the node has the members that it had: those who delete for the want of a member,
   or change one, ask vol_side_load before. */
void vol_side_renew(vol_node *node);

/* A member without entries, as it will be stored; NULL when there is none. Borrowed until the next
   change of the node. */
const zb_json *vol_side_get(vol_node *node, enum zb_hdf5_member member);

/* The entry of an attribute likewise. */
const zb_json *vol_side_entry(vol_node *node, const char *attribute);

/* All entries as they are stored: of what waits vol_side_entry tells. */
const zb_json *vol_side_entries(vol_node *node);

/* zb_hdf5_extension_uses_types of what is stored. */
bool vol_side_uses_types(vol_node *node);

/* Whether anything can be kept: ZB_EUNSUPPORTED where the attribute is not ours. */
enum zb_code vol_side_check(vol_node *node, zb_error *err);

/* Sets a member to a JSON text, or removes it (NULL); the attribute goes with the last one.
   ZB_EUNSUPPORTED where the attribute is not ours. */
enum zb_code vol_side_set(vol_node *node, enum zb_hdf5_member member, const char *json,
                          zb_error *err);

/* The entry of an attribute likewise. */
enum zb_code vol_side_set_entry(vol_node *node, const char *attribute, const char *json,
                                zb_error *err);

/* The entry of a link (links/link_entries.h) likewise; vol_side_get does not see it before it is
   stored. */
enum zb_code vol_side_set_link(vol_node *node, const char *link, const char *json, zb_error *err);

/* Whether an attribute of that name is hidden, since it is ours. */
bool vol_side_hides(vol_node *node, const char *name);

/* For waiting_store.c: the JSON of the attribute's new text (malloc'ed), made of the attributes
   that are stored now and the changes that wait; *out is NULL when no member is left. Entries of
   attributes that the node does not have any more are left out. */
enum zb_code vol_side_print(const vol_node *node, const zb_json *attributes, char **out,
                            zb_error *err);

/* Members of a node that is still to be made, by their names: sets one (JSON text), and finds
   it. */
enum zb_code vol_side_put(vol_changes *members, enum zb_hdf5_member member, const char *json,
                          zb_error *err);
const vol_change *vol_side_find(const vol_changes *members, enum zb_hdf5_member member);

/* The attributes of a new node that has these members and no others: a JSON object as text
   (malloc'ed), NULL without memory. */
char *vol_side_print_new(const vol_changes *members);

/* Frees what was parsed, and what the file keeps for further nodes. */
void vol_side_free(vol_node *node);
void vol_side_forget_last(vol_file *file);

#endif
