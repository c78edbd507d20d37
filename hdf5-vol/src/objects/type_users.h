/* SPDX-License-Identifier: MIT */
/*
 * The users of a committed datatype: the datasets and the attributes that were made with it, which
 * HDF5 counts among the references of its object.
 *
 * A store keeps the way from a user to its type alone (objects/committed_types.h), so one walk over
 * all nodes finds the users of all types. What it has found counts until this process changes the
 * tree or an attribute.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_OBJECTS_TYPE_USERS_H
#define ZARRBRIDGE_HDF5_VOL_OBJECTS_TYPE_USERS_H

#include "tree/tree.h"

/* The users of a type, by its name alone: what was made with another one of that name counts, too.
   0 for other nodes, in distant stores, where the walk would ask for each document, and in files
   with netCDF's dimensions, which keep all that they open. Nodes that cannot be read use nothing.
   Nodes without a pin may go. */
unsigned vol_type_users(vol_node *type);

#endif
