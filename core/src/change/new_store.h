/* SPDX-License-Identifier: MIT */
/* New stores over a backend that is there already. */
#ifndef ZB_CHANGE_NEW_STORE_H
#define ZB_CHANGE_NEW_STORE_H

#include <stdbool.h>

#include "zarrbridge/sys/hierarchy.h"

/* The hierarchy over a store, whose reference it takes over. Its documents are staged
   (hierarchy/staged.h) where there is nothing yet in the store, or what a killed program has
   left, which is erased. */
enum zb_code zb__new_store_over(zb_store *store, zb_hierarchy **out, zb_error *err);

/* Keeps a new directory store, which would come to its place with its first node, out of sight
   until zb__new_store_show: what many calls make appears in one step. False where that is not to be
   had: the store has come, or is of another kind. */
bool zb__new_store_hide(zb_hierarchy *hierarchy);

/* After zb__new_store_hide was true. What is there comes, as durable as documents are to be;
   nothing does after an error, which is returned. */
enum zb_code zb__new_store_show(zb_hierarchy *hierarchy, enum zb_code code, zb_error *err);

#endif
