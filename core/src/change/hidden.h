/* SPDX-License-Identifier: MIT */
/* The places of hidden arrays (zarrbridge/change.h). */
#ifndef ZB_CHANGE_HIDDEN_H
#define ZB_CHANGE_HIDDEN_H

#include <stdbool.h>

#include "zarrbridge/node.h"

/* The path of the owner's hidden array of that name; malloc'ed. ZB_EINVAL for a name that is
   none. */
enum zb_code zb__hidden_path(const zb_node *owner, const char *name, char **out, zb_error *err);

/* Is it a name as the HDF5 connector gives to the hidden arrays of attributes? Nothing in such a
   name is escaped in JSON. */
bool zb__hidden_is_of_attribute(const char *name);

#endif
