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

/* Both are documents, whose own block does not count. */
static bool is_same_document(const zb_json *a, const zb_json *b) {
    size_t count = zb_json_count(b) - (zb_json_get(b, ZB__CONSOLIDATED) != NULL);
    for (const zb_json *one = zb_json_first(a); one; one = zb_json_next(one)) {
        const char *name = zb_json_name(one);
        if (strcmp(name, ZB__CONSOLIDATED) == 0)
            continue;
        if (count == 0 || !zb__json_same_but_cut(one, zb_json_get(b, name)))
            return false;
        count--;
    }
    return count == 0;
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
                zb_json_kind_of(json) == ZB_JSON_OBJECT && is_same_document(entry, json);
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
