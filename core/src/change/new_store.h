/* SPDX-License-Identifier: MIT */
/* New stores over a backend that is there already. */
#ifndef ZB_CHANGE_NEW_STORE_H
#define ZB_CHANGE_NEW_STORE_H

#include "zarrbridge/sys/hierarchy.h"

/* The hierarchy over a store, whose reference it takes over. Its documents are staged
   (hierarchy/staged.h) where there is nothing yet in the store, or what a killed program has
   left, which is erased. */
enum zb_code zb__new_store_over(zb_store *store, zb_hierarchy **out, zb_error *err);

#endif
