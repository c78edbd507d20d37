/* SPDX-License-Identifier: MIT */
#include "check/consolidated.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/block.h"
#include "hierarchy/markers.h"
#include "hierarchy/path.h"
#include "hierarchy/staged.h"
#include "node/bare.h"
#include "node/document.h"
#include "node/node.h"
#include "node/walk.h"
#include "util/json.h"
#include "zarrbridge/node.h"

/* ---- Comparing ---------------------------------------------------------------------------- */

/* Members in another order are looked up one by one, unless there are too many for that. */
#define MOST_UNORDERED 1000

static bool equal(const zb_json *a, const zb_json *b);

static const zb_json *next_compared(const zb_json *m, bool top) {
    while (m && top && strcmp(zb_json_name(m), ZB__CONSOLIDATED) == 0)
        m = zb_json_next(m);
    return m;
}

/* top: the objects are documents, whose own block does not count. */
static bool objects_equal(const zb_json *a, const zb_json *b, bool top) {
    const zb_json *left = next_compared(zb_json_first(a), top);
    const zb_json *right = next_compared(zb_json_first(b), top);
    size_t count = zb_json_count(a);
    while (left && right) {
        bool same = strcmp(zb_json_name(left), zb_json_name(right)) == 0;
        if (!same && count > MOST_UNORDERED)
            return false;
        if (!equal(left, same ? right : zb_json_get(b, zb_json_name(left))))
            return false;
        left = next_compared(zb_json_next(left), top);
        right = next_compared(zb_json_next(right), top);
    }
    return !left && !right; /* equal counts, and no name comes twice */
}

/* What a tree cannot hold is not compared. Numbers are equal when they are written alike: one is a
   copy of the other. */
static bool equal(const zb_json *a, const zb_json *b) {
    if (!a || !b)
        return false;
    if (a->raw || b->raw)
        return true; /* a block cuts values off at another depth than a document does */
    if (zb_json_kind_of(a) != zb_json_kind_of(b))
        return false;
    switch (zb_json_kind_of(a)) {
    case ZB_JSON_NULL:
        return true;
    case ZB_JSON_BOOL:
        return zb_json_bool(a) == zb_json_bool(b);
    case ZB_JSON_NUMBER:
        return strcmp(zb_json_number(a), zb_json_number(b)) == 0;
    case ZB_JSON_STRING:
        return strcmp(zb_json_string(a), zb_json_string(b)) == 0;
    case ZB_JSON_OBJECT:
        return objects_equal(a, b, false);
    case ZB_JSON_ARRAY:
        break;
    }
    const zb_json *left = zb_json_first(a), *right = zb_json_first(b);
    for (; left && right && equal(left, right); right = zb_json_next(right))
        left = zb_json_next(left);
    return !left && !right;
}

/* One node's document against its entry. A document that is not JSON has no place in a block: it is
   reported for itself. */
static enum zb_code compare_node(zb_hierarchy *hierarchy, const char *path, const zb_json *entry,
                                 char *why, zb_error *err) {
    char *text;
    size_t size;
    zb_json *json = NULL;
    enum zb_code code = zb__node_read(hierarchy, path, &text, &size, err);
    if (code)
        return code == ZB_ENOTFOUND ? ZB_OK : code;
    bool is_json = zb__json_parse_document(text, size, &json, NULL) == ZB_OK;
    bool same = is_json && entry && zb_json_kind_of(entry) == ZB_JSON_OBJECT &&
                zb_json_kind_of(json) == ZB_JSON_OBJECT && objects_equal(entry, json, true);
    if (!entry && is_json)
        snprintf(why, ZB_MESSAGE_SIZE, "consolidated metadata does not know /%s", path);
    else if (!same && entry)
        snprintf(why, ZB_MESSAGE_SIZE, "consolidated metadata describes /%s otherwise", path);
    zb_json_free(json);
    free(text);
    return ZB_OK;
}

static enum zb_code compare_nodes(const zb_node *group, const zb_json **entries, size_t count,
                                  char *why, zb_error *err) {
    zb__names nodes;
    size_t known = 0;
    enum zb_code code = zb__nodes_at(group->hierarchy, group->path, &nodes, err);
    for (size_t i = 0; i < nodes.count && !code && !*why; i++) {
        const char *below = zb__path_below(nodes.name[i].text, group->path);
        if (!below || !*below)
            continue; /* the group itself */
        const zb_json *entry = zb__block_find(entries, count, below);
        known += entry != NULL;
        code = compare_node(group->hierarchy, nodes.name[i].text, entry, why, err);
    }
    if (!code && !*why && known < count)
        snprintf(why, ZB_MESSAGE_SIZE, "consolidated metadata describes %zu nodes that are gone",
                 count - known);
    zb__names_free(&nodes);
    return code;
}

static enum zb_code compare_map(const zb_node *group, const zb_json *map, char *why,
                                zb_error *err) {
    size_t count;
    if (zb_json_kind_of(map) != ZB_JSON_OBJECT || (!zb_json_first(map) && *group->path))
        return ZB_OK;
    const zb_json **entries = zb__block_entries(map, &count);
    if (!entries)
        return zb_fail(err, ZB_ENOMEM, "no memory for consolidated metadata");
    enum zb_code code = compare_nodes(group, entries, count, why, err);
    free(entries);
    return code;
}

/* The document with the entries that an open node lacks. */
static enum zb_code read_whole(const zb_node *group, zb_json **out, zb_error *err) {
    char *text;
    size_t size;
    enum zb_code code = zb__node_read(group->hierarchy, group->path, &text, &size, err);
    if (code)
        return code == ZB_ENOTFOUND ? ZB_OK : code;
    code = zb__json_parse_document(text, size, out, err);
    free(text);
    return code;
}

enum zb_code zb__consolidated_compare(const zb_node *group, char why[ZB_MESSAGE_SIZE],
                                      zb_error *err) {
    zb_json *whole = NULL;
    const zb_json *document = group->document;
    enum zb_code code = ZB_OK;
    *why = '\0';
    if (zb__group_says_all(group))
        return ZB_OK;
    if (zb_json_get(document, ZB__CONSOLIDATED) && !zb__node_keeps_entries(group->hierarchy)) {
        code = read_whole(group, &whole, err);
        document = whole;
    }
    if (!code)
        code = compare_map(group, zb_json_get(zb_json_get(document, ZB__CONSOLIDATED), "metadata"),
                           why, err);
    zb_json_free(whole);
    return code;
}

/* ---- Dirty blocks -------------------------------------------------------------------------- */

enum zb_code zb__consolidated_is_dirty(const zb_node *group, bool *dirty, zb_error *err) {
    zb_object_info info;
    char *key = zb__path_join(group->path, ZB__MARKER_CONSOLIDATED);
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "no memory for a key");
    enum zb_code code = zb_store_stat(zb__place_of(group->hierarchy, key), key, &info, err);
    free(key);
    *dirty = code == ZB_OK;
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}
