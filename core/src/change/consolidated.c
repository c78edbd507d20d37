/* SPDX-License-Identifier: MIT */
/*
 * Consolidated metadata as zarr-python writes it: a block inside a group's document, with a flat
 * map from the paths of all nodes below to their documents. Sorted by depth, then by name without
 * regard to case; every group in it has an empty block of its own.
 */
#include "change/consolidated.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "node/document.h"
#include "node/edit.h"
#include "zarrbridge/json.h"

static const char member[] = "consolidated_metadata";

/* null is what older zarr-python writes for "none". */
bool zb__consolidated_has(const zb__document *group) {
    return zb_json_kind_of(zb_json_get(group->json, member)) != ZB_JSON_NULL;
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

/* True if the change touches the node at this path below `group`. */
static bool is_changed(const char *path, const char *group, const zb__entries *put,
                       const char *erased) {
    const char *below = erased ? zb__path_below(erased, group) : NULL;
    if (below && (strcmp(path, below) == 0 || zb__path_below(path, below)))
        return true;
    for (size_t i = 0; i < put->count; i++) {
        below = zb__path_below(put->entry[i].path, group);
        if (below && strcmp(path, below) == 0)
            return true;
    }
    return false;
}

/* ---- Printing ----------------------------------------------------------------------------- */

/* Prints the block around the map, whose entries the caller prints. */
static void begin_block(zb_json_writer *w) {
    zb_json_begin_object(w);
    zb_json_write_name(w, "kind");
    zb_json_write_string(w, "inline");
    zb_json_write_name(w, "must_understand");
    zb_json_write_bool(w, false);
    zb_json_write_name(w, "metadata");
    zb_json_begin_object(w);
}

static void end_block(zb_json_writer *w) {
    zb_json_end_object(w);
    zb_json_end_object(w);
}

/* A group's own block is replaced by an empty one, before node_type as zarr-python has it. */
static void print_group(zb_json_writer *w, const zb_json *group) {
    zb_json_begin_object(w);
    for (const zb_json *m = zb_json_first(group); m; m = zb_json_next(m)) {
        if (strcmp(zb_json_name(m), member) == 0)
            continue;
        if (strcmp(zb_json_name(m), "node_type") == 0) {
            zb_json_write_name(w, member);
            begin_block(w);
            end_block(w);
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

static enum zb_code print_block(const row *rows, size_t count, zb_json **out, zb_error *err) {
    zb_json_writer w = {.level = 0};
    size_t size;
    begin_block(&w);
    for (size_t i = 0; i < count; i++)
        print_row(&w, &rows[i]);
    end_block(&w);
    char *printed = zb__text_take(&w.text, &size);
    enum zb_code code = printed ? zb_json_parse(printed, size, out, err)
                                : zb_fail(err, ZB_ENOMEM, "out of memory for a block");
    free(printed);
    return code;
}

/* ---- Updating ----------------------------------------------------------------------------- */

/* The last of several entries for one path counts; the others are skipped. */
static bool is_last(const zb__entries *put, size_t i) {
    for (size_t j = i + 1; j < put->count; j++) {
        if (strcmp(put->entry[i].path, put->entry[j].path) == 0)
            return false;
    }
    return true;
}

/* Nodes put below `erased` come after the erasing (a node that was moved out of it is elsewhere),
   so the nodes that are put are never filtered by it. */
enum zb_code zb__consolidated_update(zb__document *group, const char *path, const zb__entries *put,
                                     const char *erased, zb_error *err) {
    const zb_json *old = zb_json_get(zb_json_get(group->json, member), "metadata");
    const char *kind = zb_json_string(zb_json_get(zb_json_get(group->json, member), "kind"));
    if (zb_json_kind_of(old) != ZB_JSON_OBJECT || (kind && strcmp(kind, "inline") != 0))
        return zb_fail(err, ZB_EUNSUPPORTED, "consolidated metadata of an unknown form");
    row *rows = calloc(zb_json_count(old) + put->count + 1, sizeof *rows);
    if (!rows)
        return zb_fail(err, ZB_ENOMEM, "out of memory for consolidated metadata");
    size_t count = 0;
    for (const zb_json *m = zb_json_first(old); m; m = zb_json_next(m)) {
        if (!is_changed(zb_json_name(m), path, put, erased))
            rows[count++] = (row){.path = zb_json_name(m), .json = m};
    }
    for (size_t i = 0; i < put->count; i++) {
        const char *below = zb__path_below(put->entry[i].path, path);
        if (below && is_last(put, i))
            rows[count++] =
                (row){.path = below, .json = put->entry[i].document.json, .is_new = true};
    }
    qsort(rows, count, sizeof *rows, compare_rows);
    zb_json *block = NULL;
    enum zb_code code = print_block(rows, count, &block, err);
    if (!code)
        code = zb__document_edit(group, NULL, member, block, NULL, err);
    zb_json_free(block);
    free(rows);
    return code;
}
