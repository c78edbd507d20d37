/* SPDX-License-Identifier: MIT */
/*
 * Creating groups and arrays. The document is built and parsed before anything is touched, so that
 * a specification that does not work leaves no trace.
 */
#include "change/create.h"

#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "array/build.h"
#include "change/change.h"
#include "change/copy_marker.h"
#include "change/hidden.h"
#include "change/remove.h"
#include "codec/chunk_layout.h"
#include "hierarchy/path.h"
#include "hierarchy/staged.h"
#include "node/current.h"
#include "node/node.h"
#include "node/reserved.h"
#include "node/v2.h"
#include "node/walk.h"
#include "util/wait.h"
#include "zarrbridge/change.h"
#include "zarrbridge/sys/store.h"

static enum zb_code expect_none_below(const zb_node *node, zb_error *err) {
    zb__names nodes;
    enum zb_code code = zb__nodes_at(node->hierarchy, node->path, &nodes, err);
    if (!code && nodes.count > 0)
        code = zb_fail(err, ZB_ECONFLICT, "there is a node below, /%s", nodes.name[0].text);
    zb__names_free(&nodes);
    return code;
}

/* A deletion that was killed leaves chunks without an array. They would look like data of the new
   array, so they are erased first. Other files are the user's, and stay. */
enum zb_code zb__array_clear_place(const zb_node *node, zb_error *err) {
    if (!node->hierarchy->store->hints.can_list)
        return ZB_OK;
    enum zb_code code = expect_none_below(node, err);
    return code ? code : zb__chunks_erase(node, NULL, NULL, err);
}

/* Checks that the place is free, and clears it of what killed changes have left. */
static enum zb_code take_place(zb__change *change, const zb_node *node, zb_error *err) {
    enum zb_code code = zb__change_expect_none(change, node->path, err);
    if (!code)
        code = zb__killed_copy_erase(node->hierarchy, node->path, err);
    if (!code && node->array) {
        code = zb__array_clear_place(node, err);
        if (code)
            zb__node_add_context(node->hierarchy, "array", node->path, code, err);
    }
    return code;
}

/* Puts a node that is not there yet at its place, which is free, and which groups lead to. */
static enum zb_code put(zb__change *change, const zb_node *node, const char *text, size_t size,
                        zb_error *err) {
    enum zb_code code = zb__change_above(change, node->path, true, err);
    if (code)
        return code;
    /* The usual case needs no question: where nothing is, there is no node and no left-over. Else
       one question instead of one for each kind of these. Under the lock, so that none of ours
       comes between. */
    const enum zb_code first = zb__change_put_first(change, node->path, text, size, err);
    if (first != ZB_EUNSUPPORTED && first != ZB_ECONFLICT)
        return first;
    if (first == ZB_ECONFLICT || !zb__change_finds_nothing(change, node->path))
        code = take_place(change, node, err);
    if (!code)
        code = zb__change_drop(change, err);
    if (!code)
        code = zb__change_put_missing(change, err);
    return code ? code : zb__change_put(change, node->path, text, size, err);
}

/* The same for a hidden array. It is no node of the hierarchy: consolidated metadata do not have
   it, and the owner may be an array. */
static enum zb_code put_hidden(zb__change *change, const zb_node *node, const zb_node *owner,
                               const char *text, size_t size, zb_error *err) {
    zb_object_info info;
    enum zb_code code = zb__node_still(owner, err);
    if (!code)
        code = zb__document_stat(owner, 0, &info, err);
    if (code == ZB_ENOTFOUND)
        code = zb_fail(err, ZB_ECONFLICT, "its owner has been deleted");
    if (!code && !zb__is_absent(node->hierarchy, node->path))
        code = zb__change_expect_none(change, node->path, err);
    return code ? code : zb__node_put(node->hierarchy, node->path, text, size, err);
}

/* ---- Without a lock ---- */

static enum zb_code find_chunk(void *context, const char *key, const uint64_t *index,
                               zb_error *err) {
    bool *found = context;
    (void)key, (void)index, (void)err;
    *found = true;
    return ZB_ECANCELLED;
}

/* What killed changes have left stays: chunks without an array may be those of one that another
   program is making. Those have a document by now, for which is asked last. */
static enum zb_code check_place(zb__change *change, const zb_node *node, zb_error *err) {
    bool is_marked = false, has_chunks = false;
    enum zb_code code = zb__copy_marker_find(node->hierarchy, node->path, &is_marked, err);
    if (!code && node->array)
        code = zb__chunks_each(node, find_chunk, &has_chunks, err);
    if (!code || has_chunks)
        code = zb__change_expect_none(change, node->path, err);
    if (!code && (is_marked || has_chunks))
        return zb__change_refuse(
            change, node->path, "what a killed change has left there has to be removed first", err);
    if (code || !node->array)
        return code;
    code = expect_none_below(node, err);
    return code ? zb__node_add_context(node->hierarchy, "array", node->path, code, err) : ZB_OK;
}

static enum zb_code put_unlocked(zb__change *change, const zb_node *node, const char *text,
                                 size_t size, zb_error *err) {
    enum zb_code code = zb__change_above(change, node->path, true, err);
    if (!code && !zb__change_finds_nothing(change, node->path))
        code = check_place(change, node, err);
    if (!code)
        code = zb__change_put_missing(change, err);
    return code ? code : zb__change_put_new(change, node->path, text, size, err);
}

/* ---- Creating ---- */

/* Stores a node that is not there yet; owner: of a hidden array, else NULL. The order of the
   specification: groups above, parents first, then the node. */
static enum zb_code store_node(zb_node *node, const zb_node *owner, const char *text, size_t size,
                               zb_error *err) {
    zb__change change;
    enum zb_code code = owner ? zb__change_begin(node->hierarchy, &change, err)
                              : zb__change_begin_new(node->hierarchy, &change, err);
    if (code)
        return code;
    if (owner)
        code = put_hidden(&change, node, owner, text, size, err);
    else if (change.is_unlocked)
        code = put_unlocked(&change, node, text, size, err);
    else
        code = put(&change, node, text, size, err);
    if (!code)
        zb__node_mark_new(node);
    code = zb__change_end(&change, code, err);
    zb_commit *commit = node->hierarchy->commit;
    if (code || !commit || !commit->comes_at_once)
        return code;
    zb__stop_no_more();
    return commit->run(commit, node->hierarchy, err);
}

/* Parses a new document. */
static enum zb_code parse_new(zb_hierarchy *hierarchy, const char *path, const zb__built *built,
                              zb_node **out, zb_error *err) {
    return zb__as_argument(
        zb__node_make_parsed(hierarchy, path, built->text, built->size, built->json, out, err),
        err);
}

/* Takes over the document. */
static enum zb_code create(zb_hierarchy *hierarchy, const char *path, const zb_node *owner,
                           zb__built built, zb_node **out, zb_error *err) {
    zb_node *node;
    enum zb_code code = parse_new(hierarchy, path, &built, &node, err);
    if (!code && node->array && node->array->is_cut) {
        zb_node_release(node);
        code = zb__node_add_context(
            hierarchy, "array", path,
            zb_fail(err, ZB_EINVAL,
                    "codecs: chunk_shape of sharding_indexed: expected a divisor "
                    "of the shard's extent along each dimension"),
            err);
    }
    const char *reason =
        !code && node->array ? zb__chunk_layout_read_only(node->array->layout) : NULL;
    if (reason) {
        code = zb_fail(err, ZB_EUNSUPPORTED, "%s", reason);
        zb_node_release(node);
    }
    if (!code) {
        code = store_node(node, owner, built.text, built.size, err);
        if (code)
            zb_node_release(node);
        else
            *out = node;
    }
    free(built.text);
    return code;
}

enum zb_code zb__group_create_copy(zb_hierarchy *hierarchy, const char *path,
                                   const char *attributes, zb_node **out, zb_error *err) {
    zb__built built;
    enum zb_code code = zb__path_check_copy(path, err);
    if (!code)
        code = zb__build_group(attributes, &built, err);
    if (code)
        return zb__node_add_context(hierarchy, "group", path, code, err);
    return create(hierarchy, path, NULL, built, out, err);
}

enum zb_code zb__array_create_copy(zb_hierarchy *hierarchy, const char *path,
                                   const zb_array_spec *spec, zb_node **out, zb_error *err) {
    zb__built built;
    enum zb_code code = zb__path_check_copy(path, err);
    if (!code)
        code = zb__build_array(spec, &built, err);
    if (code)
        return zb__node_add_context(hierarchy, "array", path, code, err);
    return create(hierarchy, path, NULL, built, out, err);
}

enum zb_code zb__node_create_copy(zb_hierarchy *hierarchy, const char *path, const char *text,
                                  size_t size, zb_node **out, zb_error *err) {
    zb__built built = {.text = strndup(text, size), .size = size};
    enum zb_code code = zb__path_check_copy(path, err);
    if (!code && !built.text)
        code = zb_fail(err, ZB_ENOMEM, "out of memory for a document");
    if (!code)
        code = zb_json_parse(text, size, &built.json, err);
    if (!code)
        return create(hierarchy, path, NULL, built, out, err);
    free(built.text);
    return zb__node_add_context(hierarchy, "node", path, code, err);
}

enum zb_code zb_group_create(zb_hierarchy *hierarchy, const char *path, const char *attributes,
                             zb_node **out, zb_error *err) {
    enum zb_code code = zb__path_check_new(path, err);
    return code ? zb__node_add_context(hierarchy, "group", path, code, err)
                : zb__group_create_copy(hierarchy, path, attributes, out, err);
}

enum zb_code zb_array_create(zb_hierarchy *hierarchy, const char *path, const zb_array_spec *spec,
                             zb_node **out, zb_error *err) {
    enum zb_code code = zb__path_check_new(path, err);
    return code ? zb__node_add_context(hierarchy, "array", path, code, err)
                : zb__array_create_copy(hierarchy, path, spec, out, err);
}

enum zb_code zb_array_is_as(const zb_node *array, const zb_array_spec *spec, bool *is,
                            zb_error *err) {
    zb__built built;
    zb_node *other;
    if (!array->array)
        return zb_fail(err, ZB_EINVAL, "/%s is a group", array->path);
    enum zb_code code = zb__build_array(spec, &built, err);
    if (code)
        return code;
    code = parse_new(array->hierarchy, array->path, &built, &other, err);
    free(built.text);
    if (code)
        return code;
    const zb_array_info *a = &array->array->info, *b = &other->array->info;
    *is = zb__array_has_layout_of(array, other) &&
          (a->ndim == 0 || memcmp(a->shape, b->shape, a->ndim * sizeof *a->shape) == 0);
    zb_node_release(other);
    return ZB_OK;
}

enum zb_code zb_hidden_create(const zb_node *owner, const char *name, const zb_array_spec *spec,
                              zb_node **out, zb_error *err) {
    zb__built built;
    char *path = NULL;
    enum zb_code code = zb__hidden_path(owner, name, &path, err);
    if (!code)
        code = zb_node_may_change(owner, err);
    if (!code)
        code = zb__build_array(spec, &built, err);
    code = code ? zb__node_add_context(owner->hierarchy, "hidden array", path ? path : owner->path,
                                       code, err)
                : create(owner->hierarchy, path, owner, built, out, err);
    free(path);
    return code;
}
