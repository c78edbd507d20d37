/* SPDX-License-Identifier: MIT */
/*
 * Copying and moving nodes, with all that lies below. Objects are copied as they are: nothing is
 * decoded, so nodes that this version cannot read are copied as well.
 *
 * Files of other programs come first, then chunks, then documents, and the topmost document last:
 * until that moment there is no node, from then on it is complete.
 *
 * A copy that is killed leaves objects below a path where there is no node. A *marker* at that
 * path, put before the first object and erased after the last, tells the next process that creates
 * a node there that they are left-overs. Objects without it are another program's: nothing is
 * copied to them.
 */
#include "change/copy.h"

#include <stdlib.h>
#include <string.h>

#include "change/copy_content.h"
#include "change/copy_marker.h"
#include "change/copy_named.h"
#include "change/create.h"
#include "change/remove.h"
#include "change/write_back.h"
#include "hierarchy/path.h"
#include "node/document.h"
#include "node/node.h"
#include "node/reserved.h"
#include "node/v2.h"
#include "node/walk.h"
#include "zarrbridge/change.h"
#include "zarrbridge/sys/store.h"

enum zb_code zb__hidden_copy(zb_hierarchy *from, const char *from_path, zb_hierarchy *to,
                             const char *to_path, zb_error *err) {
    zb__copying c = {.from = from, .to = to, .from_path = from_path, .to_path = to_path};
    zb__copying_begin(&c);
    const enum zb_code code = zb__copy_hidden(&c, from_path, err);
    zb__copying_end(&c);
    return code;
}

enum zb_code zb_hidden_copy(const zb_node *from, const zb_node *to, zb_error *err) {
    zb__change change;
    enum zb_code code = zb_node_may_change(to, err);
    if (!code)
        code = zb__change_begin(to->hierarchy, &change, err);
    if (code)
        return code;
    code = zb__hidden_copy(from->hierarchy, from->path, to->hierarchy, to->path, err);
    return zb__change_end(&change, code, err);
}

/* ---- Room at the target ------------------------------------------------------------------- */

/* Chunks that a killed deletion or copy has left would become part of an array that comes to its
   place. */
static enum zb_code make_room_for_array(const zb__copying *c, const char *from, zb_error *err) {
    zb_node *node = NULL;
    char *text;
    size_t size;
    enum zb_code code = zb__node_read(c->from, from, &text, &size, err);
    if (code)
        return code;
    char *target = zb__copy_target(c, from);
    if (!target)
        code = zb_fail(err, ZB_ENOMEM, "out of memory for a path");
    else if (zb__node_make(c->to, target, text, size, &node, NULL) == ZB_OK)
        code = zb__array_clear_place(node, err);
    /* Otherwise it is an array that we cannot read: its chunk keys are not known. */
    zb_node_release(node);
    free(target);
    free(text);
    return code;
}

/* What is copied and then deleted loses what others write meanwhile. So that is done only where a
   store moves nothing in one step, and for links, behind which all that is written stays. */
static bool may_copy(const zb__copying *c) {
    return !zb_store_is_tree(c->from->store) || zb_store_is_link(c->from->store, c->from_path);
}

static enum zb_code make_room(const zb__copying *c, const zb__names *nodes, zb_error *err) {
    zb__names there;
    if (!c->to->store->hints.can_list)
        return ZB_OK;
    /* A move in one step leaves files of others where they are, beside the node. */
    enum zb_code code =
        c->move && !may_copy(c) ? ZB_OK : zb__place_refuse_others(c->to, c->to_path, err);
    if (!code)
        code = zb__killed_copy_erase(c->to, c->to_path, err);
    if (!code)
        code = zb__nodes_at(c->to, c->to_path, &there, err);
    if (code)
        return code;
    if (there.count > 0)
        code = zb_fail(err, ZB_ECONFLICT, "there is a node below /%s already", c->to_path);
    zb__names_free(&there);
    for (size_t i = 0; i < nodes->count && !code; i++) {
        if (nodes->name[i].is_prefix)
            code = make_room_for_array(c, nodes->name[i].text, err);
    }
    return code;
}

/* Unless there is nothing at all, which the caller has asked first: one question in place of
   many. */
static enum zb_code take_place(const zb__copying *c, zb__change *change, const zb__names *nodes,
                               zb_error *err) {
    enum zb_code code = zb__change_expect_none(change, c->to_path, err);
    return code ? code : make_room(c, nodes, err);
}

/* ---- Copying and moving ------------------------------------------------------------------- */

/* Tells the change, for consolidated metadata, which nodes a rename is going to bring to the
   target. */
static enum zb_code note_documents(const zb__copying *c, zb__change *change, const zb__names *nodes,
                                   zb_error *err) {
    for (size_t i = 0; i < nodes->count; i++) {
        char *target = zb__copy_target(c, nodes->name[i].text);
        if (!target)
            return zb_fail(err, ZB_ENOMEM, "out of memory for a path");
        zb__change_note(change, target);
        free(target);
    }
    return ZB_OK;
}

/* Renames where the store can; else c->moved stays false, and everything has to be copied. */
static enum zb_code rename_nodes(zb__copying *c, zb__change *change, const zb__names *nodes,
                                 zb_error *err) {
    enum zb_code code = note_documents(c, change, nodes, err);
    if (!code)
        code = zb__change_note_erased(change, c->from_path, err);
    if (code)
        return code;
    code = zb_store_rename(c->from->store, c->from_path, c->to_path, err);
    if (code) {
        zb__change_not_erased(change);
        if (code == ZB_EUNSUPPORTED && may_copy(c))
            return ZB_OK;
        return code != ZB_EUNSUPPORTED
                   ? code
                   : zb_error_prefix(err, code,
                                     "it cannot be moved in one step, and others may write it "
                                     "meanwhile: copy it, and then delete it");
    }
    c->moved = true;
    return ZB_OK;
}

static enum zb_code copy_and_note(zb__copying *c, zb_error *err) {
    const zb__name *top = &c->nodes->name[0];
    const bool noted = c->nodes->count > 1 || c->others.count || top->is_prefix || top->has_hidden;
    enum zb_code code = noted ? zb__copy_marker(c->to, c->to_path, true, err) : ZB_OK;
    if (!code)
        code = zb__copy_objects(c, err);
    if (!code)
        code = zb__change_put_missing(c->change, err);
    if (!code)
        code = zb__copy_documents(c, err);
    /* Beside a complete node a marker means nothing, so a marker that stays there does no harm. */
    bool done = !code || zb__copy_undo(c);
    if (noted && done)
        (void)zb__copy_marker(c->to, c->to_path, false, NULL);
    return code;
}

static enum zb_code copy_all(zb__copying *c, zb__change *change, const zb__names *nodes,
                             zb_error *err) {
    c->change = change;
    c->nodes = nodes;
    c->places = calloc(nodes->count, 1);
    if (!c->places)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a copy");
    zb__copying_begin(c);
    const enum zb_code code = copy_and_note(c, err);
    zb__copying_end(c);
    free(c->places);
    return code;
}

static bool any_older(const zb__names *nodes) {
    for (size_t i = 0; i < nodes->count; i++) {
        if (nodes->name[i].is_older)
            return true;
    }
    return false;
}

static enum zb_code copy_nodes(zb__copying *c, zb__change *change, zb_error *err) {
    zb__names nodes;
    enum zb_code code = c->from->store->hints.can_list
                            ? zb__nodes_and_others(c->from, c->from_path, &nodes, &c->others, err)
                            : zb__named_nodes(c->from, c->from_path, &nodes, err);
    if (code)
        return code;
    if (c->older && (any_older(&nodes) || (c->older->always && nodes.count > 0))) {
        *c->older = (zb__older){.nodes = nodes, .others = c->others};
        c->others = (zb__names){.count = 0};
        return ZB_OK;
    }
    const bool is_there = nodes.count > 0 && strcmp(nodes.name[0].text, c->from_path) == 0;
    if (c->move && (!is_there || nodes.name[0].is_older))
        code = zb__v2_refuse(c->from, c->from_path, err);
    if (!code && !is_there)
        code = zb_fail(err, ZB_ENOTFOUND, "store %s has no node /%s", c->from->store->label,
                       c->from_path);
    if (!code)
        code = zb__change_above(change, c->to_path, true, err);
    if (!code && !zb__change_finds_nothing(change, c->to_path))
        code = take_place(c, change, &nodes, err);
    if (!code)
        code = zb__change_drop(change, err);
    if (!code && c->move)
        code = zb__moved_take_note(change, c->from_path, c->to_path, &c->note, err);
    if (!code && c->move) { /* the node comes into the groups above */
        code = zb__change_put_missing(change, err);
        if (!code)
            code = rename_nodes(c, change, &nodes, err);
    }
    if (!code && !c->moved)
        code = copy_all(c, change, &nodes, err);
    zb__names_free(&nodes);
    return code;
}

/* Checks both paths, and that the target is not within the source. */
static enum zb_code check_paths(const zb__copying *c, zb_error *err) {
    enum zb_code code = zb__path_check(c->from_path, err);
    if (!code)
        code = zb__path_check_target(c->from_path, c->to_path, err);
    const bool is_within = c->from == c->to && (strcmp(c->from_path, c->to_path) == 0 ||
                                                zb__path_below(c->to_path, c->from_path));
    if (!code && is_within && c->move)
        code = zb__v2_refuse(c->from, c->from_path, err);
    if (!code && is_within)
        code = zb_fail(err, ZB_EINVAL, "the target lies within the source");
    return code;
}

/* While the source's own document stands, the source is whole, and the copy goes again when it
   cannot be erased. Later the copy is the node, and the rest of the source is garbage. */
static enum zb_code erase_source(const zb__copying *c, zb__change *change, zb_error *err) {
    enum zb_code code = zb__node_erase_found(change, c->from_path, err);
    if (code && !(change->erased && strcmp(change->erased, c->from_path) == 0))
        (void)zb__node_erase(change, c->to_path, NULL);
    return code;
}

static enum zb_code run(zb__copying *c, zb_error *err) {
    zb__change change;
    enum zb_code code = check_paths(c, err);
    if (!code) /* a group goes with its block */
        code = zb__write_back_run(c->from, c->from_path, err);
    if (!code)
        code = zb__change_begin(c->to, &change, err);
    if (!code) {
        if (c->move)
            code = zb__change_above(&change, c->from_path, false, err);
        if (!code)
            code = copy_nodes(c, &change, err);
        if (!code && c->move && !c->moved)
            code = erase_source(c, &change, err);
        const bool has_gone =
            c->moved || (change.erased && strcmp(change.erased, c->from_path) == 0);
        zb__moved_note_end(&change, &c->note, code && !has_gone);
        code = zb__change_end(&change, code, err);
    }
    zb__names_free(&c->others);
    if (code)
        zb_error_prefix(err, code, "%s /%s of store %s to /%s of store %s",
                        c->move ? "moving" : "copying", c->from_path, c->from->store->label,
                        c->to_path, c->to->store->label);
    return code;
}

enum zb_code zb__copy_as_it_is(zb_hierarchy *from, const char *from_path, zb_hierarchy *to,
                               const char *to_path, zb__older *older, zb_error *err) {
    zb__copying c = {
        .from = from, .to = to, .from_path = from_path, .to_path = to_path, .older = older};
    if (older)
        *older = (zb__older){.always = older->always};
    return run(&c, err);
}

enum zb_code zb_node_move(zb_hierarchy *hierarchy, const char *from, const char *to,
                          zb_error *err) {
    zb__copying c = {
        .from = hierarchy, .to = hierarchy, .from_path = from, .to_path = to, .move = true};
    return run(&c, err);
}
