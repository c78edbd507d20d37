/* SPDX-License-Identifier: MIT */
/*
 * The children of a group: the names below it that hold a node, each opened.
 *
 * The truth is the store's listing. Consolidated metadata gives names where the store cannot list,
 * or is distant, or has no document below the group: there it gives the documents, too
 * (consolidated_cache.h). Any other local store is asked for each document, so that a stale block
 * can hide a node but never describe it wrongly. A node that cannot be opened is kept with its
 * reason; a name without a document is not a node (the specification has no implicit groups, but
 * for those of version 2) and is left out.
 */
#include "node/children.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/pool.h"
#include "util/wait.h"
#include "array/block.h"
#include "node/prefetch.h"
#include "node/bare.h"
#include "node/documents.h"
#include "hierarchy/metadata.h"
#include "hierarchy/markers.h"
#include "node/node.h"
#include "node/open.h"
#include "hierarchy/path.h"
#include "hierarchy/consolidated_cache.h"
#include "hierarchy/staged.h"
#include "node/v2.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

/* Goes through a listing or a block for names, which are opened later. */
typedef struct search {
    zb__names names;
    enum zb_code code; /* of the failure inside the listing's callback */
    zb_error *err;
} search;

/* A listing is a snapshot at best: names may come or go before they are opened. A name that has
   gone is not a child, a name that came is seen next time. */

/* ---- Names from a listing ----------------------------------------------------------------- */

/* Objects directly below a group are not nodes: a node's document lies one level deeper. */
static int take_listed(void *context, const zb_list_entry *entry) {
    search *s = context;
    if (entry->is_prefix && !zb__name_is_ours(entry->name))
        s->code = zb__names_add_listed(&s->names,
                                       (zb__name){.text = strdup(entry->name),
                                                  .is_link = entry->is_link,
                                                  .has_document = entry->holds},
                                       s->err);
    return s->code;
}

/* Leaves the names sorted. */
static enum zb_code names_listed(const zb_node *group, bool asks, search *s) {
    zb_hierarchy *hierarchy = group->hierarchy;
    const bool is_kept = zb__metadata_pays(hierarchy);
    const uint64_t changes = zb_store_changes(hierarchy->store);
    if (is_kept) {
        zb__prefetch_guess(hierarchy, group->path);
        if (zb__metadata_take_names(hierarchy, group->path, &s->names))
            return ZB_OK;
    }
    const zb_list list = {.prefix = group->path, .objects = asks ? zb__node_documents : NULL};
    enum zb_code code = zb__hierarchy_list(hierarchy, &list, take_listed, s, s->err);
    code = s->code ? s->code : code;
    zb__names_sort(&s->names);
    if (is_kept && !code)
        zb__metadata_keep_names(hierarchy, group->path, &s->names, true, changes, false);
    return code;
}

/* zarr-python puts a flat map of relative paths into the document of the group that was
   consolidated, usually the root. The block is untrusted like all content: its paths are checked as
   paths given by a caller are. */

/* ---- Names from consolidated metadata ----------------------------------------------------- */

/* The map from paths to documents, or NULL. */
static const zb_json *consolidated_map(const zb_node *node) {
    const zb_json *block = zb_json_get(node->document, ZB__CONSOLIDATED);
    const zb_json *map = zb_json_get(block, "metadata");
    return zb_json_kind_of(map) == ZB_JSON_OBJECT ? map : NULL;
}

/* Takes the first part below `relative`, the group's path below the block's owner, of each path. An
   entry whose name is no path can be no node, and does not keep the others from being listed. */
static enum zb_code take_consolidated(const zb_json *const *entries, size_t count,
                                      const char *relative, search *s) {
    enum zb_code code = ZB_OK;
    for (size_t i = zb__block_below(entries, count, relative); i < count && !code; i++) {
        const char *path = zb_json_name(entries[i]), *name = zb__path_below(path, relative);
        if (!name && *relative)
            break;
        if (name && !zb__path_check(path, NULL) && !zb__name_is_ours(name))
            code = zb__names_add_listed(
                &s->names, (zb__name){.text = strndup(name, strcspn(name, "/"))}, s->err);
    }
    return code;
}

/* A group on the way from one to the root. */
typedef struct ancestor {
    zb_hierarchy *hierarchy;
    char *path;          /* owned */
    size_t length;       /* of the path */
    const zb_node *node; /* NULL where it cannot be read: then it has no hint to give */
    zb_node *opened;     /* the node, unless it is the first one; owned */
} ancestor;

/* Goes to the group above; false at the root. */
static bool next_ancestor(ancestor *a) {
    if (a->length == 0)
        return false;
    while (a->length > 0 && a->path[--a->length] != '/')
        ;
    a->path[a->length] = '\0';
    zb_node_release(a->opened);
    if (zb_node_open(a->hierarchy, a->path, &a->opened, NULL))
        a->opened = NULL;
    a->node = a->opened;
    return true;
}

/* Looks for a block in the group, then in its ancestors: writers put the whole of it into the root
   and an empty one into each group below. */
static enum zb_code names_above(const zb_node *group, search *s) {
    ancestor owner = {.hierarchy = group->hierarchy,
                      .path = strdup(group->path),
                      .length = strlen(group->path),
                      .node = group};
    const zb_json *map;
    bool found = false, has_names;
    if (!owner.path)
        return zb_fail(s->err, ZB_ENOMEM, "out of memory for a path");
    do {
        map = owner.node ? consolidated_map(owner.node) : NULL;
        found = found || map;
        has_names = map && zb_json_first(map);
    } while (!has_names && next_ancestor(&owner));
    enum zb_code code = ZB_OK;
    if (has_names) {
        size_t count;
        const char *relative = group->path + owner.length;
        const zb_json **entries = zb__block_entries(map, &count);
        code = entries ? take_consolidated(entries, count,
                                           relative + (owner.length > 0 && *relative == '/'), s)
                       : zb_fail(s->err, ZB_ENOMEM, "out of memory for consolidated metadata");
        free(entries);
    }
    zb_node_release(owner.opened);
    free(owner.path);
    if (!found)
        code = zb_fail(
            s->err, ZB_EUNSUPPORTED,
            "the store cannot list names, and no consolidated metadata tells them: name a node "
            "of it, or run `zarrbridge consolidate` where the store was made");
    return code;
}

static enum zb_code names_consolidated(const zb_node *group, search *s) {
    const char *cached_block;
    zb__cached_block *hold;
    size_t count;
    const zb_json *const *all =
        zb__cached_block_entries(group->hierarchy, group->path, &count, &cached_block, &hold);
    enum zb_code code =
        all ? take_consolidated(all, count, cached_block, s) : names_above(group, s);
    zb__cached_block_release(hold);
    zb__names_sort(&s->names);
    return code;
}

enum zb_code zb__children_names(const zb_node *group, bool asks, zb__names *out, zb_error *err) {
    search s = {.err = err};
    enum zb_code code;
    if (group->array)
        code = zb_fail(err, ZB_EINVAL, "an array has no children");
    else if (group->hierarchy->store->hints.can_list &&
             !zb__cached_block_covers(group->hierarchy, group->path))
        code = names_listed(group, asks, &s);
    else
        code = names_consolidated(group, &s);
    *out = s.names;
    return code;
}

/* ---- Opening ------------------------------------------------------------------------------ */

/* What became of opening a child. A name without a node leaves *child as it was, without a name;
   that is also how directories that are not nodes drop out, at the price of one open each. */
static enum zb_code take_child(const char *name, zb_node *node, enum zb_code code,
                               const zb_error *reason, zb_child *child, zb_error *err) {
    if (code == ZB_ENOTFOUND)
        return ZB_OK;
    if (zb__is_of_call(code))
        return zb_fail(err, code, "%s", reason->message);
    *child = (zb_child){
        .name = strdup(name), .node = node, .reason = code ? strdup(reason->message) : NULL};
    if (child->name && (!code || child->reason))
        return ZB_OK;
    return zb_fail(err, ZB_ENOMEM, "out of memory for the child %s", name);
}

/* read: its document, where that was prefetched, or NULL. */
static enum zb_code open_child(const zb_node *group, const char *name,
                               const zb__prefetched_document *read, zb_child *child,
                               zb_error *err) {
    zb_node *node = NULL;
    zb_error reason;
    char *path = read ? NULL : zb__path_join(group->path, name);
    if (!read && !path)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a path");
    enum zb_code code = read ? zb__prefetched_document_open(group->hierarchy, read, &node, &reason)
                             : zb_node_open(group->hierarchy, path, &node, &reason);
    free(path);
    return take_child(name, node, code, &reason, child, err);
}

/* One more than needed is allocated, so that a group without children is not a special case. */
static enum zb_code open_children(const zb_node *group, const zb__names *names, zb_children *out,
                                  zb_error *err) {
    out->child = calloc(names->count + 1, sizeof *out->child);
    if (!out->child)
        return zb_fail(err, ZB_ENOMEM, "out of memory for %zu children", names->count);
    zb__prefetched_children prefetched = {
        .hierarchy = group->hierarchy, .path = group->path, .names = names};
    zb__prefetched_document *read;
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < names->count && !code; i++) {
        code = zb__prefetched_children_at(&prefetched, i, &read, err);
        if (!code)
            code = open_child(group, names->name[i].text, read, &out->child[out->count], err);
        if (out->child[out->count].name || code)
            out->count++; /* one that failed halfway counts, too: zb_children_free frees it */
    }
    zb__prefetched_children_free(&prefetched);
    return code;
}

static enum zb_code add_context(const zb_node *group, enum zb_code code, zb_error *err) {
    return zb__node_add_context(group->hierarchy, group->array ? "array" : "group", group->path,
                                code, err);
}

/* Opening stops at the first failure that is not the child's own (memory), and then gives
   nothing. */
enum zb_code zb_group_children(const zb_node *group, zb_children *out, zb_error *err) {
    zb__names names;
    *out = (zb_children){.count = 0, .child = NULL};
    enum zb_code code = zb__children_names(group, false, &names, err);
    if (!code)
        code = open_children(group, &names, out, err);
    zb__names_free(&names);
    if (code) {
        zb_children_free(out);
        return add_context(group, code, err);
    }
    return ZB_OK;
}

/* ---- Names alone -------------------------------------------------------------------------- */

/* True if the node at path is served (consolidated_cache.h). */
static bool has_cached_block(zb_hierarchy *hierarchy, const char *path) {
    size_t size;
    int format;
    char *text = zb__cached_block_text(hierarchy, path, &size, &format);
    free(text);
    return text != NULL;
}

/* The same for a distant store, many documents at a time. */
static enum zb_code check_prefetch(const zb_node *group, const zb__names *names, zb_name_fn fn,
                                   void *context, zb_error *err) {
    zb_hierarchy *hierarchy = group->hierarchy;
    zb__prefetched_children prefetched = {
        .hierarchy = hierarchy, .path = group->path, .names = names};
    zb__prefetched_document *read;
    enum zb_code code = ZB_OK;
    bool stopped = false;
    for (size_t i = 0; i < names->count && !code && !stopped; i++) {
        bool is_node = true;
        code = zb__prefetched_children_at(&prefetched, i, &read, err);
        if (code)
            break;
        enum zb_code asked = read->code == ZB_ENOTFOUND
                                 ? zb__v2_is_at(hierarchy, read->path, &is_node, err)
                                 : read->code;
        code = zb__is_of_call(asked) ? asked : ZB_OK;
        if (code && err && code == read->code)
            *err = read->error;
        stopped = !code && (is_node || asked) && fn(context, names->name[i].text) != 0;
    }
    zb__prefetched_children_free(&prefetched);
    return code;
}

/* Names of a local store that are asked about by one task. A question takes a microsecond, and half
   of it lies in the kernel. */
#define NAMES_OF_TASK ((size_t)128)

typedef struct asking {
    const zb_node *group;
    bool is_cached_block; /* the group */
    const zb__names *names;
    bool *is_node; /* [names->count], false where that is not known yet */
} asking;

static enum zb_code holds_node(const asking *a, size_t i, zb_error *err) {
    zb_hierarchy *hierarchy = a->group->hierarchy;
    char *path = zb__path_join(a->group->path, a->names->name[i].text);
    if (!path)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a path");
    a->is_node[i] = a->is_cached_block && has_cached_block(hierarchy, path);
    enum zb_code code =
        a->is_node[i] ? ZB_OK : zb__holds_document(hierarchy, path, &a->is_node[i], err);
    free(path);
    return code;
}

static enum zb_code ask_some(void *context, size_t task, zb__scratch *scratch, zb_error *err) {
    const asking *a = context;
    const size_t from = task * NAMES_OF_TASK, rest = a->names->count - from;
    const size_t end = from + (rest < NAMES_OF_TASK ? rest : NAMES_OF_TASK);
    enum zb_code code = ZB_OK;
    (void)scratch;
    for (size_t i = from; i < end && !code; i++)
        code = a->is_node[i] ? ZB_OK : holds_node(a, i, err);
    return code;
}

/* Leaves the names alone that the listing has told to be nodes, which is all of them as a rule. */
static enum zb_code ask_about_rest(asking *a, zb_error *err) {
    const size_t count = a->names->count, tasks = (count + NAMES_OF_TASK - 1) / NAMES_OF_TASK;
    const size_t width = a->group->hierarchy->store->hints.is_local ? 0 : 1;
    bool all = true;
    for (size_t i = 0; i < count; i++)
        all &= a->is_node[i] = a->names->name[i].has_document;
    return all ? ZB_OK : zb__pool_run(ask_some, a, tasks, width, err);
}

/* All are asked about before the first is told. */
static enum zb_code tell_asked(const zb_node *group, const zb__names *names, zb_name_fn fn,
                               void *context, zb_error *err) {
    asking a = {.group = group,
                .is_cached_block = zb__cached_block_covers(group->hierarchy, group->path),
                .names = names,
                .is_node = calloc(names->count + 1, sizeof(bool))};
    if (!a.is_node)
        return zb_fail(err, ZB_ENOMEM, "out of memory for the names of a group");
    enum zb_code code = ask_about_rest(&a, err);
    bool stopped = false;
    for (size_t i = 0; i < names->count && !code && !stopped; i++)
        stopped = a.is_node[i] && fn(context, names->name[i].text) != 0;
    free(a.is_node);
    return code;
}

enum zb_code zb_group_names(const zb_node *group, zb_name_fn fn, void *context, zb_error *err) {
    zb__names names;
    enum zb_code code = zb__children_names(group, true, &names, err);
    if (!code)
        code = zb__documents_pay(group->hierarchy) &&
                       !zb__cached_block_covers(group->hierarchy, group->path)
                   ? check_prefetch(group, &names, fn, context, err)
                   : tell_asked(group, &names, fn, context, err);
    zb__names_free(&names);
    return code ? add_context(group, code, err) : ZB_OK;
}

void zb_children_free(zb_children *children) {
    for (size_t i = 0; i < children->count; i++) {
        zb_node_release(children->child[i].node);
        free((void *)(uintptr_t)children->child[i].name);
        free((void *)(uintptr_t)children->child[i].reason);
    }
    free(children->child);
    *children = (zb_children){.count = 0, .child = NULL};
}
