/* SPDX-License-Identifier: MIT */
/*
 * Consolidated metadata as zarr-python writes it: a block inside a group's document, with a flat
 * map from the paths of all nodes below to their documents. Sorted by depth, then by name without
 * regard to case; every group in it has an empty block of its own.
 */
#include "change/consolidated.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/list.h"
#include "model/block.h"
#include "node/document.h"
#include "node/node.h"
#include "node/walk.h"
#include "zarrbridge/json.h"

/* null is what older zarr-python writes for "none". */
bool zb__consolidated_has(const zb__document *group) {
    return zb_json_kind_of(zb_json_get(group->json, ZB__CONSOLIDATED)) != ZB_JSON_NULL;
}

/* ---- Rows of the map ---------------------------------------------------------------------- */

typedef struct row {
    const char *path;    /* below the block's group */
    const zb_json *json; /* the entry, which is printed without its own block when it is new */
    bool is_new;
} row;

static size_t depth_of(const char *path) {
    size_t depth = 0;
    for (; *path; path++)
        depth += *path == '/';
    return depth;
}

/* zarr-python folds the case of all letters; here only of ASCII ones. The order only serves human
   readers. */
static int compare_rows(const void *a, const void *b) {
    const row *x = a, *y = b;
    size_t x_depth = depth_of(x->path), y_depth = depth_of(y->path);
    if (x_depth != y_depth)
        return x_depth < y_depth ? -1 : 1;
    int order = strcasecmp(x->path, y->path);
    return order ? order : strcmp(x->path, y->path);
}

/* ---- Printing ----------------------------------------------------------------------------- */

/* A group's own block is replaced by an empty one, before node_type as zarr-python has it. */
static void print_group(zb_json_writer *w, const zb_json *group) {
    zb_json_begin_object(w);
    for (const zb_json *m = zb_json_first(group); m; m = zb_json_next(m)) {
        if (strcmp(zb_json_name(m), ZB__CONSOLIDATED) == 0)
            continue;
        if (strcmp(zb_json_name(m), "node_type") == 0) {
            zb_json_write_name(w, ZB__CONSOLIDATED);
            zb__block_begin(w);
            zb__block_end(w);
        }
        zb_json_write_name(w, zb_json_name(m));
        zb_json_write_value(w, m);
    }
    zb_json_end_object(w);
}

static void print_row(zb_json_writer *w, const row *r) {
    const char *type = zb_json_string(zb_json_get(r->json, "node_type"));
    zb_json_write_name(w, r->path);
    if (r->is_new && type && strcmp(type, "group") == 0)
        print_group(w, r->json);
    else
        zb_json_write_value(w, r->json);
}

/* *out: an object with the block as a member, so that what users have put there is read as in a
   document. */
static enum zb_code print_block(const row *rows, size_t count, zb_json **out, zb_error *err) {
    zb_json_writer w = {.level = 0};
    size_t size;
    zb_json_begin_object(&w);
    zb_json_write_name(&w, ZB__CONSOLIDATED);
    zb__block_begin(&w);
    for (size_t i = 0; i < count; i++)
        print_row(&w, &rows[i]);
    zb__block_end(&w);
    zb_json_end_object(&w);
    char *printed = zb__text_take(&w.text, &size);
    enum zb_code code = printed ? zb__json_parse_document(printed, size, out, err)
                                : zb_fail(err, ZB_ENOMEM, "out of memory for a block");
    free(printed);
    return code;
}

/* ---- Paths that have changed -------------------------------------------------------------- */

/* True if the list, which is sorted, has the path of `length` bytes. */
static bool has_path(const zb__names *sorted, const char *path, size_t length) {
    size_t low = 0, high = sorted->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *name = sorted->name[middle].text;
        int order = strncmp(name, path, length);
        if (order == 0 && name[length] == '\0')
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* The same for the path or one above it. */
static bool has_above(const zb__names *sorted, const char *path) {
    for (const char *end = path; sorted->count > 0; end++) {
        if ((*end == '/' || *end == '\0') && has_path(sorted, path, (size_t)(end - path)))
            return true;
        if (*end == '\0')
            return false;
    }
    return false;
}

/* ---- Documents of now --------------------------------------------------------------------- */

/* The documents that nodes have now. A row's path and value point into them. */
typedef struct documents {
    struct {
        char *path;
        zb__document document;
    } *item;
    size_t count, capacity;
} documents;

static void documents_free(documents *list) {
    for (size_t i = 0; i < list->count; i++) {
        free(list->item[i].path);
        zb__document_free(&list->item[i].document);
    }
    free(list->item);
}

/* Reads the node's document, unless there is none or it is not JSON. */
static enum zb_code documents_read(documents *list, zb_store *store, const char *path,
                                   zb_error *err) {
    char *text;
    size_t size;
    zb__document document;
    enum zb_code code = zb__node_read(store, path, &text, &size, err);
    if (code)
        return code == ZB_ENOTFOUND ? ZB_OK : zb__node_blame(store, "node", path, code, err);
    code = zb__document_parse(text, size, path, &document, err);
    if (code)
        return code == ZB_ENOMEM ? code : ZB_OK;
    char *copy = strdup(path);
    if (!copy || !zb__list_grow(&list->item, list->count, &list->capacity, sizeof *list->item)) {
        free(copy);
        zb__document_free(&document);
        return zb_fail(err, ZB_ENOMEM, "out of memory for a list of documents");
    }
    list->item[list->count].path = copy;
    list->item[list->count++].document = document;
    return ZB_OK;
}

static enum zb_code documents_below(documents *list, zb_store *store, const char *group,
                                    const zb__names *paths, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < paths->count && !code; i++) {
        if (zb__path_below(paths->name[i].text, group))
            code = documents_read(list, store, paths->name[i].text, err);
    }
    return code;
}

/* ---- Updating ----------------------------------------------------------------------------- */

/* The entries of an old block that still hold. */
static enum zb_code keep_rows(row *rows, size_t *count, const char *group, const zb_json *map,
                              const zb__names *put, const zb__names *erased, zb_error *err) {
    for (const zb_json *m = zb_json_first(map); m; m = zb_json_next(m)) {
        char *path = zb__path_join(group, zb_json_name(m));
        if (!path)
            return zb_fail(err, ZB_ENOMEM, "out of memory for a path");
        if (!has_path(put, path, strlen(path)) && !has_above(erased, path))
            rows[(*count)++] = (row){.path = zb_json_name(m), .json = m};
        free(path);
    }
    return ZB_OK;
}

/* The member goes to the place that it had among its siblings, or where zarr-python has it. */
static enum zb_code set_block(zb__document *group, const zb__document *old, const row *rows,
                              size_t count, zb_error *err) {
    zb_json *block = NULL;
    const zb_json *next = old ? zb_json_next(zb_json_get(old->json, ZB__CONSOLIDATED)) : NULL;
    const char *before = !old ? "node_type" : next ? zb_json_name(next) : NULL;
    enum zb_code code = print_block(rows, count, &block, err);
    if (!code)
        code = zb__document_edit(group, NULL, ZB__CONSOLIDATED,
                                 zb_json_get(block, ZB__CONSOLIDATED), before, err);
    zb_json_free(block);
    return code;
}

/* map: the old entries, or NULL; put, erased: sorted. */
static enum zb_code update(zb_store *store, const char *path, zb__document *group,
                           const zb__document *old, const zb_json *map, const zb__names *put,
                           const zb__names *erased, zb_error *err) {
    documents now = {.count = 0};
    size_t count = 0;
    row *rows = NULL;
    enum zb_code code = documents_below(&now, store, path, put, err);
    if (!code) {
        rows = calloc(zb_json_count(map) + now.count + 1, sizeof *rows);
        code = rows ? keep_rows(rows, &count, path, map, put, erased, err)
                    : zb_fail(err, ZB_ENOMEM, "out of memory for consolidated metadata");
    }
    if (!code) {
        for (size_t i = 0; i < now.count; i++)
            rows[count++] = (row){.path = zb__path_below(now.item[i].path, path),
                                  .json = now.item[i].document.json,
                                  .is_new = true};
        qsort(rows, count, sizeof *rows, compare_rows);
        code = set_block(group, old, rows, count, err);
    }
    free(rows);
    documents_free(&now);
    return code;
}

enum zb_code zb__consolidated_update(zb_store *store, const char *path, zb__document *group,
                                     const zb__document *old, zb__names *put, zb__names *erased,
                                     zb_error *err) {
    const zb_json *block = zb_json_get(old->json, ZB__CONSOLIDATED);
    const zb_json *map = zb_json_get(block, "metadata");
    const char *kind = zb_json_string(zb_json_get(block, "kind"));
    if (zb_json_kind_of(map) != ZB_JSON_OBJECT || (kind && strcmp(kind, "inline") != 0))
        return zb_fail(err, ZB_EUNSUPPORTED, "consolidated metadata of an unknown form");
    zb__names_sort(put);
    zb__names_sort(erased);
    return update(store, path, group, old, map, put, erased, err);
}

enum zb_code zb__consolidated_rebuild(zb_store *store, const char *path, zb__document *group,
                                      zb_error *err) {
    const zb__names none = {.count = 0};
    zb__names nodes;
    enum zb_code code = zb__nodes_at(store, path, &nodes, err);
    if (!code)
        code = update(store, path, group, NULL, NULL, &nodes, &none, err);
    zb__names_free(&nodes);
    return code;
}
