/* SPDX-License-Identifier: MIT */
/*
 * One lock for the whole hierarchy, that of the root's document, keeps changes in line: an
 * operation looks at groups above, puts or erases several documents, and a finer lock would have to
 * cover all of those. Changes are short, except for those that erase many chunks where a tree
 * cannot be moved out of sight; where it can, its files are unlinked when the lock has gone.
 *
 * A turn holds the lock over several operations of a thread, each of which finds that it is held.
 *
 * Where a store should have locks and gives none (some network file systems), changes are refused:
 * two processes that change one hierarchy at once would lose changes of documents in silence.
 */
#include "change/hierarchy.h"

#include <stdlib.h>

#include "node/node.h"
#include "node/path.h"
#include "store/state.h"
#include "zarrbridge/change.h"

enum zb_code zb__hierarchy_lock(zb_store *store, zb_lock **out, zb_error *err) {
    *out = NULL;
    if (!store->ops->put)
        return zb__store_fail_read_only(store, err);
    if (!store->ops->lock || zb__store_has_turn(store)) /* a store that is not shared */
        return ZB_OK;
    enum zb_code code = zb_store_lock(store, "zarr.json", out, err);
    if (code == ZB_EUNSUPPORTED)
        zb_error_prefix(err, code, "without a lock documents cannot be changed safely");
    return code ? zb_error_prefix(err, code, "store %s", store->label) : ZB_OK;
}

/* A store around another one has erased in the one that the lock is of. */
enum zb_code zb__hierarchy_unlock(zb_lock *lock, enum zb_code code, zb_error *err) {
    if (!lock)
        return code;
    zb_store *store = lock->store;
    zb_store_unlock(lock);
    const enum zb_code finished =
        zb_store_sweep(store, "", ZB_SWEEP_ERASED, NULL, NULL, code ? NULL : err);
    return code ? code : finished;
}

/* A store around another one has that one's lock: both know of the turn. */
enum zb_code zb_turn_begin(zb_store *store, zb_turn *turn, zb_error *err) {
    zb_lock *lock;
    enum zb_code code = zb__hierarchy_lock(store, &lock, err);
    turn->lock = code ? NULL : lock;
    if (!turn->lock)
        return code;
    zb__store_set_turn(store, true);
    zb__store_set_turn(lock->store, true);
    return ZB_OK;
}

enum zb_code zb_turn_end(zb_store *store, zb_turn *turn, enum zb_code code, zb_error *err) {
    zb_lock *lock = turn->lock;
    if (!lock)
        return code;
    zb__store_set_turn(lock->store, false);
    zb__store_set_turn(store, false);
    turn->lock = NULL;
    return zb__hierarchy_unlock(lock, code, err);
}

/* put: with the key, the parts, and what is special. */
static enum zb_code put_as(zb_store *store, zb_put put, zb_error *err) {
    put.sync = zb__store_sync(store);
    put.in_order = true;
    return zb_store_put_as(store, &put, err);
}

enum zb_code zb__document_put(zb_store *store, const char *key, const void *data, size_t size,
                              zb_error *err) {
    const zb_part part = {.data = data, .size = size};
    return put_as(store, (zb_put){.key = key, .parts = &part, .count = 1}, err);
}

static enum zb_code put_node(zb_store *store, const char *path, zb_put put, zb_error *err) {
    char *key = zb__path_join(path, "zarr.json");
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    put.key = key;
    enum zb_code code = put_as(store, put, err);
    free(key);
    return code ? zb__node_blame(store, "node", path, code, err) : ZB_OK;
}

enum zb_code zb__node_put(zb_store *store, const char *path, const char *text, size_t size,
                          zb_error *err) {
    const zb_part part = {.data = text, .size = size};
    return zb__node_put_parts(store, path, &part, 1, err);
}

enum zb_code zb__node_put_parts(zb_store *store, const char *path, const zb_part *parts,
                                size_t count, zb_error *err) {
    return put_node(store, path, (zb_put){.parts = parts, .count = count}, err);
}

enum zb_code zb__node_put_first(zb_store *store, const char *path, const char *text, size_t size,
                                zb_error *err) {
    const zb_part part = {.data = text, .size = size};
    return put_node(store, path,
                    (zb_put){.parts = &part, .count = 1, .expected = ZB_EXPECT_NOTHING}, err);
}
