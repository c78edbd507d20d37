/* SPDX-License-Identifier: MIT */
/* Changing the attributes of a node, as they are stored. */
#ifndef ZARRBRIDGE_HDF5_VOL_WAITING_EDIT_ATTRIBUTE_H
#define ZARRBRIDGE_HDF5_VOL_WAITING_EDIT_ATTRIBUTE_H

#include "tree/structs.h"

#include "zarrbridge/zarrbridge.h"

/* Sets an attribute to a JSON text, or removes it (NULL; ZB_ENOTFOUND when there is none), with its
   entry in side.h (JSON; NULL: it has none). The change waits (waiting.h). The node's list of
   attributes is out of date afterwards. */
enum zb_code vol_edit_attribute(vol_node *node, const char *name, const char *json,
                                const char *entry, zb_error *err);

#endif
