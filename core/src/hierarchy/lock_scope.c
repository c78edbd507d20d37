/* SPDX-License-Identifier: MIT */
/*
 * One lock for the whole hierarchy, that of the root's document, keeps changes in line: an
 * operation looks at groups above, puts or erases several documents, and a finer lock would have to
 * cover all of those. Changes are short, except for those that erase many chunks where a tree
 * cannot be moved out of sight; where it can, its files are unlinked when the lock has gone.
 *
 * A lock scope holds the lock over several operations of a thread, each of which finds that it is
 * held. In a child of fork() the lock scope of a thread that is not there stays noted, as nobody's.
 *
 * Where a store should have locks and gives none (some network file systems), changes are refused:
 * two processes that change one hierarchy at once would lose changes of documents in silence.
 */
#include "hierarchy/lock_scope.h"

#include "hierarchy/hierarchy.h"
#include "store/store.h"

static bool has_lock_scope(const zb_hierarchy *hierarchy) {
    return atomic_load(&hierarchy->lock_scope) == zb__thread_id();
}

enum zb_code zb__hierarchy_lock(zb_hierarchy *hierarchy, zb_lock **out, zb_error *err) {
    zb_store *store = hierarchy->store;
    *out = NULL;
    if (!store->ops->put)
        return zb__store_fail_read_only(store, err);
    if (!store->ops->lock || has_lock_scope(hierarchy)) /* a store that is not shared */
        return ZB_OK;
    enum zb_code code = zb_store_lock(store, "zarr.json", out, err);
    if (code == ZB_EUNSUPPORTED)
        zb_error_prefix(err, code, "without a lock documents cannot be changed safely");
    return code ? zb_error_prefix(err, code, "store %s", store->label) : ZB_OK;
}

enum zb_code zb__hierarchy_unlock(zb_lock *lock, enum zb_code code, zb_error *err) {
    if (!lock)
        return code;
    zb_store *store = lock->store;
    zb_store_unlock(lock);
    const enum zb_code finished =
        zb_store_sweep(store, "", ZB_SWEEP_ERASED, NULL, NULL, code ? NULL : err);
    return code ? code : finished;
}

enum zb_code zb_lock_scope_begin(zb_hierarchy *hierarchy, zb_lock_scope *lock_scope,
                                 zb_error *err) {
    zb_lock *lock;
    enum zb_code code = zb__hierarchy_lock(hierarchy, &lock, err);
    lock_scope->lock = code ? NULL : lock;
    if (lock_scope->lock)
        atomic_store(&hierarchy->lock_scope, zb__thread_id());
    return code;
}

enum zb_code zb_lock_scope_end(zb_hierarchy *hierarchy, zb_lock_scope *lock_scope,
                               enum zb_code code, zb_error *err) {
    zb_lock *lock = lock_scope->lock;
    if (!lock)
        return code;
    atomic_store(&hierarchy->lock_scope, 0);
    lock_scope->lock = NULL;
    return zb__hierarchy_unlock(lock, code, err);
}
