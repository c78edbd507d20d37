/* SPDX-License-Identifier: MIT */
/*
 * A node's attributes as HDF5 values (attribute.h), made from JSON on first use. Attributes that
 * the program creates and writes go into the list that was made. scales/dimensions.h and
 * scales/stated_attributes.h add those of HDF5's dimension scales.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_ATTRIBUTES_H
#define ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_ATTRIBUTES_H

#include "attributes/attribute.h"
#include "objects/object.h"

/* The attributes of a node; borrowed until the next change of the file. NULL, with an error pushed,
   when memory runs out. They are those that the file was opened with, and those that the program
   itself changed since; vol_edit_refresh has them made anew. */
vol_attrs *vol_node_attrs(vol_node *node);

/* The attribute of that name; NULL, without an error, when there is none. */
const vol_attr *vol_node_find_attr(vol_node *node, vol_attrs *attrs, const char *name);

/* The text of the attribute of that name that is made of a dataset's type, if there is one: units,
   calendar, VOL_ENCODING and VOL_DATA_TYPE. Malloc'ed; NULL also when memory runs out. */
char *vol_node_type_text(vol_node *node, const char *name);

/* Keeps an attribute for the session, in place of one of the same name that is kept already, or
   that the document or scales/dimensions.c may give. Takes over what `attr` owns, also when memory
   runs out (false). A list that is up to date stays so. */
bool vol_node_keep_attr(vol_node *node, vol_attr *attr);

/* Forgets one that is kept with that place; false when there is none. */
bool vol_node_drop_attr(vol_node *node, const char *name, enum vol_attr_place place);

/* Gives one another name, which no other one has. It keeps its number; a list without numbers has
   it at its end. False when memory runs out. */
bool vol_node_rename_attr(vol_node *node, const char *from, const char *to);

/* Whether an attribute of that name, and no other one of the list, changes with the document's: of
   others some are made. */
bool vol_node_attr_is_alone(const vol_node *node, const char *name);

/* An attribute that is kept as not written yet: of that name, or (NULL) any. Borrowed; NULL when
   there is none. */
const vol_attr *vol_node_unwritten(const vol_node *node, const char *name);

/* ---- Open attributes ---- */

/*
 * The open ids of a node's attributes. An id goes on meaning the attribute that it was opened for:
 * it follows a new name, and when the attribute is deleted, another one of its name is not it.
 *
 * It also remembers how many elements the attribute had, since the program made its buffer for that
 * many: when another process has made an attribute of another size under the name, and a refresh
 * shows it, reading would overflow the buffer.
 */

/* Opens an attribute of a node. Pushes an error and returns NULL when memory runs out. */
vol_object *vol_attr_ids_open(vol_handle *handle, vol_node *owner, const char *name, size_t count);

/* Whether there is an id of that attribute besides `object`. */
bool vol_attr_ids_others(const vol_object *object);

/* The value of an open attribute now. Pushes an error and returns NULL when it has been deleted, or
   has another size. Borrowed until the next change of the file. */
const vol_attr *vol_attr_ids_get(const vol_object *object);

/* An attribute has got another name, or has been deleted. */
void vol_attr_ids_rename(vol_node *owner, const char *from, const char *to);
void vol_attr_ids_orphan(vol_node *owner, const char *name);

/* Reads an open attribute into the program's memory. */
herr_t vol_attr_read(const vol_object *object, hid_t mem_type, void *buffer, hid_t dxpl);

#endif
