/* SPDX-License-Identifier: MIT */
/*
 * The documents of version 2: .zarray or .zgroup, and .zattrs beside it. A .zmetadata is asked for
 * only where the store cannot list, and serves names and documents as the block of version 3 does.
 *
 * Version 2 has groups without a document: directories with nodes below. Looking for those goes no
 * further than a few directories, since any directory may be one that holds no node at all.
 */
#include "node/v2.h"

#include <stdlib.h>
#include <string.h>

#include "util/json.h"
#include "array/v2_array.h"
#include "node/listing.h"
#include "hierarchy/markers.h"
#include "node/node.h"
#include "hierarchy/path.h"
#include "hierarchy/consolidated_cache.h"
#include "hierarchy/staged.h"
#include "zarrbridge/json.h"
#include "zarrbridge/limits.h"

static const char zarray[] = ".zarray", zgroup[] = ".zgroup", zattrs[] = ".zattrs",
                  zmetadata[] = ".zmetadata";

const char *const zb__node_documents[] = {"zarr.json", zarray, zgroup, NULL};

bool zb__v2_is_document(const char *name) {
    return strcmp(name, zarray) == 0 || strcmp(name, zgroup) == 0;
}

bool zb__v2_is_metadata(const char *name) {
    return zb__v2_is_document(name) || strcmp(name, zattrs) == 0 || strcmp(name, zmetadata) == 0;
}

/* ---- Reading ---- */

/* Reads and parses a document; ZB_ENOTFOUND, without a message, when there is none. */
static enum zb_code read_json(zb_hierarchy *hierarchy, const char *path, const char *name,
                              zb_json **out, zb_object_info *info, zb_error *err) {
    const zb_limits *limits = zb_limits_get();
    bool block = name == zmetadata;
    char *text, *key = zb__path_join(path, name);
    size_t size;
    zb_error own = {.code = ZB_OK};
    *out = NULL;
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    enum zb_code code =
        zb_store_get(zb__place_of(hierarchy, key), key,
                     block ? limits->consolidated_bytes : limits->document_bytes,
                     block ? "consolidated_bytes" : "document_bytes", &text, &size, info, &own);
    free(key);
    if (code == ZB_ENOTFOUND)
        return code;
    if (!code) {
        code = block || name == zattrs ? zb__json_parse_users(text, size, out, &own)
                                       : zb__json_parse_document(text, size, out, &own);
        free(text);
    }
    if (code)
        zb_error_prefix(&own, code, "%s", name);
    if (code && err)
        *err = own;
    return code;
}

/* The same for a document that need not be there: *out is NULL then. */
static enum zb_code read_optional(zb_hierarchy *hierarchy, const char *path, const char *name,
                                  zb_json **out, zb_error *err) {
    enum zb_code code = read_json(hierarchy, path, name, out, NULL, err);
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

static enum zb_code read_array(zb_hierarchy *hierarchy, const char *path, const zb_json *array,
                               char **text, size_t *size, zb_error *err) {
    zb_json *attributes;
    enum zb_code code = read_optional(hierarchy, path, zattrs, &attributes, err);
    if (!code) {
        code = zb__v2_array(array, attributes, text, size, err);
        if (code)
            zb_error_prefix(err, code, "%s", zarray);
    }
    zb_json_free(attributes);
    return code;
}

/* group: NULL for a group without a document. */
static enum zb_code read_group(zb_hierarchy *hierarchy, const char *path, const zb_json *group,
                               char **text, size_t *size, zb_error *err) {
    zb_json *attributes, *block = NULL;
    enum zb_code code = read_optional(hierarchy, path, zattrs, &attributes, err);
    if (!code && !hierarchy->store->hints.can_list)
        code = read_optional(hierarchy, path, zmetadata, &block, err);
    if (!code) {
        code = zb__v2_group(group, attributes, block, text, size, err);
        if (code)
            zb_error_prefix(err, code, "%s", zgroup);
    }
    zb_json_free(block);
    zb_json_free(attributes);
    return code;
}

/* ---- What is there ---- */

static enum zb_code is_there(zb_hierarchy *hierarchy, const char *path, const char *name, bool *out,
                             zb_error *err) {
    zb_object_info info;
    char *key = zb__path_join(path, name);
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    enum zb_code code = zb_store_stat(zb__place_of(hierarchy, key), key, &info, err);
    free(key);
    *out = code == ZB_OK;
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

enum zb_code zb__v2_kind(zb_hierarchy *hierarchy, const char *path, char *kind, zb_error *err) {
    bool array, group = false;
    *kind = 0;
    enum zb_code code = is_there(hierarchy, path, zarray, &array, err);
    if (!code && !array)
        code = is_there(hierarchy, path, zgroup, &group, err);
    if (!code)
        *kind = array ? 'a' : group ? 'g' : 0;
    return code;
}

/* A search for a node below a directory. */
typedef struct search {
    zb_hierarchy *hierarchy;
    unsigned left; /* directories that may still be looked into */
    bool found;
} search;

enum { MOST_LOOKED_INTO = 64, MOST_LEVELS = 8 };

/* Links are not followed: what they lead to may be anything. */
static enum zb_code search_below(search *s, const char *path, unsigned levels, zb_error *err) {
    zb__names names;
    enum zb_code code = zb__list(s->hierarchy, path, &names, err);
    if (code)
        return code;
    for (size_t i = 0; i < names.count && !code && !s->found && s->left > 0; i++) {
        const zb__name *name = &names.name[i];
        char kind = 0;
        if (!name->is_prefix || name->is_link || zb__name_is_ours(name->text))
            continue;
        char *below = zb__path_join(path, name->text);
        if (!below)
            code = zb_fail(err, ZB_ENOMEM, "out of memory for a path");
        s->left--;
        if (!code)
            code = zb__v2_kind(s->hierarchy, below, &kind, err);
        s->found = kind != 0;
        if (!code && !s->found && levels > 1)
            code = search_below(s, below, levels - 1, err);
        free(below);
    }
    zb__names_free(&names);
    return code;
}

static enum zb_code is_implicit(zb_hierarchy *hierarchy, const char *path, bool *out,
                                zb_error *err) {
    search s = {.hierarchy = hierarchy, .left = MOST_LOOKED_INTO};
    enum zb_code code =
        hierarchy->store->hints.can_list ? search_below(&s, path, MOST_LEVELS, err) : ZB_OK;
    *out = s.found;
    return code;
}

/* True if there is surely no node. In a distant store that has nodes of version 2 the next one is
   likely to be another, which the question would cost one more request. */
static bool is_nothing(zb_hierarchy *hierarchy, const char *path) {
    return (hierarchy->store->hints.is_local || !atomic_load(&hierarchy->has_older)) &&
           zb__is_absent(hierarchy, path);
}

/* The same where there is no zarr.json. `asks`: there may be nothing at all, as where new nodes
   come. */
static enum zb_code is_older_at(zb_hierarchy *hierarchy, const char *path, bool asks, bool *out,
                                zb_error *err) {
    char kind;
    *out = false;
    if (asks && is_nothing(hierarchy, path))
        return ZB_OK;
    enum zb_code code = zb__v2_kind(hierarchy, path, &kind, err);
    *out = kind != 0;
    return code || kind ? code : is_implicit(hierarchy, path, out, err);
}

enum zb_code zb__v2_is_at(zb_hierarchy *hierarchy, const char *path, bool *out, zb_error *err) {
    bool newer;
    *out = false;
    enum zb_code code = is_there(hierarchy, path, "zarr.json", &newer, err);
    return code || newer ? code
                         : is_older_at(hierarchy, path, hierarchy->store->hints.is_local, out, err);
}

enum zb_code zb__v2_read(zb_hierarchy *hierarchy, const char *path, char **text, size_t *size,
                         zb_object_info *info, zb_error *err) {
    zb_json *document;
    bool implicit = false;
    if (zb__cached_block_format(hierarchy, path) == 3 || is_nothing(hierarchy, path))
        return ZB_ENOTFOUND;
    enum zb_code code = read_json(hierarchy, path, zarray, &document, info, err);
    if (!code) {
        code = read_array(hierarchy, path, document, text, size, err);
    } else if (code == ZB_ENOTFOUND) {
        if (info)
            *info = (zb_object_info){.size = 0};
        code = read_json(hierarchy, path, zgroup, &document, NULL, err);
        if (code == ZB_ENOTFOUND) {
            code = is_implicit(hierarchy, path, &implicit, err);
            if (!code && !implicit)
                return ZB_ENOTFOUND;
        }
        if (!code)
            code = read_group(hierarchy, path, document, text, size, err);
    }
    zb_json_free(document);
    if (!code)
        atomic_store(&hierarchy->has_older, true);
    return code;
}

/* ---- Changes ---- */

static enum zb_code refuse(const zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "store %s: /%s is Zarr version 2, which is read but not changed; `zarrbridge "
                   "copy` makes a store of version 3 of it",
                   hierarchy->store->label, path);
}

enum zb_code zb_node_may_change(const zb_node *node, zb_error *err) {
    return node->format == 2 ? refuse(node->hierarchy, node->path, err) : ZB_OK;
}

enum zb_code zb__v2_refuse(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    bool found;
    enum zb_code code = zb__v2_is_at(hierarchy, path, &found, err);
    return code || !found ? code : refuse(hierarchy, path, err);
}

enum zb_code zb__v2_refuse_older(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    bool found;
    enum zb_code code = is_older_at(hierarchy, path, true, &found, err);
    return code || !found ? code : refuse(hierarchy, path, err);
}
