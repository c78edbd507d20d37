/* SPDX-License-Identifier: MIT */
/*
 * Changing members of a document: attributes, and the names of dimensions. The document as it
 * stands in the store now is edited, under the lock, not the one that the node was opened with:
 * another process's change is kept.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "array/build.h"
#include "change/change.h"
#include "change/consolidated_block.h"
#include "node/current.h"
#include "node/document.h"
#include "node/edit.h"
#include "node/node.h"
#include "node/v2.h"
#include "util/json.h"
#include "util/json_excerpt.h"
#include "util/json_writer.h"
#include "util/text.h"
#include "util/utf8.h"
#include "zarrbridge/change.h"
#include "zarrbridge/sys/store.h"

/* Documents without attributes, or with null, get an object first. */
static enum zb_code ensure_object(zb__document *document, zb_error *err) {
    zb_json *empty;
    if (zb_json_kind_of(zb_json_get(document->json, "attributes")) != ZB_JSON_NULL)
        return ZB_OK;
    enum zb_code code = zb_json_parse("{}", 2, &empty, err);
    if (code)
        return code;
    code = zb__document_edit(document, NULL, "attributes", empty, "zarr_format", err);
    zb_json_free(empty);
    return code;
}

/* What to change: attributes or (count 0) dimension_names. */
typedef struct members_wanted {
    size_t count;
    zb__member_edit *edits;
    const zb_attribute_edit *asked; /* [count] */
    const char *const *names;       /* NULL removes them */
    const zb_array_info *before;    /* with names: the array as the caller knows it */
} members_wanted;

static bool is_same(const zb_json *value, const char *text) {
    char *printed = value ? zb_json_print(value) : NULL;
    const bool same = printed && strcmp(printed, text) == 0;
    free(printed);
    return same;
}

static enum zb_code check_former(const zb__document *document, const zb_attribute_edit *asked,
                                 zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    const zb_json *now = zb_json_get(zb_json_get(document->json, "attributes"), asked->name);
    if (!asked->checked || (asked->former ? is_same(now, asked->former) : !now))
        return ZB_OK;
    return zb_fail(err, ZB_ECONFLICT, "another program has changed the attribute %s meanwhile",
                   zb__name_excerpt(asked->name, excerpt));
}

static enum zb_code names_json(const char *const *names, uint32_t ndim, zb_json **out,
                               zb_error *err) {
    zb_json_writer w = {.level = 0};
    zb__json_write_names(&w, names, ndim);
    char *taken = zb__text_take(&w.text, NULL);
    enum zb_code code = taken
                            ? zb__argument_parse(taken, "the list of dimension names", out, err)
                            : zb_fail(err, ZB_ENOMEM, "out of memory for the names of dimensions");
    free(taken);
    return code;
}

static const char *name_at(const char *const *names, uint32_t d) {
    return names ? names[d] : NULL;
}

/* A name that stays what it was for the caller leaves the one that another program has given the
   dimension since. */
static enum zb_code edit_names(zb__document *document, const members_wanted *wanted,
                               zb_error *err) {
    const zb_json *now = zb_json_get(document->json, "dimension_names");
    const zb_json *one = zb_json_kind_of(now) == ZB_JSON_ARRAY ? zb_json_first(now) : NULL;
    const char *names[ZB_MAX_NDIM];
    bool any = wanted->names != NULL;
    zb_json *json = NULL;
    for (uint32_t d = 0; d < wanted->before->ndim; d++, one = zb_json_next(one)) {
        const char *name = name_at(wanted->names, d);
        const bool stays = zb__text_same(name, name_at(wanted->before->dimension_names, d));
        names[d] = stays ? zb_json_string(one) : name;
        any |= names[d] != NULL;
    }
    enum zb_code code = any ? names_json(names, wanted->before->ndim, &json, err) : ZB_OK;
    if (!code)
        code = zb__document_edit(document, NULL, "dimension_names", json, "attributes", err);
    zb_json_free(json);
    return code;
}

static enum zb_code edit(zb__document *document, const members_wanted *wanted, zb_error *err) {
    static const char *const path[] = {"attributes", NULL};
    enum zb_code code = ZB_OK;
    if (wanted->count == 0)
        return edit_names(document, wanted, err);
    bool any_value = zb_json_get(document->json, "attributes") != NULL;
    for (size_t i = 0; i < wanted->count && !code; i++) {
        any_value |= wanted->edits[i].value != NULL;
        code = check_former(document, &wanted->asked[i], err);
    }
    if (!code && any_value)
        code = ensure_object(document, err);
    if (!code && !any_value) {
        char excerpt[ZB__BRIEF_SIZE];
        code = zb_fail(err, ZB_ENOTFOUND, "there is no attribute %s",
                       zb__name_excerpt(wanted->edits[0].name, excerpt));
    }
    return code ? code
                : zb__document_edit_members(document, path, wanted->edits, wanted->count, err);
}

/* The tree for the new node, which the document then lacks. It has the entries of a block if that
   of the old node has them. */
static enum zb_code take_tree(const zb_node *node, zb__document *document, zb_json **out,
                              zb_error *err) {
    if (zb__node_has_entries(node) && zb__consolidated_has(document))
        return zb__json_parse_document(document->text, document->size, out, err);
    *out = document->json;
    document->json = NULL;
    return ZB_OK;
}

/* Reads, edits and makes the new node; nothing is written yet. */
static enum zb_code make_changed(const zb_node *node, const members_wanted *wanted,
                                 zb__document *document, zb_node **out, zb_error *err) {
    zb_json *json = NULL;
    enum zb_code code = zb_node_may_change(node, err);
    if (!code)
        code = zb__node_still(node, err);
    if (code)
        return code;
    code = zb__node_outline(node->hierarchy, node->path, document, err);
    if (!code)
        code = edit(document, wanted, err);
    if (!code)
        code = take_tree(node, document, &json, err);
    if (code)
        return zb__node_add_context(node->hierarchy, node->array ? "array" : "group", node->path,
                                    code, err);
    code = zb__node_make_parsed(node->hierarchy, node->path, document->text, document->size, json,
                                out, err);
    if (!code)
        (*out)->home = node->home;
    return code;
}

static enum zb_code change_members(const zb_node *node, const members_wanted *wanted, zb_node **out,
                                   zb_error *err) {
    zb__change change;
    zb__document document = {.text = NULL};
    zb_node *changed = NULL;
    enum zb_code code = zb__change_begin(node->hierarchy, &change, err);
    if (code)
        return code;
    code = make_changed(node, wanted, &document, &changed, err);
    if (!code)
        code = zb__change_above(&change, node->path, false, err);
    if (!code)
        code = zb__change_drop(&change, err);
    if (!code)
        code = zb__change_put(&change, node->path, document.text, document.size, err);
    code = zb__change_end(&change, code, err);
    zb__document_free(&document);
    if (code)
        zb_node_release(changed);
    else
        *out = changed;
    return code;
}

static enum zb_code check_name(const char *name, zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    size_t left = strlen(name);
    for (const char *c = name; left > 0;) {
        size_t length = zb__utf8_length(c, left);
        if (length == 0)
            return zb_fail(err, ZB_EINVAL, "the attribute's name %s is not UTF-8",
                           zb__name_excerpt(name, excerpt));
        c += length;
        left -= length;
    }
    return ZB_OK;
}

/* Parses the values; those of the first *parsed edits belong to the caller. */
static enum zb_code parse_values(const zb_attribute_edit *edits, size_t count, zb__member_edit *out,
                                 size_t *parsed, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (*parsed = 0; *parsed < count && !code; *parsed += !code) {
        const zb_attribute_edit *one = &edits[*parsed];
        zb_json *value = NULL;
        code = check_name(one->name, err);
        if (!code && one->value)
            code = zb__argument_parse(one->value, "the attribute's value", &value, err);
        out[*parsed] = (zb__member_edit){.name = one->name, .value = value};
    }
    return code;
}

enum zb_code zb_node_set_attributes(const zb_node *node, const zb_attribute_edit *edits,
                                    size_t count, zb_node **out, zb_error *err) {
    size_t parsed = 0;
    members_wanted wanted = {.count = count, .asked = edits};
    if (count == 0)
        return zb_fail(err, ZB_EINVAL, "there is no attribute to change");
    wanted.edits = calloc(count, sizeof *wanted.edits);
    enum zb_code code = wanted.edits
                            ? parse_values(edits, count, wanted.edits, &parsed, err)
                            : zb_fail(err, ZB_ENOMEM, "out of memory for %zu attributes", count);
    code = code ? zb__node_add_context(node->hierarchy, node->array ? "array" : "group", node->path,
                                       code, err)
                : change_members(node, &wanted, out, err);
    for (size_t i = 0; i < parsed; i++)
        zb_json_free((zb_json *)(uintptr_t)wanted.edits[i].value);
    free(wanted.edits);
    return code;
}

enum zb_code zb_node_set_attribute(const zb_node *node, const char *name, const char *value,
                                   zb_node **out, zb_error *err) {
    const zb_attribute_edit edit = {.name = name, .value = value};
    return zb_node_set_attributes(node, &edit, 1, out, err);
}

/* ---- Names of dimensions ------------------------------------------------------------------ */

enum zb_code zb_array_set_dimension_names(const zb_node *array, const char *const *names,
                                          zb_node **out, zb_error *err) {
    if (!array->array)
        return zb_fail(err, ZB_EINVAL, "store %s: /%s is a group, which has no dimensions",
                       array->hierarchy->store->label, array->path);
    const members_wanted wanted = {.names = names, .before = &array->array->info};
    return change_members(array, &wanted, out, err);
}
