/* SPDX-License-Identifier: MIT */
/* One bounded read of a node's document, one parse, no listing. */
#include "node/open.h"

#include <stdlib.h>
#include <string.h>

#include "hierarchy/consolidated_cache.h"
#include "hierarchy/metadata.h"
#include "hierarchy/path.h"
#include "hierarchy/staged.h"
#include "node/bare.h"
#include "node/document.h"
#include "node/node.h"
#include "node/v2.h"
#include "node/version.h"
#include "store/foreign.h"
#include "util/json.h"
#include "util/names.h"
#include "zarrbridge/sys/store.h"

/* The document is read between two looks at the file or object that holds it: document and holder
   belong together when both looks see the same. When they differ, another process is deleting or
   replacing the node at this moment. may_be_older: it may be of version 2. */
static enum zb_code read_steady(zb_hierarchy *hierarchy, bool may_be_older,
                                zb__prefetched_document *out, uint64_t *home, zb_error *err) {
    enum { TRIES = 16 };
    uint64_t now = zb_store_identify(hierarchy->store, out->path);
    for (int tries = 0;; tries++) {
        *home = now;
        out->format = 3;
        enum zb_code code = may_be_older
                                ? zb__node_read_any(hierarchy, out->path, &out->text, &out->size,
                                                    &out->info, &out->format, err)
                                : zb__node_read_version(hierarchy, out->path, &out->text,
                                                        &out->size, &out->info, err);
        if (code)
            return code;
        now = zb_store_identify(hierarchy->store, out->path);
        if (now == *home)
            return ZB_OK;
        free(out->text);
        if (tries == TRIES)
            return zb_fail(err, ZB_ECONFLICT, "it is being replaced again and again");
    }
}

/* Makes the node anew with the entries of its consolidated metadata. */
static enum zb_code keep_entries(zb_node **node, const char *text, size_t size, zb_error *err) {
    zb_node *outline = *node;
    zb_json *document = NULL;
    enum zb_code code = zb__json_parse_document(text, size, &document, err);
    if (code)
        code = zb__node_add_context(outline->hierarchy, "group", outline->path,
                                    zb_error_prefix(err, code, "zarr.json"), err);
    else
        code = zb__node_make_parsed(outline->hierarchy, outline->path, text, size, document, node,
                                    err);
    zb_node_release(outline);
    return code;
}

static void mark_origin(zb_node *node, const zb__prefetched_document *document, uint64_t home) {
    node->format = document->format;
    zb__node_mark_version(node, home, &document->info);
}

static enum zb_code open_own(zb_hierarchy *hierarchy, const char *path, bool may_be_older,
                             zb_node **out, zb_error *err) {
    zb__prefetched_document document = {.path = (char *)(uintptr_t)path};
    uint64_t home, changes = zb_store_changes(hierarchy->store);
    enum zb_code code = zb__path_check(path, err);
    if (code)
        return zb_error_prefix(err, code, "store %s", hierarchy->store->label);
    code = read_steady(hierarchy, may_be_older, &document, &home, err);
    if (code == ZB_ENOTFOUND && *path == '\0')
        code = zb__foreign_root(hierarchy->store, err);
    if (code)
        return zb__node_add_context(hierarchy, "node", path, code, err);
    code = zb__node_make(hierarchy, path, document.text, document.size, out, err);
    if (!code)
        mark_origin(*out, &document, home);
    const bool is_bare = !code && zb__group_says_all(*out);
    if (is_bare) {
        code = keep_entries(out, document.text, document.size, err);
        if (!code)
            mark_origin(*out, &document, home);
    }
    if (!code)
        zb__metadata_keep(hierarchy, &document, changes, false);
    free(document.text);
    if (code)
        return code;
    if (!(*out)->array)
        (*out)->cached_block = zb__cached_block_keep(hierarchy, path, (*out)->document,
                                                     (*out)->format, is_bare, changes);
    return ZB_OK;
}

enum zb_code zb__node_open_own(zb_hierarchy *hierarchy, const char *path, zb_node **out,
                               zb_error *err) {
    return open_own(hierarchy, path, true, out, err);
}

/* Opens the group whose consolidated metadata serve the nodes below it (consolidated_cache.h), as
   it was then: it shares their document. False, with nothing opened, where path is another node. */
static bool open_owner(zb_hierarchy *hierarchy, const char *path, zb_node **out) {
    int format;
    zb__cached_block *hold;
    zb_json *document = zb__cached_block_owner(hierarchy, path, &format, &hold);
    zb_node *node = document ? zb__node_share(hierarchy, path, document, format, hold) : NULL;
    if (node)
        *out = node;
    else
        zb__cached_block_release(hold);
    return node != NULL;
}

/* A node that consolidated metadata describes. An entry that makes no node says nothing. */
static bool open_cached_block(zb_hierarchy *hierarchy, const char *path, zb_node **out) {
    size_t size;
    int format;
    if (zb__path_check(path, NULL))
        return false;
    if (hierarchy->trusts_list && open_owner(hierarchy, path, out))
        return true;
    char *text = zb__cached_block_text(hierarchy, path, &size, &format);
    bool opened = text && zb__node_make(hierarchy, path, text, size, out, NULL) == ZB_OK;
    free(text);
    if (opened) {
        (*out)->format = format;
        (*out)->is_cached_block = true;
    }
    return opened;
}

static enum zb_code open_node(zb_hierarchy *hierarchy, const char *path, bool may_be_older,
                              zb_node **out, zb_error *err) {
    if (open_cached_block(hierarchy, path, out))
        return ZB_OK;
    if (hierarchy->trusts_list && zb__cached_block_confirms_absent(hierarchy, path))
        return zb__node_add_context(
            hierarchy, "node", path,
            zb_fail(err, ZB_ENOTFOUND, "the consolidated metadata of the store do not have it"),
            err);
    return open_own(hierarchy, path, may_be_older, out, err);
}

enum zb_code zb_node_open(zb_hierarchy *hierarchy, const char *path, zb_node **out, zb_error *err) {
    return open_node(hierarchy, path, true, out, err);
}

void zb__looked_free(zb__looked *last) {
    zb_node_release(last->array);
    free(last->text);
    *last = (zb__looked){.array = NULL};
}

/* Takes over the text. */
static void remember(zb__looked *last, zb_node *node, char *text, size_t size) {
    if (!node->array) {
        free(text);
        return;
    }
    zb__looked_free(last);
    *last = (zb__looked){
        .array = zb_node_retain(node), .text = text, .size = size, .format = node->format};
}

/* The entries of consolidated metadata are most of a large document. */
enum zb_code zb__node_look(zb_hierarchy *hierarchy, const char *path, zb__looked *last,
                           zb_node **out, zb_error *err) {
    char *text = NULL;
    size_t size = 0;
    int format;
    enum zb_code code = zb__node_read_any(hierarchy, path, &text, &size, NULL, &format, err);
    if (code == ZB_ENOTFOUND && *path == '\0')
        code = zb__foreign_root(hierarchy->store, err);
    if (code)
        return zb__node_add_context(hierarchy, "node", path, code, err);
    if (last->array && last->format == format && last->size == size &&
        memcmp(last->text, text, size) == 0) {
        free(text);
        *out = zb_node_retain(last->array);
        return ZB_OK;
    }
    code = zb__node_make(hierarchy, path, text, size, out, err);
    if (code) {
        free(text);
        return code;
    }
    (*out)->format = format;
    remember(last, *out, text, size);
    return ZB_OK;
}

/* ---- Documents that were read before ------------------------------------------------------ */

enum zb_code zb__prefetched_document_open(zb_hierarchy *hierarchy,
                                          const zb__prefetched_document *document, zb_node **out,
                                          zb_error *err) {
    char *text = NULL;
    size_t size = 0;
    zb_object_info info = document->info;
    enum zb_code code = document->code;
    const bool is_older = code == ZB_ENOTFOUND;
    if (code && err)
        *err = document->error;
    if (is_older)
        code = zb__v2_read(hierarchy, document->path, &text, &size, &info, err);
    if (code == ZB_ENOTFOUND && err)
        *err = document->error;
    if (!code)
        code = zb__node_make(hierarchy, document->path, is_older ? text : document->text,
                             is_older ? size : document->size, out, err);
    else
        code = zb__node_add_context(hierarchy, "node", document->path, code, err);
    free(text);
    if (code)
        return code;
    (*out)->format = is_older ? 2 : document->format;
    (*out)->is_cached_block = document->is_cached_block;
    zb__node_mark_version(*out, 0, &info);
    return ZB_OK;
}

/* ---- Nodes that a listing has described --------------------------------------------------- */

static int take_name(void *context, const zb_list_entry *entry) {
    zb__names *names = context;
    const zb__name name = {.text = strdup(entry->name), .is_prefix = entry->is_prefix};
    return zb__names_add(names, name, NULL) != ZB_OK || names->count >= ZB__METADATA_NAMES;
}

/* Where one name is missed, others are likely to be: all names beside it are asked for. */
static void list_around(zb_hierarchy *hierarchy, const char *path) {
    const char *slash = strrchr(path, '/');
    char *group = strndup(path, slash ? (size_t)(slash - path) : 0);
    zb__names names = {.count = 0};
    const uint64_t changes = zb_store_changes(hierarchy->store);
    if (group && zb__hierarchy_list(hierarchy, &(zb_list){.prefix = group}, take_name, &names,
                                    NULL) == ZB_OK) {
        const bool is_whole = names.count < ZB__METADATA_NAMES;
        zb__names_sort(&names);
        zb__metadata_keep_names(hierarchy, group, &names, is_whole, changes, false);
    }
    zb__names_free(&names);
    free(group);
}

/* True if the group above is known, and of version 3. What is around its nodes is so, too, and a
   name that is missed takes one request, not one more for each document of version 2. */
static bool is_below_newer(zb_hierarchy *hierarchy, const char *path) {
    zb__prefetched_document above = {.format = 2};
    const char *slash = strrchr(path, '/');
    above.path = strndup(path, slash ? (size_t)(slash - path) : 0);
    const bool is_newer = *path && above.path && zb__metadata_find(hierarchy, above.path, &above) &&
                          above.code == ZB_OK && above.format == 3;
    free(above.text);
    free(above.path);
    return is_newer;
}

enum zb_code zb_node_open_cached(zb_hierarchy *hierarchy, const char *path, zb_node **out,
                                 zb_error *err) {
    zb__prefetched_document document = {.path = (char *)(uintptr_t)path};
    bool knows = false;
    if (!zb__metadata_pays(hierarchy))
        return zb_node_open(hierarchy, path, out, err);
    if (zb__metadata_find(hierarchy, path, &document)) {
        const enum zb_code code = zb__prefetched_document_open(hierarchy, &document, out, err);
        free(document.text);
        return code;
    }
    if (open_owner(hierarchy, path, out))
        return ZB_OK;
    const bool lists = *path && hierarchy->store->hints.can_list;
    bool lacks = lists && zb__metadata_confirms_absent(hierarchy, path, &knows);
    if (lists && !knows && zb__cached_block_confirms_absent(hierarchy, path)) {
        list_around(hierarchy, path); /* tells as much as asking for what is hardly there */
        lacks = zb__metadata_confirms_absent(hierarchy, path, &knows);
    }
    if (lacks)
        return zb__node_add_context(hierarchy, "node", path,
                                    zb_fail(err, ZB_ENOTFOUND, "there is nothing of that name"),
                                    err);
    const enum zb_code code =
        open_node(hierarchy, path, !is_below_newer(hierarchy, path), out, err);
    if (code == ZB_ENOTFOUND && lists && !knows)
        list_around(hierarchy, path);
    return code;
}
