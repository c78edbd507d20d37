/* SPDX-License-Identifier: MIT */
/*
 * Deleting a node.
 *
 * A symbolic link goes alone. The node behind it is not the deleted node's, and other names may
 * lead there.
 */
#include "change/remove.h"

#include <stdlib.h>
#include <string.h>

#include "array/block.h"
#include "change/change.h"
#include "change/copy_marker.h"
#include "change/moved_note.h"
#include "change/write_back.h"
#include "hierarchy/path.h"
#include "hierarchy/staged.h"
#include "node/document.h"
#include "node/node.h"
#include "node/v2.h"
#include "node/walk.h"
#include "store/store.h"
#include "util/wait.h"
#include "zarrbridge/change.h"
#include "zarrbridge/sys/store.h"

/* ---- Many at once on a network ------------------------------------------------------------ */

typedef struct erasing {
    zb_hierarchy *hierarchy;
    zb__change *change; /* or NULL */
    const zb__names *nodes;
} erasing;

/* Erasing chunks that the owner of the function chooses. */
typedef struct choosing {
    const zb_node *node;
    zb__choose_chunk_fn choose; /* NULL: all */
    void *context;
    zb__lane keys;
} choosing;

static enum zb_code erase_key(void *context, const char *key, zb_error *err) {
    return zb__hierarchy_erase(context, key, err);
}

static enum zb_code give_chunk(void *context, const char *key, const uint64_t *index,
                               zb_error *err) {
    choosing *c = context;
    bool is_chosen = !c->choose;
    enum zb_code code = is_chosen ? ZB_OK : c->choose(c->context, key, index, &is_chosen, err);
    if (code || !is_chosen)
        return code;
    return zb__lane_give_key(&c->keys, key, err);
}

static enum zb_code choose_key(void *context, const char *key, bool *chosen, zb_error *err) {
    const choosing *c = context;
    uint64_t index[ZB_MAX_NDIM];
    const bool is_chunk = zb__chunk_index_of(c->node, key, index);
    *chosen = is_chunk && !c->choose;
    return is_chunk && c->choose ? c->choose(c->context, key, index, chosen, err) : ZB_OK;
}

static enum zb_code walk_and_erase(choosing *c, zb_error *err) {
    zb_store *store = zb__node_store(c->node);
    zb__lane_begin_keys(&c->keys, erase_key, c->node->hierarchy, zb__store_width(store, 0));
    return zb__lane_end(&c->keys, zb__chunks_each(c->node, give_chunk, c, err), err);
}

enum zb_code zb__chunks_erase(const zb_node *node, zb__choose_chunk_fn choose, void *context,
                              zb_error *err) {
    choosing c = {.node = node, .choose = choose, .context = context};
    char *document = zb__path_join(node->path, "zarr.json");
    const zb_erase_chosen erase = {
        .prefix = node->path, .document = document, .choose = choose_key, .context = &c};
    if (!document)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    /* A staged document is not in the store, which goes by it; but nobody else has a node there. */
    enum zb_code code = zb__is_staging(node->hierarchy)
                            ? ZB_EUNSUPPORTED
                            : zb_store_erase_chosen(zb__node_store(node), &erase, err);
    free(document);
    return code == ZB_EUNSUPPORTED ? walk_and_erase(&c, err) : code;
}

static enum zb_code erase_below(void *context, size_t item, zb__scratch *unused, zb_error *err) {
    const erasing *e = context;
    (void)unused;
    return zb__hierarchy_erase_below(e->hierarchy, e->nodes->name[item].text, err);
}

static enum zb_code erase_document(void *context, size_t item, zb__scratch *unused, zb_error *err) {
    const erasing *e = context;
    (void)unused;
    return zb__change_erase(e->change, e->nodes->name[item].text, false, err);
}

/* There is nothing below nodes that have gone. */
static bool is_below(const zb__name *name, const zb__name *gone) {
    return gone && zb__path_below(name->text, gone->text);
}

/* Work on all nodes but the one at path; with `tops` on those alone that are below no other. */
static enum zb_code each_node(erasing *e, zb__task_fn fn, const char *path, bool tops,
                              zb_error *err) {
    zb__lane lane;
    zb__lane_begin(&lane, fn, e, zb__store_width(e->hierarchy->store, 0));
    enum zb_code code = ZB_OK;
    const zb__name *gone = NULL;
    for (size_t i = 0; i < e->nodes->count && !code; i++) {
        const zb__name *name = &e->nodes->name[i];
        if (strcmp(name->text, path) == 0 || (tops ? is_below(name, gone) : name->is_link))
            continue;
        gone = name;
        code = zb__lane_give(&lane, i, err);
    }
    return zb__lane_end(&lane, code, err);
}

/* Erases all nodes of the list (of zb__nodes_owned), with all below them, except for the one at
   path. */
static enum zb_code erase_nodes_below(zb_hierarchy *hierarchy, const zb__names *nodes,
                                      const char *path, zb_error *err) {
    erasing e = {.hierarchy = hierarchy, .nodes = nodes};
    return each_node(&e, erase_below, path, true, err);
}

/* ---- Erasing ------------------------------------------------------------------------------ */

enum zb_code zb__left_overs_erase(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    zb__names there;
    enum zb_code code = zb__nodes_owned(hierarchy, path, true, &there, err);
    if (!code)
        code = erase_nodes_below(hierarchy, &there, path, err);
    zb__names_free(&there);
    return code;
}

enum zb_code zb__killed_copy_erase(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    bool is_marked;
    enum zb_code code = zb__copy_marker_find(hierarchy, path, &is_marked, err);
    if (code || !is_marked || !hierarchy->store->hints.can_list)
        return code;
    code = zb__left_overs_erase(hierarchy, path, err);
    return code ? code : zb__copy_marker(hierarchy, path, false, err);
}

static enum zb_code erase_hidden(zb_hierarchy *hierarchy, zb_error *err) {
    zb__names hidden;
    enum zb_code code = zb__hidden_at(hierarchy, "", &hidden, err);
    if (!code)
        code = erase_nodes_below(hierarchy, &hidden, "", err);
    zb__names_free(&hidden);
    return code;
}

/* What the root is, before it goes. */
typedef struct root_before {
    bool is_there;         /* none is after a deletion that was killed */
    zb_node *array;        /* its document tells which keys are chunks; NULL for a group */
    zb__document document; /* of a group in a local store, without consolidated metadata */
} root_before;

static enum zb_code look_at_root(zb_hierarchy *hierarchy, const zb__name *first, root_before *out,
                                 zb_error *err) {
    zb__document outline;
    zb_error own;
    *out = (root_before){.is_there = *first->text == '\0'};
    if (!out->is_there)
        return ZB_OK;
    if (first->is_prefix)
        return zb_node_open(hierarchy, "", &out->array, err);
    if (!hierarchy->store->hints.is_local)
        return ZB_OK;
    enum zb_code code = zb__node_outline(hierarchy, "", &outline, &own);
    if (!code) {
        code = zb__document_without(&outline, ZB__CONSOLIDATED, &out->document, &own);
        zb__document_free(&outline);
    }
    if (code != ZB_EIO && !zb__is_of_call(code))
        return ZB_OK; /* one that has just gone, is none or is beyond a limit goes for good */
    if (err)
        *err = own;
    return code;
}

/* Nodes that could not be erased stay nodes of a store: a root group comes back, without the block,
   which describes what has gone. Of an array no more than the chunks could. */
static enum zb_code put_back(zb__change *change, const root_before *root, enum zb_code code,
                             zb_error *err) {
    zb_error second = {0};
    if (!root->is_there)
        return zb_error_prefix(err, code, "other files of the store stay");
    if (root->document.text &&
        zb__change_put(change, "", root->document.text, root->document.size, &second) == ZB_OK)
        return zb_error_prefix(err, code, "the store stays, with what could not be deleted");
    return zb_error_prefix(err, code,
                           "the document of the store has gone, and other files stay%s%s",
                           root->document.text ? "; it cannot be put back: " : "", second.message);
}

static enum zb_code erase_nodes(zb__change *change, const zb__names *nodes, zb_node *array,
                                zb_error *err) {
    erasing e = {.hierarchy = change->hierarchy, .change = change, .nodes = nodes};
    enum zb_code code = ZB_OK;
    if (!zb_store_is_tree(e.hierarchy->store))
        code = each_node(&e, erase_document, "", false, err);
    if (!code)
        code = array ? zb__chunks_erase(array, NULL, NULL, err)
                     : erase_nodes_below(e.hierarchy, nodes, "", err);
    return code ? code : erase_hidden(e.hierarchy, err);
}

/* The root's directory stays, and may hold files that are not the store's: only chunks and nodes
   below are erased, not all names. Documents go before chunks, the root's own first of all, and
   the others where they do not go in one step with all else: a reader meanwhile finds a node or
   does not, but never an array that has lost some of its chunks. On a network, where each is a
   request, the marker tells the next process that what a kill has left are left-overs and no other
   files. */
static enum zb_code erase_root(zb__change *change, const zb__names *nodes, zb_error *err) {
    zb_hierarchy *hierarchy = change->hierarchy;
    root_before root;
    enum zb_code code = look_at_root(hierarchy, &nodes->name[0], &root, err);
    if (!code && !hierarchy->store->hints.is_local)
        code = zb__copy_marker(hierarchy, "", true, err);
    if (!code)
        code = zb__change_erase(change, "", true, err);
    if (!code && (code = erase_nodes(change, nodes, root.array, err)))
        code = put_back(change, &root, code, err);
    if (!code)
        code = zb__write_back_forget(hierarchy, "", err);
    if (!code && !hierarchy->store->hints.is_local)
        code = zb__copy_marker(hierarchy, "", false, err);
    zb_node_release(root.array);
    zb__document_free(&root.document);
    return code;
}

/* The node goes in one step. A directory that lost its document alone to a kill would be taken for
   the same node by older handles, once another array is made in it. */
enum zb_code zb__node_erase_found(zb__change *change, const char *path, zb_error *err) {
    char kind = 0;
    enum zb_code code = zb__change_note_erased(change, path, err);
    if (code)
        return code;
    code = zb__hierarchy_erase_below(change->hierarchy, path, err);
    if (code && (zb__node_kind(change->hierarchy, path, &kind, NULL) != ZB_OK || kind))
        zb__change_not_erased(change);
    return code;
}

/* Tells what is to be erased by one read, where it has a document: *kind as of zb__node_kind, but 0
   for the root. */
static enum zb_code look(zb_hierarchy *hierarchy, const char *path, char *kind, zb_error *err) {
    bool older;
    *kind = 0;
    if (!*path)
        return zb__v2_refuse(hierarchy, path, err);
    enum zb_code code = zb__node_kind_of(hierarchy, path, kind, &older, err);
    return code || !older ? code : zb__v2_refuse_older(hierarchy, path, err);
}

/* A killed deletion of another writer leaves a node without its document, but with nodes below. */
enum zb_code zb__node_erase(zb__change *change, const char *path, zb_error *err) {
    zb__names nodes;
    char kind;
    enum zb_code code = look(change->hierarchy, path, &kind, err);
    if (code || kind)
        return code ? code : zb__node_erase_found(change, path, err);
    const bool tops = *path || zb_store_is_tree(change->hierarchy->store);
    code = zb__nodes_owned(change->hierarchy, path, tops, &nodes, err);
    if (!code && nodes.count == 0)
        code = zb_fail(err, ZB_ENOTFOUND, "there is no node");
    if (!code)
        code = *path ? zb__node_erase_found(change, path, err) : erase_root(change, &nodes, err);
    zb__names_free(&nodes);
    return code;
}

/* is_noted: names of the node lead nowhere from now on. */
static enum zb_code delete_node(zb_hierarchy *hierarchy, const char *path, bool is_noted,
                                zb_error *err) {
    zb__change change;
    zb__moved_note note = {.count = 0};
    enum zb_code code = zb__path_check(path, err);
    if (!code)
        code = zb__change_begin(hierarchy, &change, err);
    if (code)
        return zb__node_add_context(hierarchy, "node", path, code, err);
    code = zb__change_above(&change, path, false, err);
    if (!code)
        code = zb__change_drop(&change, err);
    if (!code && is_noted)
        code = zb__moved_take_note(&change, path, NULL, &note, err);
    if (!code)
        code = zb__node_erase(&change, path, err);
    zb__moved_note_end(&change, &note, code && !change.erased);
    if (code)
        zb_error_prefix(err, code, "deleting /%s from store %s", path, hierarchy->store->label);
    return zb__change_end(&change, code, err);
}

enum zb_code zb_node_delete(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    return delete_node(hierarchy, path, true, err);
}

enum zb_code zb_node_withdraw(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    return delete_node(hierarchy, path, false, err);
}
