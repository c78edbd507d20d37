/* SPDX-License-Identifier: MIT */
/*
 * Each group with consolidated metadata is asked, and nearly all of them have documents below. So a
 * few names are taken from the listing first, of which one will do.
 */
#include "node/bare.h"

#include <stdlib.h>
#include <string.h>

#include "hierarchy/path.h"
#include "hierarchy/staged.h"
#include "node/node.h"
#include "node/v2.h"
#include "node/version.h"
#include "util/json.h"
#include "util/names.h"
#include "util/wait.h"

enum { FEW = 4 };

typedef struct search {
    zb__names names;
    size_t most;
    bool failed;
} search;

static int take(void *context, const zb_list_entry *entry) {
    search *s = context;
    if (!entry->is_prefix)
        return 0;
    s->failed = zb__names_add(&s->names, (zb__name){.text = strdup(entry->name)}, NULL) != ZB_OK;
    return s->failed || s->names.count >= s->most;
}

enum zb_code zb__holds_document(zb_hierarchy *hierarchy, const char *path, bool *out,
                                zb_error *err) {
    char *key = zb__path_join(path, "zarr.json");
    zb_probe probe = {.asks = ZB_ASK_NAME, .name = key};
    enum zb_code code = key ? zb_store_probe(zb__place_of(hierarchy, key), &probe, err)
                            : zb_fail(err, ZB_ENOMEM, "out of memory for a path");
    *out = true;
    if (code == ZB_ENOTFOUND) {
        code = zb__v2_is_at(hierarchy, path, out, err);
        *out = *out || code;
    }
    free(key);
    return zb__is_of_call(code) ? code : ZB_OK;
}

/* True also where it cannot be told. */
static bool holds_child(zb_hierarchy *hierarchy, const char *path, const char *name) {
    bool holds = true;
    char *child = zb__path_join(path, name);
    if (child)
        (void)zb__holds_document(hierarchy, child, &holds, NULL);
    free(child);
    return holds;
}

/* *all: the listing has no further names. */
static bool is_bare(zb_hierarchy *hierarchy, const char *path, size_t most, bool *all) {
    search s = {.most = most};
    bool bare =
        zb__hierarchy_list(hierarchy, &(zb_list){.prefix = path}, take, &s, NULL) == ZB_OK &&
        !s.failed;
    for (size_t i = 0; i < s.names.count && bare; i++)
        bare = !holds_child(hierarchy, path, s.names.name[i].text);
    *all = s.names.count < most;
    zb__names_free(&s.names);
    return bare;
}

/* True if no name right below the group holds a document: what consolidated metadata say of its
   children is then all that there is. False where that cannot be told. */
static bool group_is_bare(zb_hierarchy *hierarchy, const char *path) {
    bool all;
    return is_bare(hierarchy, path, FEW, &all) && (all || is_bare(hierarchy, path, SIZE_MAX, &all));
}

/* A group that is being deleted loses its document first of all, and looks from then on as one
   whose nodes never had any. */
static bool has_its_document(const zb_node *group) {
    zb_object_info info;
    char *key = zb__path_join(group->path, "zarr.json");
    const bool there =
        key && zb_store_stat(zb__place_of(group->hierarchy, key), key, &info, NULL) == ZB_OK;
    free(key);
    return there && (!group->version || zb__node_unchanged(group, &info));
}

bool zb__group_says_all(const zb_node *node) {
    size_t left_out;
    if (node->array || zb__node_keeps_entries(node->hierarchy))
        return false;
    zb__json_left_out(node->document, &left_out);
    return left_out > 0 ? group_is_bare(node->hierarchy, node->path) &&
                              (node->format == 2 || has_its_document(node))
                        : zb__node_has_entries(node);
}
