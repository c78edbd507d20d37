/* SPDX-License-Identifier: MIT */
/* Hidden arrays of attributes that no attribute names. */
#ifndef ZB_CHECK_UNNAMED_H
#define ZB_CHECK_UNNAMED_H

#include <stdbool.h>

#include "zarrbridge/node.h"

/* Whether `node` is a hidden array of an attribute, and its owner, by the document that is stored
   now, does not name it in any attribute. False where the owner cannot be read: nobody knows
   then. */
enum zb_code zb__unnamed_is(zb_hierarchy *hierarchy, const zb_node *node, bool *is, zb_error *err);

#endif
