/* SPDX-License-Identifier: MIT */
/*
 * Finding what is wrong in a store. The walk hands chunks on in batches, which the threads of the
 * pool decode; the walk itself checks everything else.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check/consolidated.h"
#include "check/object.h"
#include "check/walk.h"
#include "hierarchy/markers.h"
#include "hierarchy/path.h"
#include "node/bare.h"
#include "node/node.h"
#include "util/pool.h"
#include "util/scratch.h"
#include "util/wait.h"
#include "zarrbridge/check.h"
#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

/* Objects that are checked together. */
#define BATCH 256

typedef struct pending {
    zb_node *array;
    char *key;
    uint64_t index[ZB_MAX_NDIM];
} pending;

typedef struct verifying {
    zb_hierarchy *hierarchy;
    zb_finding_fn fn;
    void *context;
    pthread_mutex_t lock; /* guards all below but the batch */
    zb_verify_summary summary;
    bool stopped; /* the caller has seen enough */
    pending batch[BATCH];
    size_t count;
} verifying;

const char *zb_finding_name(enum zb_finding_kind kind) {
    static const char *const names[] = {
        [ZB_FINDING_DAMAGED] = "damaged",     [ZB_FINDING_TRUNCATED] = "truncated",
        [ZB_FINDING_ORPHANED] = "orphaned",   [ZB_FINDING_STALE] = "stale",
        [ZB_FINDING_UNCHECKED] = "unchecked", [ZB_FINDING_FOREIGN] = "foreign"};
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

static enum zb_code report(verifying *v, enum zb_finding_kind kind, const char *key,
                           const char *message) {
    zb_finding finding = {.kind = kind, .key = key, .message = message};
    pthread_mutex_lock(&v->lock);
    if (!v->stopped) {
        ++*(kind == ZB_FINDING_FOREIGN ? &v->summary.foreign : &v->summary.findings);
        v->stopped = v->fn(v->context, &finding) != 0;
    }
    bool stopped = v->stopped;
    pthread_mutex_unlock(&v->lock);
    return stopped ? ZB_ECANCELLED : ZB_OK;
}

/* ---- Chunks ------------------------------------------------------------------------------- */

typedef struct checking {
    verifying *v;
    const pending *p;
} checking;

static enum zb_code found(void *context, enum zb_finding_kind kind, const zb_error *what) {
    const checking *c = context;
    return report(c->v, kind, c->p->key, what->message);
}

static enum zb_code check_one(void *context, size_t i, zb__scratch *scratch, zb_error *err) {
    verifying *v = context;
    checking c = {.v = v, .p = &v->batch[i]};
    zb__object_check check = {.context = &c, .found = found};
    enum zb_code code = zb__object_check_run(&check, c.p->array, c.p->index, scratch, err);
    /* Errors of opening the object; most of those of reading it are reported already. No object
       ends the walk, whatever is in its place. */
    if (code && !zb__is_of_call(code))
        code = report(v,
                      code == ZB_ELIMIT || zb__object_is_out_of_reach(v->hierarchy, err)
                          ? ZB_FINDING_UNCHECKED
                          : ZB_FINDING_DAMAGED,
                      c.p->key, err->message);
    pthread_mutex_lock(&v->lock);
    v->summary.objects += check.is_there;
    v->summary.inner_chunks += check.inner_chunks;
    v->summary.bytes += check.bytes;
    pthread_mutex_unlock(&v->lock);
    zb__hierarchy_chunk_done(v->hierarchy);
    return code;
}

static void drop_batch(verifying *v) {
    for (size_t i = 0; i < v->count; i++) {
        zb_node_release(v->batch[i].array);
        free(v->batch[i].key);
    }
    v->count = 0;
}

static enum zb_code run_batch(verifying *v, zb_error *err) {
    enum zb_code code = zb__pool_run(check_one, v, v->count, 0, err);
    drop_batch(v);
    return code;
}

static enum zb_code on_chunk(void *context, const zb_node *array, const char *key,
                             const uint64_t *index, zb_error *err) {
    verifying *v = context;
    char *copy = strdup(key);
    if (!copy)
        return zb_fail(err, ZB_ENOMEM, "no memory for a key");
    pending *p = &v->batch[v->count++];
    *p = (pending){.array = zb_node_retain((zb_node *)array), .key = copy};
    memcpy(p->index, index, array->array->info.ndim * sizeof *index);
    return v->count == BATCH ? run_batch(v, err) : ZB_OK;
}

/* ---- All else ----------------------------------------------------------------------------- */

typedef struct sweeping {
    verifying *v;
    const char *prefix;
    enum zb_code code;
} sweeping;

static int on_left_over(void *context, const zb_list_entry *entry) {
    sweeping *s = context;
    char *key = zb__path_join(s->prefix, entry->name);
    if (!key)
        return s->code = ZB_ENOMEM;
    s->code = report(s->v, ZB_FINDING_STALE, key, "left by a writer that was killed");
    free(key);
    return s->code;
}

static enum zb_code on_directory(void *context, const char *prefix, zb_error *err) {
    verifying *v = context;
    sweeping s = {.v = v, .prefix = prefix};
    enum zb_code code =
        zb_store_sweep(v->hierarchy->store, prefix, ZB_SWEEP_TELL, on_left_over, &s, err);
    return code ? code : s.code;
}

/* A writer stores the array before the attribute: it may still be at work. */
static enum zb_code check_named(verifying *v, const zb_node *array, zb_error *err) {
    bool is_unnamed;
    enum zb_code code = zb__unnamed_is(v->hierarchy, array, &is_unnamed, err);
    if (code || !is_unnamed)
        return code;
    return report(v, ZB_FINDING_STALE, array->path,
                  "no attribute names this hidden array: its writer was killed, or has not stored "
                  "the attribute yet; repairing deletes it a day later");
}

static enum zb_code on_node(void *context, const zb_node *node, zb_error *err) {
    verifying *v = context;
    char why[ZB_MESSAGE_SIZE];
    v->summary.nodes++;
    if (node->array)
        return check_named(v, node, err);
    if (!v->hierarchy->store->hints.can_list) /* the names in the block are all that is known */
        return ZB_OK;
    const bool says_all = zb__group_says_all(node);
    enum zb_code code = zb__consolidated_compare(node, why, err);
    if (code || (!*why && !says_all))
        return code;
    char *key = zb__path_join(node->path, "zarr.json");
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "no memory for a key");
    code = says_all
               ? report(v, ZB_FINDING_UNCHECKED, key,
                        "only the consolidated metadata describes the nodes below: the store has "
                        "no document of any of them")
               : report(v, ZB_FINDING_STALE, key, why);
    free(key);
    return code;
}

static enum zb_code on_journal(void *context, const zb_node *array, const char *key,
                               zb_error *err) {
    (void)array;
    char *name = zb__journal_key(key);
    if (!name)
        return zb_fail(err, ZB_ENOMEM, "no memory for a key");
    enum zb_code code = report(context, ZB_FINDING_STALE, name,
                               "the journal of a change that was killed: repairing undoes it");
    free(name);
    return code;
}

static enum zb_code on_resizing(void *context, const zb_node *array, const char *key,
                                zb_error *err) {
    (void)array;
    (void)err;
    return report(context, ZB_FINDING_STALE, key, "shrinking the array was killed half-way");
}

static enum zb_code on_other(void *context, enum zb_finding_kind kind, const char *key,
                             const char *message, zb_error *err) {
    (void)err;
    return report(context, kind, key, message);
}

enum zb_code zb_hierarchy_verify(zb_hierarchy *hierarchy, zb_finding_fn fn, void *context,
                                 zb_verify_summary *summary, zb_error *err) {
    verifying *v = calloc(1, sizeof *v);
    if (!v)
        return zb_fail(err, ZB_ENOMEM, "no memory for verifying a store");
    v->hierarchy = hierarchy;
    v->fn = fn;
    v->context = context;
    pthread_mutex_init(&v->lock, NULL);
    const zb__visitor visitor = {.context = v,
                                 .directory = on_directory,
                                 .node = on_node,
                                 .chunk = on_chunk,
                                 .journal = on_journal,
                                 .resizing = on_resizing,
                                 .other = on_other};
    bool is_missing = false;
    enum zb_code code = hierarchy->store->hints.can_list
                            ? zb__check_walk(hierarchy, &visitor, &is_missing, err)
                            : zb__check_walk_named(hierarchy, &visitor, err);
    if (code == ZB_OK)
        code = run_batch(v, err);
    if (code == ZB_OK && is_missing && v->summary.findings == 0)
        code = zb__check_missing(hierarchy, err);
    drop_batch(v);
    if (summary)
        *summary = v->summary;
    code = v->stopped && code == ZB_ECANCELLED ? ZB_OK : code;
    pthread_mutex_destroy(&v->lock);
    free(v);
    return code;
}
