/* SPDX-License-Identifier: MIT */
#include "node/current.h"

#include "types/values.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "codec/pipeline.h"
#include "hierarchy/consolidated_cache.h"
#include "hierarchy/metadata.h"
#include "hierarchy/path.h"
#include "hierarchy/staged.h"
#include "hierarchy/version.h"
#include "node/document.h"
#include "node/node.h"
#include "node/open.h"
#include "node/version.h"
#include "util/clock.h"
#include "zarrbridge/array.h"
#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

/* ---- Versions of a document --------------------------------------------------------------- */

static char *document_key(const zb_node *node) {
    return zb__path_join(node->path, node->format == 2 ? ".zarray" : "zarr.json");
}

enum zb_code zb__document_stat(const zb_node *node, uint64_t known, zb_object_info *info,
                               zb_error *err) {
    char *key = document_key(node);
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "no memory for a key");
    zb_probe probe = {.asks = ZB_ASK_INFO_AGAIN, .name = key};
    enum zb_code code =
        known ? zb_store_probe(zb__place_of(node->hierarchy, key), &probe, err) : ZB_OK;
    if (!code && (!known || zb__version_word(&probe.info.validator) != known)) {
        probe.asks = ZB_ASK_INFO;
        code = zb_store_probe(zb__place_of(node->hierarchy, key), &probe, err);
    }
    *info = probe.info;
    free(key);
    return code;
}

enum zb_code zb__document_stands(const zb_node *node, zb_error *err) {
    char *key = document_key(node);
    const enum zb_code code = key ? zb_store_stands(zb__place_of(node->hierarchy, key), key, err)
                                  : zb_fail(err, ZB_ENOMEM, "no memory for a key");
    free(key);
    return code;
}

/* ---- Form --------------------------------------------------------------------------------- */

static bool same_storage_layout(const zb__array *a, const zb__array *b) {
    const zb_array_info *x = &a->info, *y = &b->info;
    return x->ndim == y->ndim && zb_dtype_equal(x->dtype, y->dtype) &&
           zb__grid_same(&a->grid, &b->grid) &&
           zb__values_equal(x->dtype, x->fill_value, y->fill_value) &&
           zb__keys_same(&a->keys, &b->keys) && zb__pipeline_same(a->pipeline, b->pipeline);
}

bool zb__array_has_layout_of(const zb_node *a, const zb_node *b) {
    return a->format == b->format && same_storage_layout(a->array, b->array);
}

bool zb__array_is_same(const zb_node *a, const zb_node *b) {
    const bool known = a->home && b->home;
    return a->array && b->array && a->hierarchy == b->hierarchy && strcmp(a->path, b->path) == 0 &&
           (!known || a->home == b->home) && zb__array_has_layout_of(a, b);
}

enum zb_code zb__array_gone(const zb_node *node, zb_error *err) {
    return zb_fail(err, ZB_ECONFLICT,
                   "store %s: /%s has been deleted or moved since it was opened; open it again",
                   node->hierarchy->store->label, node->path);
}

static enum zb_code replaced(const zb_node *node, zb_error *err) {
    return zb_fail(err, ZB_ECONFLICT,
                   "store %s: another node has taken the place of /%s since it was opened; open it "
                   "again",
                   node->hierarchy->store->label, node->path);
}

zb_home zb__node_home(const zb_node *node) {
    return (zb_home){.identity = node->home, .length = strlen(node->path)};
}

/* One that is moved away and back all the time counts as gone. */
bool zb__node_is_back(const zb_node *node, unsigned *tries, zb_error *err) {
    enum { TRIES = 16 };
    if (err->sys_errno != ESTALE)
        return false;
    const uint64_t home = zb_store_identify(node->hierarchy->store, node->path);
    if (home == node->home && ++*tries < TRIES)
        return true;
    if (home && home != node->home)
        replaced(node, err);
    else
        zb__array_gone(node, err);
    return false;
}

enum zb_code zb__node_still(const zb_node *node, zb_error *err) {
    uint64_t home = zb_store_identify(node->hierarchy->store, node->path);
    return home && node->home && home != node->home ? replaced(node, err) : ZB_OK;
}

/* The version of a file is told by its time stamps, which hardly ever tell it just after a put: in
   a tree of files it is not asked for. */
void zb__node_mark_new(zb_node *node) {
    char *key = zb_store_is_tree(node->hierarchy->store) ? NULL : document_key(node);
    zb_probe probe = {.asks = ZB_ASK_INFO_AGAIN, .name = key};
    if (key)
        (void)zb_store_probe(zb__place_of(node->hierarchy, key), &probe, NULL);
    free(key);
    zb__node_mark_version(node, zb_store_identify(node->hierarchy->store, node->path), &probe.info);
}

enum zb_code zb__array_now(const zb_node *node, zb_node **now, zb_object_info *info, char **text,
                           size_t *size, zb_error *err) {
    char *own;
    size_t own_size;
    int format;
    *now = NULL;
    enum zb_code code =
        zb__node_read_any(node->hierarchy, node->path, &own, &own_size, info, &format, err);
    if (code == ZB_ENOTFOUND)
        return zb__array_gone(node, err);
    if (code)
        return zb__node_add_context(node->hierarchy, "array", node->path, code, err);
    code = zb__node_still(node, err);
    if (!code)
        code = zb__node_make(node->hierarchy, node->path, own, own_size, now, err);
    if (!code)
        (*now)->format = format;
    if (!code && !(format == node->format && (*now)->array &&
                   same_storage_layout((*now)->array, node->array)))
        code = replaced(node, err);
    if (!code && text) {
        *text = own;
        *size = own_size;
    } else {
        free(own);
    }
    if (!code) {
        (*now)->home = node->home;
        return ZB_OK;
    }
    zb_node_release(*now);
    *now = NULL;
    return code;
}

void zb__array_note_missing(const zb_node *node) {
    atomic_store(&((zb_node *)node)->lacks, true);
}

/* A server that has lost the store says the same of each object. Its word that a chunk is missing
   counts while the document was there not long ago. Until an answer is there, each read asks. */
static enum zb_code still_answered(zb_node *node, zb_error *err) {
    const int64_t moment = zb__now();
    if (!atomic_load(&node->lacks) ||
        moment - atomic_load(&node->asked) < node->hierarchy->store->hints.fresh)
        return ZB_OK;
    char *key = node->is_cached_block ? zb__cached_block_key(node->hierarchy, node->path)
                                      : document_key(node);
    zb_probe probe = {.asks = ZB_ASK_NAME, .name = key};
    const enum zb_code code =
        key ? zb_store_probe(zb__place_of(node->hierarchy, key), &probe, err) : ZB_OK;
    free(key);
    if (code)
        return code == ZB_ENOTFOUND
                   ? zb__array_gone(node, err)
                   : zb__node_add_context(node->hierarchy, "array", node->path, code, err);
    atomic_store(&node->asked, moment);
    return ZB_OK;
}

enum zb_code zb_array_still(const zb_node *node, zb_error *err) {
    zb_object_info info;
    if (!node->hierarchy->store->hints.is_watched)
        return still_answered((zb_node *)node, err);
    if (node->is_cached_block)
        return zb__cached_block_stands(node->hierarchy, node->path) ? ZB_OK
                                                                    : zb__array_gone(node, err);
    const uint64_t seen = atomic_load(&((zb_node *)node)->seen);
    enum zb_code code = zb__document_stat(node, seen, &info, err);
    if (code)
        return code == ZB_ENOTFOUND
                   ? zb__array_gone(node, err)
                   : zb__node_add_context(node->hierarchy, "array", node->path, code, err);
    if (seen && seen == zb__version_word(&info.validator))
        return ZB_OK;
    zb_node *now;
    code = zb__array_now(node, &now, &info, NULL, NULL, err);
    if (!code)
        atomic_store(&((zb_node *)node)->seen, zb__version_word(&info.validator));
    zb_node_release(now);
    return code;
}

/* ---- Opening again ------------------------------------------------------------------------ */

enum zb_code zb_node_refresh(const zb_node *node, zb_node **out, zb_error *err) {
    if (zb__metadata_pays(node->hierarchy))
        zb__metadata_clear(node->hierarchy);
    return zb__node_open_own(node->hierarchy, node->path, out, err);
}
