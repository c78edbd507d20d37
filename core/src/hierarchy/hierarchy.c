/* SPDX-License-Identifier: MIT */
#include "hierarchy/hierarchy.h"

#include <stdlib.h>

#include "hierarchy/consolidated_cache.h"
#include "util/wait.h"

static atomic_uint_fast64_t next_number = 1;

/* ---- Opening ------------------------------------------------------------------------------ */

enum zb_code zb_hierarchy_over(zb_store *store, zb_hierarchy **out, zb_error *err) {
    zb_hierarchy *hierarchy = calloc(1, sizeof *hierarchy);
    if (!hierarchy) {
        zb_store_release(store);
        return zb_fail(err, ZB_ENOMEM, "no memory for a hierarchy");
    }
    atomic_init(&hierarchy->refs, 1);
    atomic_init(&hierarchy->sync, ZB_SYNC_NONE);
    hierarchy->store = store;
    hierarchy->number = atomic_fetch_add(&next_number, 1);
    hierarchy->kinds = ZB_ALL_KINDS;
    *out = hierarchy;
    return ZB_OK;
}

enum zb_code zb_hierarchy_open(const char *name, zb_hierarchy **out, zb_error *err) {
    return zb_hierarchy_open_with(name, &(zb_store_settings){.options = NULL}, out, err);
}

enum zb_code zb_hierarchy_open_with(const char *name, const zb_store_settings *settings,
                                    zb_hierarchy **out, zb_error *err) {
    zb_store *store;
    enum zb_code code = zb_store_open_with(name, settings, &store, err);
    return code ? code : zb_hierarchy_over(store, out, err);
}

enum zb_code zb_hierarchy_new_mem(const char *label, zb_hierarchy **out, zb_error *err) {
    zb_store *store;
    enum zb_code code = zb_store_new_mem(label, &store, err);
    return code ? code : zb_hierarchy_over(store, out, err);
}

/* ---- References --------------------------------------------------------------------------- */

zb_hierarchy *zb_hierarchy_retain(zb_hierarchy *hierarchy) {
    atomic_fetch_add_explicit(&hierarchy->refs, 1, memory_order_relaxed);
    return hierarchy;
}

/* What was left to a flush, or to the commit, is done now. It uses the hierarchy, so that this has
   a reference again. Nobody is left to be told of errors. */
static void finish(zb_hierarchy *hierarchy) {
    zb__write_back *write_back = atomic_load(&hierarchy->write_back);
    zb_commit *commit = hierarchy->commit;
    if (!write_back && !commit)
        return;
    zb__stop_no_more();
    atomic_store(&hierarchy->refs, 1);
    if (write_back)
        (void)write_back->run(hierarchy, NULL);
    if (commit) {
        (void)commit->run(commit, hierarchy, NULL);
        commit->end(commit);
    }
    if (write_back)
        write_back->free(write_back);
}

void zb_hierarchy_release(zb_hierarchy *hierarchy) {
    if (!hierarchy || atomic_fetch_sub_explicit(&hierarchy->refs, 1, memory_order_acq_rel) != 1)
        return;
    finish(hierarchy);
    zb__cached_block_release(hierarchy->metadata.cached_block);
    zb__metadata_clear(hierarchy);
    zb_store_release(hierarchy->store);
    free(hierarchy);
}

/* ---- What it is, and what holds for it ---------------------------------------------------- */

zb_store *zb_hierarchy_store(const zb_hierarchy *hierarchy) {
    return hierarchy->store;
}

bool zb_hierarchy_is_local(const zb_hierarchy *hierarchy) {
    return hierarchy->store->hints.is_local;
}

bool zb_hierarchy_can_list(const zb_hierarchy *hierarchy) {
    return hierarchy->store->hints.can_list;
}

/* Never less safe than before. */
void zb_hierarchy_set_sync(zb_hierarchy *hierarchy, enum zb_sync sync) {
    int now = atomic_load(&hierarchy->sync);
    while ((int)sync > now && !atomic_compare_exchange_weak(&hierarchy->sync, &now, (int)sync))
        ;
}

void zb_hierarchy_tell_chunks(zb_hierarchy *hierarchy, zb_chunk_done_fn fn, void *context) {
    hierarchy->chunk_done = fn;
    hierarchy->chunk_context = context;
}

void zb_hierarchy_trust_list(zb_hierarchy *hierarchy, bool trusts) {
    hierarchy->trusts_list = trusts && !hierarchy->store->hints.is_local;
}

void zb_hierarchy_set_kinds(zb_hierarchy *hierarchy, unsigned kinds) {
    hierarchy->kinds = kinds;
}

void zb_hierarchy_set_commit(zb_hierarchy *hierarchy, zb_commit *commit) {
    hierarchy->commit = commit;
}

/* ---- Ends of changes ---------------------------------------------------------------------- */

enum zb_code zb_hierarchy_write_back(zb_hierarchy *hierarchy, zb_error *err) {
    zb__write_back *write_back = atomic_load(&hierarchy->write_back);
    if (!write_back)
        return ZB_OK;
    zb__stop_no_more();
    return write_back->run(hierarchy, err);
}

enum zb_code zb_hierarchy_commit(zb_hierarchy *hierarchy, zb_error *err) {
    zb_commit *commit = hierarchy->commit;
    enum zb_code code = zb_hierarchy_write_back(hierarchy, err);
    if (code || !commit)
        return code;
    zb__stop_no_more();
    return commit->run(commit, hierarchy, err);
}

/* Also when settling fails: the rest is to be durable. */
enum zb_code zb_hierarchy_flush(zb_hierarchy *hierarchy, zb_error *err) {
    zb_error other;
    enum zb_code written_back = zb_hierarchy_write_back(hierarchy, err);
    enum zb_code code = zb_store_flush(hierarchy->store, written_back ? &other : err);
    return written_back ? written_back : code;
}
