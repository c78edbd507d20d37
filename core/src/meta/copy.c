/* SPDX-License-Identifier: MIT */
/*
 * Copying and moving nodes, with all that lies below. Objects are copied as they are: nothing is
 * decoded, so nodes that this version cannot read are copied as well.
 *
 * Chunks come before documents, and the topmost document last: until that moment there is no node,
 * from then on it is complete. What is copied are nodes: a group's stray files stay behind.
 */
#include <stdlib.h>
#include <string.h>

#include "meta/change.h"
#include "meta/document.h"
#include "meta/walk.h"
#include "zarrbridge/write.h"

typedef struct copying {
    zb_store *from, *to;
    const char *from_path, *to_path;
    bool undo; /* erase what was copied instead */
} copying;

/* The key or path in the target for one in the source: malloc'ed, or NULL. */
static char *target_of(const copying *c, const char *key) {
    const char *below = strcmp(key, c->from_path) == 0 ? "" : zb__path_below(key, c->from_path);
    return *below ? zb__path_join(c->to_path, below) : strdup(c->to_path);
}

/* Each object passes through memory whole. */
static enum zb_code copy_object(void *context, const char *key, zb_error *err) {
    const copying *c = context;
    char *data = NULL;
    size_t size;
    char *target = target_of(c, key);
    if (!target)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    enum zb_code code;
    if (c->undo) {
        code = zb_store_erase(c->to, target, err);
    } else {
        code = zb_store_get(c->from, key, zb_limits_get()->shard_bytes, "shard_bytes", &data, &size,
                            NULL, err);
        zb_part part = {.data = data, .size = code ? 0 : size};
        if (!code)
            code = zb_store_put(c->to, target, &part, 1, ZB_DURABLE_LATER, err);
    }
    free(data);
    free(target);
    return code;
}

/* The objects of all arrays among the nodes. */
static enum zb_code copy_chunks(copying *c, const zb__names *nodes, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < nodes->count && !code; i++) {
        if (nodes->is_prefix[i])
            code = zb__keys_below(c->from, nodes->name[i], "zarr.json", copy_object, c, err);
    }
    return code;
}

/* Children before parents. */
static enum zb_code copy_documents(const copying *c, zb__change *change, const zb__names *nodes,
                                   zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = nodes->count; i > 0 && !code; i--) {
        char *text = NULL;
        size_t size;
        char *target = target_of(c, nodes->name[i - 1]);
        code = target ? zb__node_read(c->from, nodes->name[i - 1], &text, &size, err)
                      : zb_fail(err, ZB_ENOMEM, "out of memory for a path");
        if (!code)
            code = zb__change_put(change, target, text, size, err);
        free(text);
        free(target);
    }
    return code;
}

/* After a failure nothing of a half copy stays, as far as the store lets us. */
static void undo(copying *c, zb__change *change, const zb__names *nodes) {
    c->undo = true;
    for (size_t i = 0; i < nodes->count; i++) {
        char *target = target_of(c, nodes->name[i]);
        if (target)
            (void)zb__change_erase(change, target, i == 0, NULL);
        free(target);
    }
    (void)copy_chunks(c, nodes, NULL);
}

/* Chunks left by a killed deletion would become part of the copy. Only an array at the top is
   looked at: those below a group that did not exist are as new as it. */
static enum zb_code make_room(const copying *c, const zb__names *nodes, zb_error *err) {
    zb__names there;
    zb_node *node = NULL;
    char *text;
    size_t size;
    if (!c->to->hints.can_list)
        return ZB_OK;
    if (!nodes->is_prefix[0]) {
        enum zb_code code = zb__nodes_at(c->to, c->to_path, &there, err);
        if (!code && there.count > 0)
            code = zb_fail(err, ZB_ECONFLICT, "there is a node below /%s already", c->to_path);
        zb__names_free(&there);
        return code;
    }
    enum zb_code code = zb__node_read(c->from, c->from_path, &text, &size, err);
    if (code)
        return code;
    code = zb__node_make(c->to, c->to_path, text, size, &node, NULL);
    free(text);
    if (code) /* an array that we cannot read: its chunk keys are not known */
        return ZB_OK;
    code = zb__array_make_room(node, err);
    zb_node_release(node);
    return code;
}

static enum zb_code copy_nodes(copying *c, zb__change *change, zb_error *err) {
    zb__names nodes;
    enum zb_code code = zb__nodes_at(c->from, c->from_path, &nodes, err);
    if (code)
        return code;
    if (nodes.count == 0 || strcmp(nodes.name[0], c->from_path) != 0)
        code = zb_fail(err, ZB_ENOTFOUND, "store %s has no node /%s", c->from->label, c->from_path);
    if (!code)
        code = zb__change_above(change, c->to_path, true, err);
    if (!code)
        code = zb__change_expect_none(change, c->to_path, err);
    if (!code)
        code = make_room(c, &nodes, err);
    if (!code)
        code = zb__change_drop(change, err);
    if (!code) {
        code = copy_chunks(c, &nodes, err);
        if (!code)
            code = zb__change_put_missing(change, err);
        if (!code)
            code = copy_documents(c, change, &nodes, err);
        if (code)
            undo(c, change, &nodes);
    }
    zb__names_free(&nodes);
    return code;
}

/* Checks both paths, and that the target is not within the source. */
static enum zb_code check_paths(const copying *c, zb_error *err) {
    enum zb_code code = zb__path_check(c->from_path, err);
    if (!code)
        code = zb__path_check_new(c->to_path, err);
    if (!code && c->from == c->to &&
        (strcmp(c->from_path, c->to_path) == 0 || zb__path_below(c->to_path, c->from_path)))
        code = zb_fail(err, ZB_EINVAL, "the target lies within the source");
    if (!code && !c->from->hints.can_list)
        code = zb_fail(err, ZB_EUNSUPPORTED, "store %s cannot be listed", c->from->label);
    return code;
}

/* While the source's own document stands, the source is whole, and the copy goes again when it
   cannot be erased. Later the copy is the node, and the rest of the source is garbage. */
static enum zb_code erase_source(const copying *c, zb__change *change, zb_error *err) {
    enum zb_code code = zb__node_erase(change, c->from_path, err);
    if (code && !(change->erased && strcmp(change->erased, c->from_path) == 0))
        (void)zb__node_erase(change, c->to_path, NULL);
    return code;
}

static enum zb_code run(copying *c, bool move, zb_error *err) {
    zb__change change;
    enum zb_code code = check_paths(c, err);
    if (!code)
        code = zb__change_begin(c->to, &change, err);
    if (!code) {
        if (move)
            code = zb__change_above(&change, c->from_path, false, err);
        if (!code)
            code = copy_nodes(c, &change, err);
        if (!code && move)
            code = erase_source(c, &change, err);
        zb__change_end(&change, code);
    }
    if (code)
        zb_error_prefix(err, code, "%s /%s of store %s to /%s of store %s",
                        move ? "moving" : "copying", c->from_path, c->from->label, c->to_path,
                        c->to->label);
    return code;
}

enum zb_code zb_node_copy(zb_store *from, const char *from_path, zb_store *to, const char *to_path,
                          zb_error *err) {
    copying c = {.from = from, .to = to, .from_path = from_path, .to_path = to_path};
    return run(&c, false, err);
}

enum zb_code zb_node_move(zb_store *store, const char *from, const char *to, zb_error *err) {
    copying c = {.from = store, .to = store, .from_path = from, .to_path = to};
    return run(&c, true, err);
}
