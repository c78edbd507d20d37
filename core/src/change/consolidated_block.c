/* SPDX-License-Identifier: MIT */
/*
 * Consolidated metadata as zarr-python writes it: a block inside a group's document, with a flat
 * map from the paths of all nodes below to their documents. Sorted by depth, then by name without
 * regard to case; every group in it has an empty block of its own.
 */
#include "change/consolidated_block.h"

#include <stdlib.h>
#include <string.h>

#include "array/block.h"
#include "change/block_map.h"
#include "hierarchy/path.h"
#include "node/document.h"
#include "node/documents.h"
#include "node/node.h"
#include "node/walk.h"
#include "util/json.h"
#include "util/json_writer.h"
#include "util/list.h"
#include "zarrbridge/json.h"

/* null is what older zarr-python writes for "none". */
bool zb__consolidated_has(const zb__document *group) {
    return zb_json_kind_of(zb_json_get(group->json, ZB__CONSOLIDATED)) != ZB_JSON_NULL;
}

/* ---- Printing entries --------------------------------------------------------------------- */

/* A group's document whose own block is replaced by an empty one, before node_type as zarr-python
   has it. Parsed again, since values of a tree are what is printed in lines. */
static enum zb_code with_empty_block(const zb_json *group, zb_json **out, zb_error *err) {
    zb_json_writer w = {.level = 0};
    size_t size;
    zb_json_begin_object(&w);
    for (const zb_json *m = zb_json_first(group); m; m = zb_json_next(m)) {
        if (strcmp(zb_json_name(m), ZB__CONSOLIDATED) == 0)
            continue;
        if (strcmp(zb_json_name(m), "node_type") == 0) {
            zb_json_write_name(&w, ZB__CONSOLIDATED);
            zb__block_begin(&w);
            zb__block_end(&w);
        }
        zb_json_write_name(&w, zb_json_name(m));
        zb_json_write_value(&w, m);
    }
    zb_json_end_object(&w);
    char *printed = zb__text_take(&w.text, &size);
    enum zb_code code = printed ? zb__json_parse_document(printed, size, out, err)
                                : zb_fail(err, ZB_ENOMEM, "out of memory for a document");
    free(printed);
    return code;
}

/* lines: in the style of documents that are written in lines. */
static enum zb_code print_row(zb__map_row *r, const zb_json *json, bool lines, zb_error *err) {
    const char *type = zb_json_string(zb_json_get(json, "node_type"));
    zb_json_writer w = lines ? zb__json_indented(ZB__ENTRY_LEVEL) : (zb_json_writer){.level = 0};
    zb_json *group = NULL;
    enum zb_code code =
        type && strcmp(type, "group") == 0 ? with_empty_block(json, &group, err) : ZB_OK;
    if (code)
        return code;
    zb_json_write_name(&w, r->path);
    zb_json_write_value(&w, group ? group : json);
    zb_json_free(group);
    r->entry = zb__text_take(&w.text, &r->size);
    return r->entry ? ZB_OK : zb_fail(err, ZB_ENOMEM, "out of memory for consolidated metadata");
}

/* Reads the document of the node at path: read, whose text is taken over, where it was read before,
   else NULL. One that is not JSON, or not there, leaves *out without text. */
static enum zb_code outline(zb_hierarchy *hierarchy, const char *path,
                            zb__prefetched_document *read, zb__document *out, zb_error *err) {
    char *text = read ? read->text : NULL;
    size_t size = read ? read->size : 0;
    enum zb_code code = read ? read->code : zb__node_read(hierarchy, path, &text, &size, err);
    *out = (zb__document){.text = NULL};
    if (read)
        read->text = NULL;
    if (code && read && err)
        *err = read->error;
    if (code)
        return code == ZB_ENOTFOUND ? ZB_OK
                                    : zb__node_add_context(hierarchy, "node", path, code, err);
    code = zb__document_outline(text, size, path, out, err);
    return code == ZB_ENOMEM ? code : ZB_OK;
}

/* Adds the entry of the node at path below the group, unless it has no document that is JSON. */
static enum zb_code rows_add(zb__map_rows *list, const zb__map_change *change, const char *path,
                             const zb__document *document, zb_error *err) {
    if (!document->text)
        return ZB_OK;
    zb__map_row made = {.path = strdup(zb__path_below(path, change->group))};
    enum zb_code code = ZB_OK;
    if (!made.path || !zb__list_grow(&list->item, list->count, &list->capacity, sizeof made))
        code = zb_fail(err, ZB_ENOMEM, "out of memory for consolidated metadata");
    if (!code)
        code = print_row(&made, document->json, change->lines, err);
    if (code)
        free(made.path);
    else
        list->item[list->count++] = made;
    return code;
}

/* The entries of all nodes that change->put names. */
static enum zb_code rows_read(zb__map_rows *list, zb_hierarchy *hierarchy,
                              const zb__map_change *change, zb_error *err) {
    enum zb_code code = ZB_OK;
    zb__prefetched_children prefetched = {
        .hierarchy = hierarchy, .path = "", .names = change->put, .is_own = true};
    zb__prefetched_document *read;
    for (size_t i = 0; i < change->put->count && !code; i++) {
        const char *path = change->put->name[i].text;
        zb__document document;
        code = zb__prefetched_children_at(&prefetched, i, &read, err);
        if (!code)
            code = outline(hierarchy, path, read, &document, err);
        if (code)
            break;
        code = rows_add(list, change, path, &document, err);
        zb__document_free(&document);
    }
    zb__prefetched_children_free(&prefetched);
    if (!code)
        zb__map_rows_sort(list);
    return code;
}

/* ---- The block ---------------------------------------------------------------------------- */

static enum zb_code empty_block(zb_json **out, zb_error *err) {
    zb_json_writer w = {.level = 0};
    size_t size;
    zb__block_begin(&w);
    zb__block_end(&w);
    char *printed = zb__text_take(&w.text, &size);
    enum zb_code code = printed ? zb_json_parse(printed, size, out, err)
                                : zb_fail(err, ZB_ENOMEM, "out of memory for a block");
    free(printed);
    return code;
}

/* Gives the document a block whose map is empty, and tells the place of the map. The member goes to
   the place that it had among its siblings, or where zarr-python has it. */
static enum zb_code set_block(zb__document *group, const zb__document *old, zb_json_place *map,
                              zb_error *err) {
    zb_json *block = NULL;
    const zb_json *next = old ? zb_json_next(zb_json_get(old->json, ZB__CONSOLIDATED)) : NULL;
    const char *before = !old ? "node_type" : next ? zb_json_name(next) : NULL;
    enum zb_code code = empty_block(&block, err);
    if (!code)
        code = zb__document_edit(group, NULL, ZB__CONSOLIDATED, block, before, err);
    zb_json_free(block);
    if (!code)
        *map =
            zb_json_place_of(zb_json_get(zb_json_get(group->json, ZB__CONSOLIDATED), "metadata"));
    return code;
}

/* The comma and the white space of an entry that comes: as much as is usual. */
#define ENTRY_SPACE 16

/* The document with the whole map in place of the empty one. */
static enum zb_code fill_block(const zb__document *group, zb_json_place empty,
                               const zb__map_change *change, zb__text_parts *text, zb_error *err) {
    size_t size = ENTRY_SPACE;
    for (size_t i = 0; i < change->rows->count; i++)
        size += change->rows->item[i].size + ENTRY_SPACE;
    zb__text_parts_expect(text, size);
    zb__text_parts_borrow(text, group->text, empty.begin);
    enum zb_code code = zb__map_write(change, text, err);
    zb__text_parts_borrow(text, group->text + empty.end, group->size - empty.end);
    return code ? code : zb__text_parts_end(text, err);
}

/* change: with all but its rows and style. */
static enum zb_code update(zb_hierarchy *hierarchy, zb__document *group, zb__map_change *change,
                           zb__text_parts *text, zb_error *err) {
    zb_json_place empty;
    zb__map_rows list = {.count = 0};
    change->rows = &list;
    change->lines = memchr(group->text, '\n', group->size) != NULL;
    *text = (zb__text_parts){.count = 0};
    enum zb_code code = rows_read(&list, hierarchy, change, err);
    if (!code)
        code = set_block(group, change->old, &empty, err);
    if (!code)
        code = fill_block(group, empty, change, text, err);
    zb__map_rows_free(&list);
    if (code)
        zb__text_parts_free(text);
    return code;
}

enum zb_code zb__consolidated_update(zb_hierarchy *hierarchy, const char *path, zb__document *group,
                                     const zb__document *old, zb__names *put, zb__names *erased,
                                     zb__text_parts *text, zb_error *err) {
    const zb_json *block = zb_json_get(old->json, ZB__CONSOLIDATED);
    const zb_json *map = zb_json_get(block, "metadata");
    const char *kind = zb_json_string(zb_json_get(block, "kind"));
    if (zb_json_kind_of(map) != ZB_JSON_OBJECT || (kind && strcmp(kind, "inline") != 0))
        return zb_fail(err, ZB_EUNSUPPORTED, "consolidated metadata of an unknown form");
    zb__names_sort(put);
    zb__names_sort(erased);
    zb__map_change change = {
        .group = path, .old = old, .place = zb_json_place_of(map), .put = put, .erased = erased};
    return update(hierarchy, group, &change, text, err);
}

enum zb_code zb__consolidated_rebuild(zb_hierarchy *hierarchy, const char *path,
                                      zb__document *group, zb__text_parts *text, zb_error *err) {
    const zb__names none = {.count = 0};
    zb__names nodes;
    enum zb_code code = zb__nodes_at(hierarchy, path, &nodes, err);
    const bool has_group = !code && nodes.count && strcmp(nodes.name[0].text, path) == 0;
    const zb__names below = {.name = has_group ? nodes.name + 1 : nodes.name,
                             .count = nodes.count - has_group};
    zb__map_change change = {.group = path, .put = &below, .erased = &none};
    if (!code)
        code = update(hierarchy, group, &change, text, err);
    zb__names_free(&nodes);
    return code;
}
