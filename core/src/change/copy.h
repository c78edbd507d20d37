/* SPDX-License-Identifier: MIT */
/* Copying nodes of version 3. */
#ifndef ZB_CHANGE_COPY_H
#define ZB_CHANGE_COPY_H

#include "zarrbridge/store.h"

/* zb_node_copy for hierarchies that have no node of version 2. */
enum zb_code zb__copy_as_it_is(zb_store *from, const char *from_path, zb_store *to,
                               const char *to_path, zb_error *err);

#endif
