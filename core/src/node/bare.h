/* SPDX-License-Identifier: MIT */
/* Groups below which the store has no document at all. */
#ifndef ZB_NODE_BARE_H
#define ZB_NODE_BARE_H

#include <stdbool.h>

#include "zarrbridge/sys/store.h"

/* True if no name right below the group holds a document: what consolidated metadata say of its
   children is then all that there is. False where that cannot be told. */
bool zb__group_is_bare(zb_store *store, const char *path);

#endif
