/* SPDX-License-Identifier: MIT */
/* The places of hidden arrays (zarrbridge/change.h). */
#ifndef ZB_CHANGE_HIDDEN_H
#define ZB_CHANGE_HIDDEN_H

#include "zarrbridge/node.h"

/* The path of the owner's hidden array of that name; malloc'ed. ZB_EINVAL for a name that is
   none. */
enum zb_code zb__hidden_path(const zb_node *owner, const char *name, char **out, zb_error *err);

#endif
