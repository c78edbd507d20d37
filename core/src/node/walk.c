/* SPDX-License-Identifier: MIT */
/*
 * Walks by listing: the content of the store decides how long they take, never the shape that a
 * document gives. Each listing is finished before its names are handed on.
 */
#include "node/walk.h"

#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "array/keys.h"
#include "hierarchy/markers.h"
#include "hierarchy/path.h"
#include "node/current.h"
#include "node/document.h"
#include "node/documents.h"
#include "node/node.h"
#include "node/v2.h"
#include "util/json.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

/* ---- Links ---------------------------------------------------------------------------------- */

enum zb_code zb__links_count(zb__links *links, const zb__name *name, const char *key,
                             zb_error *err) {
    uint64_t limit = zb_limits_get()->links;
    links->count += name->is_link;
    if (links->count <= limit)
        return ZB_OK;
    return zb_fail(err, ZB_ELIMIT,
                   "'%s' is behind the %llu-th symbolic link of one walk, the limit links", key,
                   (unsigned long long)links->count);
}

/* ---- Nodes -------------------------------------------------------------------------------- */

static enum zb_code kind_of_text(const char *text, size_t size, char *kind, zb_error *err) {
    zb_json *json;
    enum zb_code code = zb__json_parse_document(text, size, &json, err);
    *kind = 'g';
    if (code)
        return code == ZB_ENOMEM ? code : ZB_OK;
    const char *type = zb_json_string(zb_json_get(json, "node_type"));
    if (type && strcmp(type, "array") == 0)
        *kind = 'a';
    zb_json_free(json);
    return ZB_OK;
}

/* read: the document, where it was read before, or NULL. */
static enum zb_code find_kind(zb_hierarchy *hierarchy, const char *path,
                              const zb__prefetched_document *read, char *kind, bool *older,
                              zb_error *err) {
    char *text = NULL;
    size_t size = 0;
    enum zb_code code = read ? read->code : zb__node_read(hierarchy, path, &text, &size, err);
    *kind = 0;
    *older = code == ZB_ENOTFOUND;
    if (*older)
        return zb__v2_kind(hierarchy, path, kind, err);
    if (code && read && err)
        *err = read->error;
    if (!code)
        code = kind_of_text(read ? read->text : text, read ? read->size : size, kind, err);
    free(text);
    return code;
}

enum zb_code zb__node_kind_of(zb_hierarchy *hierarchy, const char *path, char *kind, bool *older,
                              zb_error *err) {
    return find_kind(hierarchy, path, NULL, kind, older, err);
}

enum zb_code zb__node_kind(zb_hierarchy *hierarchy, const char *path, char *kind, zb_error *err) {
    bool older;
    return zb__node_kind_of(hierarchy, path, kind, &older, err);
}

/* Adds the node at path; *enter tells whether there can be nodes below. */
static enum zb_code add_node(zb_hierarchy *hierarchy, const char *path,
                             const zb__prefetched_document *read, zb__names *out, bool *enter,
                             zb_error *err) {
    char kind;
    bool older;
    enum zb_code code = find_kind(hierarchy, path, read, &kind, &older, err);
    *enter = kind != 'a';
    zb__name node = {.is_prefix = kind == 'a', .is_older = older};
    if (code || !kind)
        return code;
    node.text = strdup(path);
    return zb__names_add_listed(out, node, err);
}

/* Adds the link itself when it leads to a node. */
static enum zb_code add_link(zb_hierarchy *hierarchy, const char *path, zb__names *out,
                             zb_error *err) {
    char kind;
    enum zb_code code = zb__node_kind(hierarchy, path, &kind, err);
    if (code || !kind)
        return code;
    return zb__names_add_listed(out, (zb__name){.text = strdup(path), .is_link = true}, err);
}

static bool may_be_node(const zb__name *name) {
    return name->is_prefix && !zb__name_is_ours(name->text);
}

typedef struct node_walk {
    zb_hierarchy *hierarchy;
    zb__links *links; /* NULL to go through none */
    bool tops;        /* nodes below those that it finds below its start are not wanted */
    zb__names *out;
    zb__names *others; /* NULL, or gets the objects that are not in arrays and belong to no node */
} node_walk;

static enum zb_code add_nodes(const node_walk *walk, const char *path,
                              const zb__prefetched_document *read, bool is_start, zb_error *err);

static enum zb_code add_below(const node_walk *walk, const char *path, const zb__names *names,
                              zb_error *err) {
    zb__links *const links = walk->links;
    enum zb_code code = ZB_OK;
    /* Of a moment before the nodes are looked at, as each is of the moment before the next. */
    zb__prefetched_children prefetched = {
        .hierarchy = walk->hierarchy, .path = path, .names = names, .is_own = true};
    zb__prefetched_document *read;
    for (size_t i = 0; i < names->count && !code; i++) {
        const zb__name *name = &names->name[i];
        code = zb__prefetched_children_at(&prefetched, i, &read, err);
        if (code)
            break;
        char *below = zb__path_join(path, name->text);
        if (!below)
            code = zb_fail(err, ZB_ENOMEM, "out of memory for a path");
        else if (name->is_link && !links)
            code = add_link(walk->hierarchy, below, walk->out, err);
        else if (links)
            code = zb__links_count(links, name, below, err);
        if (!code && !(name->is_link && !links))
            code = add_nodes(walk, below, read, false, err);
        free(below);
    }
    zb__prefetched_children_free(&prefetched);
    return code;
}

static void keep_nodes(zb__names *names) {
    size_t kept = 0;
    for (size_t i = 0; i < names->count; i++) {
        if (may_be_node(&names->name[i]))
            names->name[kept++] = names->name[i];
        else
            free(names->name[i].text);
    }
    names->count = kept;
}

/* The documents of version 2 are others beside one of version 3. */
static bool is_other(const zb__name *name, const zb__name *group) {
    const bool is_new = group && !group->is_older;
    return !name->is_prefix && !name->leads_back && strcmp(name->text, "zarr.json") != 0 &&
           (is_new || !zb__v2_is_metadata(name->text)) && !zb__object_is_ours(name->text);
}

/* group: that of the directory, or NULL. */
static enum zb_code add_others(const node_walk *walk, const char *path, const zb__names *names,
                               const zb__name *group, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < names->count && !code; i++) {
        const zb__name *name = &names->name[i];
        if (is_other(name, group))
            code = zb__names_add_listed(walk->others,
                                        (zb__name){.text = zb__path_join(path, name->text)}, err);
    }
    return code;
}

/* Recursion is as deep as names in the store are nested. */
static enum zb_code add_nodes(const node_walk *walk, const char *path,
                              const zb__prefetched_document *read, bool is_start, zb_error *err) {
    bool enter;
    zb__names names = {.count = 0}, *out = walk->out;
    const size_t own = out->count;
    enum zb_code code = add_node(walk->hierarchy, path, read, out, &enter, err);
    zb__name *const group = !code && out->count > own ? &out->name[own] : NULL;
    if (!code && enter && !(walk->tops && group && !is_start))
        code = zb__list(walk->hierarchy, path, &names, err);
    for (size_t i = 0; group && i < names.count; i++)
        group->has_hidden |= names.name[i].is_prefix && zb__hidden_is_name(names.name[i].text);
    if (!code && walk->others)
        code = add_others(walk, path, &names, group, err);
    keep_nodes(&names);
    if (!code)
        code = add_below(walk, path, &names, err);
    zb__names_free(&names);
    return code;
}

static enum zb_code walk_nodes(const node_walk *walk, const char *path, zb_error *err) {
    *walk->out = (zb__names){.count = 0};
    enum zb_code code = !walk->links && zb_store_is_link(walk->hierarchy->store, path)
                            ? add_link(walk->hierarchy, path, walk->out, err)
                            : add_nodes(walk, path, NULL, true, err);
    if (code)
        zb__names_free(walk->out);
    return code;
}

enum zb_code zb__nodes_at(zb_hierarchy *hierarchy, const char *path, zb__names *out,
                          zb_error *err) {
    zb__links links = {.count = 0};
    const node_walk walk = {.hierarchy = hierarchy, .links = &links, .out = out};
    return walk_nodes(&walk, path, err);
}

enum zb_code zb__nodes_and_others(zb_hierarchy *hierarchy, const char *path, zb__names *out,
                                  zb__names *others, zb_error *err) {
    zb__links links = {.count = 0};
    const node_walk walk = {.hierarchy = hierarchy, .links = &links, .out = out, .others = others};
    *others = (zb__names){.count = 0};
    const enum zb_code code = walk_nodes(&walk, path, err);
    if (code)
        zb__names_free(others);
    return code;
}

enum zb_code zb__nodes_owned(zb_hierarchy *hierarchy, const char *path, bool tops, zb__names *out,
                             zb_error *err) {
    const node_walk walk = {.hierarchy = hierarchy, .tops = tops, .out = out};
    return walk_nodes(&walk, path, err);
}

enum zb_code zb__hidden_at(zb_hierarchy *hierarchy, const char *path, zb__names *out,
                           zb_error *err) {
    zb__names names;
    *out = (zb__names){.count = 0};
    enum zb_code code = zb__list(hierarchy, path, &names, err);
    for (size_t i = 0; i < names.count && !code; i++) {
        const zb__name *name = &names.name[i];
        if (name->is_prefix && !name->is_link && zb__hidden_is_name(name->text))
            code = zb__names_add(out, (zb__name){.text = zb__path_join(path, name->text)}, err);
    }
    zb__names_free(&names);
    return code;
}

/* ---- Objects ------------------------------------------------------------------------------ */

typedef struct key_walk {
    zb_hierarchy *hierarchy;
    zb__key_fn fn;        /* called for objects; or NULL */
    zb__key_fn prefix_fn; /* called for prefixes; or NULL */
    void *context;        /* of both */
    const zb_node *array; /* what is below belongs to it; or NULL */
    zb__links links;
} key_walk;

static enum zb_code call_with_key(const char *prefix, const char *name, zb__key_fn fn,
                                  void *context, zb_error *err) {
    char *key = zb__path_join(prefix, name);
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    enum zb_code code = fn(context, key, err);
    free(key);
    return code;
}

/* The name may be that of a key below. */
static bool is_skipped(const char *name, const char *skip) {
    const size_t length = skip ? strlen(skip) : 0;
    return length && strncmp(name, skip, length) == 0 && (!name[length] || name[length] == '/');
}

/* All levels at once where the store can: their prefixes are none of its names then. */
static enum zb_code list_keys(const key_walk *walk, const char *prefix, zb__listing *listing,
                              zb_error *err) {
    enum zb_code code =
        walk->prefix_fn ? ZB_EUNSUPPORTED : zb__list_below(walk->hierarchy, prefix, listing, err);
    return code == ZB_EUNSUPPORTED ? zb__list_apart(walk->hierarchy, prefix, listing, err) : code;
}

/* An array that another program moves away and back has no names below its path for a moment. So
   where nothing was found, *again tells whether something may be there. */
static enum zb_code doubt_empty(const zb_node *array, const char *prefix, bool *again,
                                zb_error *err) {
    const size_t names = strcmp(prefix, array->path) != 0;
    *again = !names || !zb_store_confirm_absent(array->hierarchy->store, array->path, array->home,
                                                &prefix, 1);
    return *again && !zb_store_confirm_absent(array->hierarchy->store, array->path, array->home,
                                              NULL, 0)
               ? zb__array_gone(array, err)
               : ZB_OK;
}

/* A directory that is found empty by the last look is empty. */
static enum zb_code list_surely(const key_walk *walk, const char *prefix, zb__listing *listing,
                                zb_error *err) {
    enum zb_code code = ZB_OK;
    bool again = true;
    for (int looks = 0; looks < 3 && again && !code; looks++) {
        code = list_keys(walk, prefix, listing, err);
        again = !code && walk->array && walk->array->home && listing->prefixes.count == 0 &&
                listing->objects.size == 0;
        if (again)
            code = doubt_empty(walk->array, prefix, &again, err);
    }
    return code;
}

/* Objects come before those below prefixes. */
static enum zb_code walk_keys(key_walk *walk, const char *prefix, const char *skip, zb_error *err) {
    zb__listing listing;
    enum zb_code code = list_surely(walk, prefix, &listing, err);
    if (code)
        return code;
    for (const char *name = NULL; !code && (name = zb__listing_next(&listing, name));) {
        if (walk->fn && !is_skipped(name, skip))
            code = call_with_key(prefix, name, walk->fn, walk->context, err);
    }
    for (size_t i = 0; i < listing.prefixes.count && !code; i++) {
        const zb__name *name = &listing.prefixes.name[i];
        if (is_skipped(name->text, skip))
            continue;
        char *key = zb__path_join(prefix, name->text);
        code = key ? zb__links_count(&walk->links, name, key, err)
                   : zb_fail(err, ZB_ENOMEM, "out of memory for a key");
        if (!code && walk->prefix_fn)
            code = walk->prefix_fn(walk->context, key, err);
        if (!code)
            code = walk_keys(walk, key, NULL, err);
        free(key);
    }
    zb__listing_free(&listing);
    return code;
}

enum zb_code zb__keys_below(zb_hierarchy *hierarchy, const char *prefix, const char *skip,
                            zb__key_fn fn, void *context, zb_error *err) {
    key_walk walk = {.hierarchy = hierarchy, .fn = fn, .context = context};
    return walk_keys(&walk, prefix, skip, err);
}

bool zb__chunk_index_of(const zb_node *node, const char *key, uint64_t *index) {
    const zb__array *array = node->array;
    const char *below = zb__path_below(key, node->path);
    return below && zb__chunk_key_parse(&array->keys, array->info.ndim, below, index);
}

typedef struct chunk_walk {
    const zb_node *node;
    zb__chunk_fn fn;
    void *context;
} chunk_walk;

static enum zb_code take_key(void *context, const char *key, zb_error *err) {
    chunk_walk *walk = context;
    uint64_t index[ZB_MAX_NDIM];
    return zb__chunk_index_of(walk->node, key, index) ? walk->fn(walk->context, key, index, err)
                                                      : ZB_OK;
}

/* All below a name in the array's directory that chunk keys begin with. */
static enum zb_code walk_prefix(key_walk *keys, const char *path, const char *name, zb_error *err) {
    char *key = zb__path_join(path, name);
    enum zb_code code =
        key ? walk_keys(keys, key, NULL, err) : zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    free(key);
    return code;
}

/* The directory of the array itself is never listed with all levels: others may lie in it. */
static enum zb_code each_chunk(key_walk *keys, const zb_node *node, zb_error *err) {
    zb__listing listing;
    enum zb_code code = keys->prefix_fn
                            ? list_surely(keys, node->path, &listing, err)
                            : zb__list_apart(node->hierarchy, node->path, &listing, err);
    if (code)
        return code;
    for (const char *name = NULL; !code && (name = zb__listing_next(&listing, name));) {
        if (keys->fn)
            code = call_with_key(node->path, name, keys->fn, keys->context, err);
    }
    for (size_t i = 0; i < listing.prefixes.count && !code; i++) {
        const char *name = listing.prefixes.name[i].text;
        if (keys->prefix_fn)
            code = call_with_key(node->path, name, keys->prefix_fn, keys->context, err);
        if (!code && zb__chunk_key_enters(&node->array->keys, name))
            code = walk_prefix(keys, node->path, name, err);
    }
    zb__listing_free(&listing);
    return code;
}

enum zb_code zb__chunks_each(const zb_node *node, zb__chunk_fn fn, void *context, zb_error *err) {
    chunk_walk walk = {.node = node, .fn = fn, .context = context};
    key_walk keys = {.hierarchy = node->hierarchy, .fn = take_key, .context = &walk};
    return each_chunk(&keys, node, err);
}

enum zb_code zb__chunk_places_each(const zb_node *node, zb__chunk_fn fn, void *context,
                                   zb_error *err) {
    chunk_walk walk = {.node = node, .fn = fn, .context = context};
    key_walk keys = {.hierarchy = node->hierarchy,
                     .fn = take_key,
                     .prefix_fn = take_key,
                     .context = &walk,
                     .array = node};
    return each_chunk(&keys, node, err);
}

/* The store says why it is no object, as it does to a reader of the chunk. */
static enum zb_code refuse_prefix(void *context, const char *key, const uint64_t *index,
                                  zb_error *err) {
    zb_object_info info;
    (void)index;
    const enum zb_code code = zb_store_stat(context, key, &info, err);
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

enum zb_code zb__chunk_prefixes_refuse(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    zb_node *node = NULL;
    if (!hierarchy->store->hints.is_local || zb_node_open(hierarchy, path, &node, NULL))
        return ZB_OK;
    chunk_walk walk = {.node = node, .fn = refuse_prefix, .context = hierarchy->store};
    key_walk keys = {
        .hierarchy = hierarchy, .prefix_fn = take_key, .context = &walk, .array = node};
    const enum zb_code code = node->array ? each_chunk(&keys, node, err) : ZB_OK;
    zb_node_release(node);
    return code;
}
