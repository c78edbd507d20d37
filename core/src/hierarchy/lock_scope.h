/* SPDX-License-Identifier: MIT */
/* The lock of a hierarchy, under which its documents are changed, held for one change or for a
   whole lock scope (zb_lock_scope_begin). */
#ifndef ZB_HIERARCHY_LOCK_SCOPE_H
#define ZB_HIERARCHY_LOCK_SCOPE_H

#include "zarrbridge/hierarchy.h"
#include "zarrbridge/sys/store.h"

/* Takes the lock under which all documents of the hierarchy are changed. *out is NULL for a store
   that is not shared, and in a lock scope, which has it. ZB_EUNSUPPORTED when the store cannot be
   written, or locks cannot be had. */
enum zb_code zb__hierarchy_lock(zb_hierarchy *hierarchy, zb_lock **out, zb_error *err);

/* Lets go of that lock, NULL or not, and frees what was erased under it. Returns code, or the error
   of freeing where that is ZB_OK. */
enum zb_code zb__hierarchy_unlock(zb_lock *lock, enum zb_code code, zb_error *err);

#endif
