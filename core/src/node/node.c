/* SPDX-License-Identifier: MIT */
/*
 * Opening a node: one bounded read of its zarr.json, one parse, no listing. The node keeps its
 * document, to which attributes, names and codec configurations point.
 */
#include "node/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mix.h"
#include "model/array.h"
#include "model/block.h"
#include "model/grid.h"
#include "node/bare.h"
#include "node/document.h"
#include "node/path.h"
#include "node/served.h"
#include "node/lately.h"
#include "node/v2.h"
#include "node/version.h"
#include "store/foreign.h"
#include "zarrbridge/array.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

/* A node is written only while it is opened, by one thread, and read-only from then on. That is why
   its reference count is the only thing in it that needs to be atomic. */

/* ---- Reading the document ----------------------------------------------------------------- */

/* A document with consolidated metadata may be far larger than others. Only the parser knows for
   sure that it has some; a large text without the word is refused before. */
static enum zb_code check_size(const char *text, size_t size, const zb_json *document,
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

/* The store is asked for at most the larger of both limits; the limit that holds is chosen with the
   text at hand. */
uint64_t zb__document_limit(const char **name) {
    const zb_limits *limits = zb_limits_get();
    bool plain = limits->document_bytes > limits->consolidated_bytes;
    *name = plain ? "document_bytes" : "consolidated_bytes";
    return plain ? limits->document_bytes : limits->consolidated_bytes;
}

enum zb_code zb__node_read_version(zb_store *store, const char *path, char **text, size_t *size,
                                   zb_object_info *info, zb_error *err) {
    const char *name;
    const uint64_t limit = zb__document_limit(&name);
    char *key = zb__path_join(path, "zarr.json");
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    enum zb_code code = zb_store_get(store, key, limit, name, text, size, info, err);
    free(key);
    return code;
}

enum zb_code zb__node_read(zb_store *store, const char *path, char **text, size_t *size,
                           zb_error *err) {
    return zb__node_read_version(store, path, text, size, NULL, err);
}

enum zb_code zb__node_outline(zb_store *store, const char *path, zb__document *out, zb_error *err) {
    char *text;
    size_t size;
    enum zb_code code = zb__node_read(store, path, &text, &size, err);
    return code ? code : zb__document_outline(text, size, "zarr.json", out, err);
}

/* The message of a missing zarr.json stays when there is no other document either. */
enum zb_code zb__node_read_any(zb_store *store, const char *path, char **text, size_t *size,
                               zb_object_info *info, int *format, zb_error *err) {
    zb_error own = {.code = ZB_OK};
    *format = 3;
    enum zb_code code = zb__node_read_version(store, path, text, size, info, err);
    if (code != ZB_ENOTFOUND)
        return code;
    code = zb__v2_read(store, path, text, size, info, &own);
    if (code == ZB_ENOTFOUND)
        return code;
    *format = 2;
    if (code && err)
        *err = own;
    return code;
}

/* By eight bytes: a document is hashed each time that its node is opened. Each step can be undone,
   so that what differs stays different. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size) {
    const uint8_t *byte = bytes;
    for (uint64_t eight; size >= sizeof eight; size -= sizeof eight, byte += sizeof eight) {
        memcpy(&eight, byte, sizeof eight);
        hash = zb__mix(hash, eight);
    }
    for (; size > 0; size--, byte++)
        hash = zb__mix(hash, *byte);
    return hash;
}

/* The lengths keep ("a", "bc") and ("ab", "c") apart; the mix spreads the last bytes over all
   bits. */
static uint64_t make_cache_id(const zb_node *node, const char *text, size_t size) {
    size_t path_size = strlen(node->path);
    uint64_t hash = 0xcbf29ce484222325;
    hash = hash_bytes(hash, &node->store->id, sizeof node->store->id);
    hash = hash_bytes(hash, &path_size, sizeof path_size);
    hash = hash_bytes(hash, node->path, path_size);
    hash = hash_bytes(hash, text, size);
    return zb__mix(hash, size);
}

/* ---- Opening ------------------------------------------------------------------------------ */

bool zb__node_keeps_entries(const zb_store *store) {
    return !store->hints.can_list || !store->hints.is_local;
}

bool zb__node_has_entries(const zb_node *node) {
    const zb_json *block = zb_json_get(node->document, ZB__CONSOLIDATED);
    return zb__node_keeps_entries(node->store) || zb_json_count(zb_json_get(block, "metadata")) > 0;
}

static enum zb_code parse_document(const zb_store *store, const char *text, size_t size,
                                   zb_json **out, zb_error *err) {
    return zb__node_keeps_entries(store) ? zb__json_parse_document(text, size, out, err)
                                         : zb__json_parse_outline(text, size, out, err);
}

/* Fills node from its document's text and, unless it is parsed already, node->document. *kind
   becomes "array" or "group" as soon as that is known. */
static enum zb_code parse_node(zb_node *node, const char *text, size_t size, const char **kind,
                               zb_error *err) {
    bool is_array = false;
    enum zb_code code = check_size(text, size, NULL, err);
    if (!code && !node->document)
        code = parse_document(node->store, text, size, &node->document, err);
    if (code)
        return zb_error_prefix(err, code, "zarr.json");
    code = check_size(text, size, node->document, err);
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
        node->array->cache_id = make_cache_id(node, text, size);
    return code;
}

/* One reference, the caller's; NULL when memory runs out. */
static zb_node *new_node(zb_store *store, const char *path) {
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
    node->store = zb_store_retain(store);
    return node;
}

/* The text is only needed for parsing: the document's strings are copies. */
static enum zb_code check_kind(const zb_store *store, zb_dtype dtype, zb_error *err) {
    char name[24];
    if (store->kinds >> dtype.kind & 1)
        return ZB_OK;
    return zb_fail(err, ZB_EUNSUPPORTED, "data_type \"%s\" is not supported here",
                   zb_dtype_name(dtype, name));
}

enum zb_code zb__node_make(zb_store *store, const char *path, const char *text, size_t size,
                           zb_node **out, zb_error *err) {
    return zb__node_make_parsed(store, path, text, size, NULL, out, err);
}

enum zb_code zb__node_make_parsed(zb_store *store, const char *path, const char *text, size_t size,
                                  zb_json *json, zb_node **out, zb_error *err) {
    const char *kind = "node";
    zb_node *node = new_node(store, path);
    if (!node) {
        zb_json_free(json);
        return zb__node_blame(store, kind, path,
                              zb_fail(err, ZB_ENOMEM, "out of memory for a node"), err);
    }
    node->document = json;
    enum zb_code code = parse_node(node, text, size, &kind, err);
    if (!code && node->array)
        code = check_kind(store, node->array->info.dtype, err);
    if (code) {
        zb_node_release(node);
        return zb__node_blame(store, kind, path, code, err);
    }
    *out = node;
    return ZB_OK;
}

/* The place is put before a message here and nowhere below, so that it stands there once. */
enum zb_code zb__node_blame(const zb_store *store, const char *kind, const char *path,
                            enum zb_code code, zb_error *err) {
    return zb_error_prefix(err, code, "store %s, %s /%s", store->label, kind, path);
}

/* The document is read between two looks at the file or object that holds it: document and holder
   belong together when both looks see the same. When they differ, another process is deleting or
   replacing the node at this moment. */
static enum zb_code read_steady(zb_store *store, const char *path, char **text, size_t *size,
                                zb_object_info *info, uint64_t *home, int *format, zb_error *err) {
    enum { TRIES = 16 };
    uint64_t now = zb_store_identify(store, path);
    for (int tries = 0;; tries++) {
        *home = now;
        enum zb_code code = zb__node_read_any(store, path, text, size, info, format, err);
        if (code)
            return code;
        now = zb_store_identify(store, path);
        if (now == *home)
            return ZB_OK;
        free(*text);
        if (tries == TRIES)
            return zb_fail(err, ZB_ECONFLICT, "it is being replaced again and again");
    }
}

/* A group that is being deleted loses its document first of all, and looks from then on as one
   whose nodes never had any. */
static bool has_its_document(const zb_node *group) {
    zb_object_info info;
    char *key = zb__path_join(group->path, "zarr.json");
    const bool there = key && zb_store_stat(group->store, key, &info, NULL) == ZB_OK;
    free(key);
    return there && (!group->version || zb__node_unchanged(group, &info));
}

bool zb__group_says_all(const zb_node *node) {
    size_t left_out;
    if (node->array || zb__node_keeps_entries(node->store))
        return false;
    zb__json_left_out(node->document, &left_out);
    return left_out > 0 ? zb__group_is_bare(node->store, node->path) &&
                              (node->format == 2 || has_its_document(node))
                        : zb__node_has_entries(node);
}

/* Makes the node anew with the entries of its consolidated metadata. */
static enum zb_code keep_entries(zb_node **node, const char *text, size_t size, zb_error *err) {
    zb_node *outline = *node;
    zb_json *document = NULL;
    enum zb_code code = zb__json_parse_document(text, size, &document, err);
    if (code)
        code = zb__node_blame(outline->store, "group", outline->path,
                              zb_error_prefix(err, code, "zarr.json"), err);
    else
        code = zb__node_make_parsed(outline->store, outline->path, text, size, document, node, err);
    zb_node_release(outline);
    return code;
}

static void mark_origin(zb_node *node, int format, uint64_t home, const zb_object_info *info) {
    node->format = format;
    zb__node_mark_version(node, home, info);
}

static void keep_lately(zb_store *store, const char *path, char *text, size_t size,
                        const zb_object_info *info, int format, uint64_t changes) {
    const zb__early_document document = {.path = (char *)(uintptr_t)path,
                                         .text = text,
                                         .size = size,
                                         .format = format,
                                         .info = *info};
    zb__lately_keep(store, &document, changes, false);
}

enum zb_code zb__node_open_own(zb_store *store, const char *path, zb_node **out, zb_error *err) {
    char *text = NULL;
    size_t size = 0;
    uint64_t home, changes = zb_store_changes(store);
    int format;
    zb_object_info info;
    enum zb_code code = zb__path_check(path, err);
    if (code)
        return zb_error_prefix(err, code, "store %s", store->label);
    code = read_steady(store, path, &text, &size, &info, &home, &format, err);
    if (code == ZB_ENOTFOUND && *path == '\0' && zb__foreign_root(store, err))
        code = ZB_EUNSUPPORTED;
    if (code)
        return zb__node_blame(store, "node", path, code, err);
    code = zb__node_make(store, path, text, size, out, err);
    if (!code)
        mark_origin(*out, format, home, &info);
    const bool is_bare = !code && zb__group_says_all(*out);
    if (is_bare) {
        code = keep_entries(out, text, size, err);
        if (!code)
            mark_origin(*out, format, home, &info);
    }
    if (!code)
        keep_lately(store, path, text, size, &info, format, changes);
    free(text);
    if (code)
        return code;
    zb__served_keep(*out, is_bare, changes);
    return ZB_OK;
}

bool zb__node_open_owner(zb_store *store, const char *path, zb_node **out) {
    int format;
    zb__served *hold;
    zb_json *document = zb__served_owner(store, path, &format, &hold);
    zb_node *node = document ? new_node(store, path) : NULL;
    if (!node) {
        zb__served_release(hold);
        return false;
    }
    const zb_json *attributes = zb_json_get(document, "attributes");
    node->document = document;
    node->served = hold;
    node->attributes = zb_json_kind_of(attributes) == ZB_JSON_OBJECT ? attributes : NULL;
    node->format = format;
    node->is_served = true;
    *out = node;
    return true;
}

/* A node that consolidated metadata describes. An entry that makes no node says nothing. */
static bool open_served(zb_store *store, const char *path, zb_node **out) {
    size_t size;
    int format;
    if (zb__path_check(path, NULL))
        return false;
    if (store->trusts_list && zb__node_open_owner(store, path, out))
        return true;
    char *text = zb__served_text(store, path, &size, &format);
    bool opened = text && zb__node_make(store, path, text, size, out, NULL) == ZB_OK;
    free(text);
    if (opened) {
        (*out)->format = format;
        (*out)->is_served = true;
    }
    return opened;
}

enum zb_code zb_node_open(zb_store *store, const char *path, zb_node **out, zb_error *err) {
    if (open_served(store, path, out))
        return ZB_OK;
    if (store->trusts_list && zb__served_lacks(store, path))
        return zb__node_blame(
            store, "node", path,
            zb_fail(err, ZB_ENOTFOUND, "the consolidated metadata of the store do not have it"),
            err);
    return zb__node_open_own(store, path, out, err);
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
enum zb_code zb__node_look(zb_store *store, const char *path, zb__looked *last, zb_node **out,
                           zb_error *err) {
    char *text = NULL;
    size_t size = 0;
    int format;
    zb_json *outline = NULL;
    enum zb_code code = zb__node_read_any(store, path, &text, &size, NULL, &format, err);
    if (code == ZB_ENOTFOUND && *path == '\0' && zb__foreign_root(store, err))
        code = ZB_EUNSUPPORTED;
    if (code)
        return zb__node_blame(store, "node", path, code, err);
    if (last->array && last->format == format && last->size == size &&
        memcmp(last->text, text, size) == 0) {
        free(text);
        *out = zb_node_retain(last->array);
        return ZB_OK;
    }
    code = check_size(text, size, NULL, err);
    if (!code)
        code = parse_document(store, text, size, &outline, err);
    if (code)
        code = zb__node_blame(store, "node", path, zb_error_prefix(err, code, "zarr.json"), err);
    else
        code = zb__node_make_parsed(store, path, text, size, outline, out, err);
    if (code) {
        free(text);
        return code;
    }
    (*out)->format = format;
    remember(last, *out, text, size);
    return ZB_OK;
}

zb_node *zb_node_retain(zb_node *node) {
    atomic_fetch_add_explicit(&node->refs, 1, memory_order_relaxed);
    return node;
}

/* The array goes before the document that it points into, and the store last. */
void zb_node_release(zb_node *node) {
    if (!node || atomic_fetch_sub_explicit(&node->refs, 1, memory_order_acq_rel) != 1)
        return;
    zb__array_free(node->array);
    if (node->served)
        zb__served_release(node->served);
    else
        zb_json_free(node->document);
    zb_store_release(node->store);
    free(node->path);
    free(node);
}

/* ---- Accessors ---------------------------------------------------------------------------- */

zb_store *zb_node_store(const zb_node *node) {
    return node->store;
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

/* ---- The grid ----------------------------------------------------------------------------- */

/* NULL when the node is a group, or its array has no such dimension. */
static const zb__grid *grid_of(const zb_node *node, enum zb_grid_level level, uint32_t dim) {
    const zb__array *array = node->array;
    if (!array || dim >= array->info.ndim)
        return NULL;
    return level == ZB_GRID_INNER ? &array->inner : &array->grid;
}

static zb_chunk_span in_array(const zb_node *node, uint32_t dim, zb__span span) {
    return (zb_chunk_span){.index = span.index,
                           .start = span.start,
                           .extent = span.extent,
                           .inside = zb__span_inside(span, node->array->info.shape[dim])};
}

uint64_t zb_array_chunk_count(const zb_node *array, enum zb_grid_level level, uint32_t dim) {
    const zb__grid *grid = grid_of(array, level, dim);
    return grid ? zb__grid_count(grid, dim, array->array->info.shape[dim]) : 0;
}

zb_chunk_span zb_array_chunk_at(const zb_node *array, enum zb_grid_level level, uint32_t dim,
                                uint64_t index) {
    const zb__grid *grid = grid_of(array, level, dim);
    return grid ? in_array(array, dim, zb__grid_at(grid, dim, index))
                : (zb_chunk_span){.index = index};
}

zb_chunk_span zb_array_chunk_of(const zb_node *array, enum zb_grid_level level, uint32_t dim,
                                uint64_t element) {
    const zb__grid *grid = grid_of(array, level, dim);
    if (!grid)
        return (zb_chunk_span){.index = 0};
    if (element > INT64_MAX)
        return (zb_chunk_span){.start = UINT64_MAX};
    return in_array(array, dim, zb__grid_find(grid, dim, element));
}

/* ---- The grid as it is declared ----------------------------------------------------------- */

size_t zb_array_run_count(const zb_node *array, uint32_t dim) {
    const zb__grid *grid = grid_of(array, ZB_GRID_CHUNKS, dim);
    return grid && zb__grid_has_runs(grid, dim) ? grid->runs[dim].count : 0;
}

zb_chunk_run zb_array_run_at(const zb_node *array, uint32_t dim, size_t i) {
    if (i >= zb_array_run_count(array, dim))
        return (zb_chunk_run){.extent = 0};
    const zb__runs *runs = &array->array->grid.runs[dim];
    return (zb_chunk_run){.extent = runs->run[i].extent, .count = zb__run_cells(runs, i)};
}
