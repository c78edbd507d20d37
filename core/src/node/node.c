/* SPDX-License-Identifier: MIT */
/*
 * The node keeps its document, to which attributes, names and codec configurations point; the text
 * is needed for parsing alone, as the document's strings are copies.
 */
#include "node/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "array/block.h"
#include "hierarchy/cache_id.h"
#include "hierarchy/consolidated_cache.h"
#include "hierarchy/path.h"
#include "node/document.h"
#include "util/clock.h"
#include "util/json.h"
#include "zarrbridge/array.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

/* A node is written only while it is opened, by one thread, and read-only from then on. That is why
   its reference count is the only thing in it that needs to be atomic. */

/* ---- Making ------------------------------------------------------------------------------- */

/* Only the parser knows for sure that a document has consolidated metadata; a large text without
   the word is refused before. */
enum zb_code zb__node_check_size(const char *text, size_t size, const zb_json *document,
                                 zb_error *err) {
    static const char word[] = "\"consolidated_metadata\"";
    const zb_limits *limits = zb_limits_get();
    if (size <= limits->document_bytes)
        return ZB_OK;
    if (document ? zb_json_get(document, ZB__CONSOLIDATED) != NULL
                 : memmem(text, size, word, sizeof word - 1) != NULL)
        return ZB_OK;
    return zb_fail(
        err, ZB_ELIMIT,
        "the document has %zu bytes, the limit document_bytes is %llu (with consolidated "
        "metadata, consolidated_bytes: %llu)",
        size, (unsigned long long)limits->document_bytes,
        (unsigned long long)limits->consolidated_bytes);
}

bool zb__node_keeps_entries(const zb_hierarchy *hierarchy) {
    return !hierarchy->store->hints.can_list || !hierarchy->store->hints.is_local;
}

bool zb__node_has_entries(const zb_node *node) {
    const zb_json *block = zb_json_get(node->document, ZB__CONSOLIDATED);
    return zb__node_keeps_entries(node->hierarchy) ||
           zb_json_count(zb_json_get(block, "metadata")) > 0;
}

static enum zb_code parse_document(const zb_hierarchy *hierarchy, const char *text, size_t size,
                                   zb_json **out, zb_error *err) {
    return zb__node_keeps_entries(hierarchy) ? zb__json_parse_document(text, size, out, err)
                                             : zb__json_parse_outline(text, size, out, err);
}

/* Fills node from its document's text and, unless it is parsed already, node->document. *kind
   becomes "array" or "group" as soon as that is known. */
static enum zb_code parse_node(zb_node *node, const char *text, size_t size, const char **kind,
                               zb_error *err) {
    bool is_array = false;
    enum zb_code code = zb__node_check_size(text, size, NULL, err);
    if (!code && !node->document)
        code = parse_document(node->hierarchy, text, size, &node->document, err);
    if (code)
        return zb_error_prefix(err, code, "zarr.json");
    code = zb__node_check_size(text, size, node->document, err);
    if (!code)
        code = zb__document_check(node->document, &is_array, err);
    if (code)
        return code;
    *kind = is_array ? "array" : "group";
    const zb_json *attributes = zb_json_get(node->document, "attributes");
    node->attributes = zb_json_kind_of(attributes) == ZB_JSON_OBJECT ? attributes : NULL;
    if (!is_array)
        return ZB_OK;
    code = zb__array_parse(node->document, &node->array, err);
    if (!code)
        node->array->cache_id = zb__cache_id(node->hierarchy, node->path, text, size);
    return code;
}

/* One reference, the caller's; NULL when memory runs out. */
static zb_node *new_node(zb_hierarchy *hierarchy, const char *path) {
    zb_node *node = calloc(1, sizeof *node);
    if (!node)
        return NULL;
    node->path = strdup(path);
    if (!node->path) {
        free(node);
        return NULL;
    }
    atomic_init(&node->refs, 1);
    atomic_init(&node->asked, zb__now());
    node->format = 3;
    node->hierarchy = zb_hierarchy_retain(hierarchy);
    return node;
}

/* An array of one element is there for any program: CF has variables of any type whose attributes
   alone count (grid mappings). */
static enum zb_code check_kind(const zb_hierarchy *hierarchy, const zb_array_info *info,
                               zb_error *err) {
    char name[ZB_DTYPE_NAME_SIZE];
    const zb_dtype dtype = info->dtype;
    const bool is_single = info->ndim == 0 || (info->ndim == 1 && info->shape[0] == 1);
    if (is_single || zb__hierarchy_takes(hierarchy, dtype))
        return ZB_OK;
    return zb_fail(err, ZB_EUNSUPPORTED, "data_type \"%s\" is not supported here",
                   zb_dtype_name(dtype, name));
}

enum zb_code zb__node_make(zb_hierarchy *hierarchy, const char *path, const char *text, size_t size,
                           zb_node **out, zb_error *err) {
    return zb__node_make_parsed(hierarchy, path, text, size, NULL, out, err);
}

enum zb_code zb__node_make_parsed(zb_hierarchy *hierarchy, const char *path, const char *text,
                                  size_t size, zb_json *json, zb_node **out, zb_error *err) {
    const char *kind = "node";
    zb_node *node = new_node(hierarchy, path);
    if (!node) {
        zb_json_free(json);
        return zb__node_add_context(hierarchy, kind, path,
                                    zb_fail(err, ZB_ENOMEM, "out of memory for a node"), err);
    }
    node->document = json;
    enum zb_code code = parse_node(node, text, size, &kind, err);
    if (!code && node->array)
        code = check_kind(hierarchy, &node->array->info, err);
    if (code) {
        zb_node_release(node);
        return zb__node_add_context(hierarchy, kind, path, code, err);
    }
    *out = node;
    return ZB_OK;
}

/* The place is put before a message here and nowhere below, so that it stands there once. */
enum zb_code zb__node_add_context(const zb_hierarchy *hierarchy, const char *kind, const char *path,
                                  enum zb_code code, zb_error *err) {
    return zb_error_prefix(err, code, "store %s, %s /%s", hierarchy->store->label, kind, path);
}

zb_node *zb__node_share(zb_hierarchy *hierarchy, const char *path, zb_json *document, int format,
                        struct zb__cached_block *hold) {
    zb_node *node = new_node(hierarchy, path);
    if (!node)
        return NULL;
    const zb_json *attributes = zb_json_get(document, "attributes");
    node->document = document;
    node->cached_block = hold;
    node->attributes = zb_json_kind_of(attributes) == ZB_JSON_OBJECT ? attributes : NULL;
    node->format = format;
    node->is_cached_block = true;
    return node;
}

/* ---- References --------------------------------------------------------------------------- */

zb_node *zb_node_retain(zb_node *node) {
    atomic_fetch_add_explicit(&node->refs, 1, memory_order_relaxed);
    return node;
}

/* The array goes before the document that it points into, and the store last. */
void zb_node_release(zb_node *node) {
    if (!node || atomic_fetch_sub_explicit(&node->refs, 1, memory_order_acq_rel) != 1)
        return;
    zb__array_free(node->array);
    if (node->cached_block)
        zb__cached_block_release(node->cached_block);
    else
        zb_json_free(node->document);
    zb_hierarchy_release(node->hierarchy);
    free(node->clean_edge);
    free(node->path);
    free(node);
}

/* ---- Accessors ---------------------------------------------------------------------------- */

zb_hierarchy *zb_node_hierarchy(const zb_node *node) {
    return node->hierarchy;
}

const char *zb_node_path(const zb_node *node) {
    return node->path;
}

const char *zb_node_name(const zb_node *node) {
    return zb__path_name(node->path);
}

const zb_json *zb_node_attributes(const zb_node *node) {
    return node->attributes;
}

const zb_json *zb_node_document(const zb_node *node) {
    return node->document;
}

int zb_node_format(const zb_node *node) {
    return node->format;
}

const zb_array_info *zb_node_array(const zb_node *node) {
    return node->array ? &node->array->info : NULL;
}

char *zb_array_key_encoding(const zb_node *array) {
    static const zb__key_encoding usual = {.form = ZB__KEYS_DEFAULT, .separator = '/'};
    if (!array->array || array->format == 2 || zb__keys_same(&array->array->keys, &usual))
        return NULL;
    zb_json_writer *w = zb_json_writer_new();
    if (w)
        zb__keys_print(w, &array->array->keys);
    return zb_json_writer_end(w, NULL);
}

/* The root's path is empty and gets no slash: keys never begin with one. */
char *zb__array_chunk_key(const zb_node *node, const uint64_t *index) {
    char chunk[ZB__CHUNK_KEY_MAX];
    zb__chunk_key(&node->array->keys, node->array->info.ndim, index, chunk);
    return zb__path_join(node->path, chunk);
}
