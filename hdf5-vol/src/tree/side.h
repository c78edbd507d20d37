/* SPDX-License-Identifier: MIT */
/*
 * What HDF5 knows of a node and Zarr has no word for.
 *
 * It is kept in one attribute of the node, `_hdf5`: a text that is a JSON object, so that programs
 * which copy attributes copy a string. Zarr readers may ignore it: all data, and all attributes
 * that have a JSON form, are where they always are. What it says of an attribute or of a shape
 * counts only while that still fits: other programs may have changed them since.
 *
 *     {"version": 1, member: ..., "attributes": {name: entry, ...}}
 *
 * The owner of each member is named where it is made; the entries are those of attributes/exact.h.
 * HDF5 programs do not see the attribute, unless its text is of another version or no such object:
 * then it is an attribute as any other, and nothing is kept in it. They can make none of its name.
 *
 * Changes wait with those of the attributes: see waiting.h.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_TREE_SIDE_H
#define ZARRBRIDGE_HDF5_VOL_TREE_SIDE_H

#include "tree/node.h"
#include "tree/waiting.h"

#define VOL_SIDE "_hdf5"

/* Of a file: the text of an attribute, and what was parsed of it; NULL before the first one. */
typedef struct vol_side_last {
    char *text;
    zb_json *object;
} vol_side_last;

/* Members of which another program may change a part at the same time: named_links.h,
   link_order.h and aliases.h. What it has added or removed since the document was read is kept. */
#define VOL_SIDE_LINKS "links"
#define VOL_SIDE_ORDER "order"
#define VOL_SIDE_NAMES "names"
#define VOL_SIDE_ATTRIBUTES "attribute_list" /* attribute_order.h */

/* What is kept of a creation list: create/creation_list.h. */
#define VOL_SIDE_CREATION "creation"

/* The entries of attributes. */
#define VOL_SIDE_ENTRIES "attributes"

/* A member other than these, as it will be stored; NULL when there is none. Borrowed until the next
   change of the node. */
const zb_json *vol_side_get(vol_node *node, const char *member);

/* The entry of an attribute likewise. */
const zb_json *vol_side_entry(vol_node *node, const char *attribute);

/* All entries as they are stored: of what waits vol_side_entry tells. */
const zb_json *vol_side_entries(vol_node *node);

/* Whether anything can be kept: ZB_EUNSUPPORTED where the attribute is not ours. */
enum zb_code vol_side_check(vol_node *node, zb_error *err);

/* Sets a member to a JSON text, or removes it (NULL); the attribute goes with the last one.
   ZB_EUNSUPPORTED where the attribute is not ours. */
enum zb_code vol_side_set(vol_node *node, const char *member, const char *json, zb_error *err);

/* The entry of an attribute likewise. */
enum zb_code vol_side_set_entry(vol_node *node, const char *attribute, const char *json,
                                zb_error *err);

/* The entry of a link (named_links.h) likewise; vol_side_get does not see it before it is
   stored. */
enum zb_code vol_side_set_link(vol_node *node, const char *link, const char *json, zb_error *err);

/* Whether an attribute of that name is hidden, since it is ours. */
bool vol_side_hides(vol_node *node, const char *name);

/* For waiting_store.c: the JSON of the attribute's new text (malloc'ed), made of the attributes
   that are stored now and the changes that wait; *out is NULL when no member is left. Entries of
   attributes that the node does not have any more are left out. */
enum zb_code vol_side_print(const vol_node *node, const zb_json *attributes, char **out,
                            zb_error *err);

/* The attributes of a new node that has these members and no others: a JSON object as text
   (malloc'ed), NULL without memory. */
char *vol_side_print_new(const vol_changes *members);

/* The object of a node of the store that has no vol_node, for zb_json_free; NULL when there is
   none. */
zb_json *vol_side_of(const zb_node *zarr);

/* Forgets what was parsed; called with each change of the node's document. The second forgets what
   the file keeps for further nodes. */
void vol_side_forget(vol_node *node);
void vol_side_forget_last(vol_file *file);

#endif
