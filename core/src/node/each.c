/* SPDX-License-Identifier: MIT */
/*
 * A list of all nodes below one. Each is looked at and let go before the next, so that a store may
 * have any number of them.
 */
#include <stdlib.h>

#include "hierarchy/path.h"
#include "node/bare.h"
#include "node/children.h"
#include "node/documents.h"
#include "node/node.h"
#include "node/open.h"
#include "node/prefetch.h"
#include "node/walk.h"
#include "util/wait.h"

typedef struct walk {
    zb_hierarchy *hierarchy;
    zb_entry_fn fn;
    void *context;
    zb__links links;
    bool begun, stopped;
    bool is_last; /* the name that is looked at, in its group */
    zb__looked last;
} walk;

/* A group is needed as a whole where its block is the index, and what has no document is only found
   in one. */
static enum zb_code look(walk *w, const char *path, const zb__prefetched_document *read,
                         zb_node **out, zb_error *err) {
    *out = NULL;
    if (read)
        return zb__prefetched_document_open(w->hierarchy, read, out, err);
    if (zb__node_keeps_entries(w->hierarchy))
        return zb_node_open(w->hierarchy, path, out, err);
    enum zb_code code = zb__node_look(w->hierarchy, path, &w->last, out, err);
    if (code ? code != ZB_ENOTFOUND : !zb__group_says_all(*out))
        return code;
    zb_node_release(*out);
    return zb_node_open(w->hierarchy, path, out, err);
}

/* node: NULL for one that cannot be read. Returns whether the nodes below it are wanted. */
static bool tell(walk *w, const char *path, const zb_node *node, const char *reason) {
    const zb_entry entry = {.path = path,
                            .array = node ? zb_node_array(node) : NULL,
                            .format = node ? zb_node_format(node) : 0,
                            .reason = node ? NULL : reason,
                            .is_last = w->is_last};
    const int answer = w->fn(w->context, &entry);
    w->stopped = answer != 0 && answer != ZB_WALK_PAST;
    return answer == 0;
}

/* read: its document, where that was prefetched, or NULL. */
static enum zb_code visit(walk *w, const char *path, const zb__prefetched_document *read,
                          zb_error *err);

static enum zb_code visit_children(walk *w, const zb__names *names, const char *path,
                                   zb_error *err) {
    enum zb_code code = ZB_OK;
    zb__prefetched_children prefetched = {.hierarchy = w->hierarchy, .path = path, .names = names};
    zb__prefetched_document *read;
    for (size_t i = 0; i < names->count && !code && !w->stopped; i++) {
        const zb__name *name = &names->name[i];
        code = zb__prefetched_children_at(&prefetched, i, &read, err);
        if (code)
            break;
        char *below = zb__path_join(path, name->text);
        code = below ? zb__links_count(&w->links, name, below, err)
                     : zb_fail(err, ZB_ENOMEM, "out of memory for a path");
        w->is_last = i + 1 == names->count;
        if (!code)
            code = visit(w, below, read, err);
        /* A name without a document is no node; a node may go before it is looked at. */
        code = code == ZB_ENOTFOUND ? ZB_OK : code;
        free(below);
    }
    zb__prefetched_children_free(&prefetched);
    return code;
}

/* Recursion is as deep as names in the store are nested. ZB_ENOTFOUND means this path alone. */
static enum zb_code visit(walk *w, const char *path, const zb__prefetched_document *read,
                          zb_error *err) {
    zb_node *node;
    zb__names names = {.count = 0};
    zb_error reason;
    enum zb_code code = look(w, path, read, &node, &reason);
    const bool is_first = !w->begun;
    w->begun = true;
    if (zb__is_of_call(code) || code == ZB_ENOTFOUND || (code == ZB_EIO && is_first)) {
        if (err)
            *err = reason;
        return code;
    }
    const bool goes_below = tell(w, path, node, reason.message);
    code = ZB_OK;
    if (node && !node->array && goes_below) {
        zb__prefetch_read(w->hierarchy, path, ZB__GROUPS_AHEAD);
        code = zb__children_names(node, false, &names, err);
        if (code)
            zb__node_add_context(w->hierarchy, "group", path, code, err);
    }
    zb_node_release(node);
    if (!code)
        code = visit_children(w, &names, path, err);
    zb__names_free(&names);
    return code;
}

enum zb_code zb_node_each(zb_hierarchy *hierarchy, const char *path, zb_entry_fn fn, void *context,
                          zb_error *err) {
    walk w = {.hierarchy = hierarchy, .fn = fn, .context = context, .is_last = true};
    enum zb_code code = zb__path_check(path, err);
    code = code ? zb_error_prefix(err, code, "store %s", hierarchy->store->label)
                : visit(&w, path, NULL, err);
    zb__looked_free(&w.last);
    return code;
}
