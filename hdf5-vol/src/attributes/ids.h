/* SPDX-License-Identifier: MIT */
/*
 * The open ids of a node's attributes. An id goes on meaning the attribute that it was opened for:
 * it follows a new name, and when the attribute is deleted, another one of its name is not it.
 *
 * It also remembers how many elements the attribute had, since the program made its buffer for that
 * many: when another process has made an attribute of another size under the name, and a refresh
 * shows it, reading would overflow the buffer.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_IDS_H
#define ZARRBRIDGE_HDF5_VOL_ATTRIBUTES_IDS_H

#include "attributes/attributes.h"
#include "objects/object.h"

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

#endif
