/* SPDX-License-Identifier: MIT */
/*
 * The rules of the core specification for a zarr.json as a whole. The rule for strangers: a member
 * that we do not know may change the meaning of the data, so it is refused unless it says
 * {"must_understand": false}.
 *
 * Some forms are read leniently, because writers in the wild produce them and they cannot change
 * the data: attributes null, consolidated_metadata null or without must_understand.
 */
#include "node/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/extension.h"
#include "util/json_excerpt.h"
#include "hierarchy/staged.h"
#include "hierarchy/path.h"
#include "array/block.h"
#include "node/v2.h"
#include "zarrbridge/json.h"
#include "zarrbridge/limits.h"

/* The members are alike in version 3.0 and 3.1 of the specification: a document does not tell which
   of the two it follows, so both are read by the same rules. */
static const char *const group_members[] = {"zarr_format", "node_type", "attributes",
                                            ZB__CONSOLIDATED, NULL};

static const char *const array_members[] = {"zarr_format",
                                            "node_type",
                                            "attributes",
                                            "shape",
                                            "data_type",
                                            "chunk_grid",
                                            "chunk_key_encoding",
                                            "fill_value",
                                            "codecs",
                                            "storage_transformers",
                                            "dimension_names",
                                            NULL};

/* The version must be an integer token: "3" and 3.0 are refused by other readers too. Another
   version is called unsupported rather than wrong. */
static enum zb_code check_format(const zb_json *document, zb_error *err) {
    const zb_json *format = zb_json_get(document, "zarr_format");
    int64_t number;
    char excerpt[ZB__BRIEF_SIZE];
    if (zb_json_int64(format, &number) && number == 3)
        return ZB_OK;
    bool other = zb_json_int64(format, &number);
    return zb_fail(err, other ? ZB_EUNSUPPORTED : ZB_EFORMAT,
                   "zarr_format is %s, expected the number 3", zb__json_excerpt(format, excerpt));
}

/* The node type is known before the strangers are judged, because which members are known depends
   on it. */
static enum zb_code check_type(const zb_json *document, bool *is_array, zb_error *err) {
    const zb_json *type = zb_json_get(document, "node_type");
    const char *name = zb_json_string(type);
    char excerpt[ZB__BRIEF_SIZE];
    *is_array = name && strcmp(name, "array") == 0;
    if (*is_array || (name && strcmp(name, "group") == 0))
        return ZB_OK;
    return zb_fail(err, ZB_EFORMAT, "node_type is %s, expected \"array\" or \"group\"",
                   zb__json_excerpt(type, excerpt));
}

/* Names are compared exactly: "Shape" is as strange as any other word. */
static enum zb_code check_members(const zb_json *document, bool is_array, zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    for (const zb_json *m = zb_json_first(document); m; m = zb_json_next(m)) {
        if (!zb__name_in(zb_json_name(m), is_array ? array_members : group_members) &&
            !zb__json_ignorable(m))
            return zb_fail(err, ZB_EUNSUPPORTED,
                           "unknown member %s, which does not say {\"must_understand\": false}",
                           zb__name_excerpt(zb_json_name(m), excerpt));
    }
    return ZB_OK;
}

/* Members of the attributes are the user's, and never judged. */
static enum zb_code check_attributes(const zb_json *document, zb_error *err) {
    const zb_json *attributes = zb_json_get(document, "attributes");
    enum zb_json_kind kind = zb_json_kind_of(attributes);
    char excerpt[ZB__BRIEF_SIZE];
    if (kind == ZB_JSON_OBJECT || kind == ZB_JSON_NULL)
        return ZB_OK;
    return zb_fail(err, ZB_EFORMAT, "attributes is %s, expected an object",
                   zb__json_excerpt(attributes, excerpt));
}

/* No storage transformer is defined; a transformer that may be ignored is ignored. */
static enum zb_code check_transformers(const zb_json *document, zb_error *err) {
    const zb_json *list = zb_json_get(document, "storage_transformers");
    char excerpt[ZB__BRIEF_SIZE];
    if (list && zb_json_kind_of(list) != ZB_JSON_ARRAY)
        return zb_fail(err, ZB_EFORMAT, "storage_transformers is %s, expected a list",
                       zb__json_excerpt(list, excerpt));
    for (const zb_json *item = zb_json_first(list); item; item = zb_json_next(item)) {
        if (!zb__json_ignorable(item))
            return zb_fail(err, ZB_EUNSUPPORTED, "storage_transformers has %s, expected none",
                           zb__json_excerpt(item, excerpt));
    }
    return ZB_OK;
}

/* The block is a hint, so only its form is looked at; children.c checks the names when it has to
 * use them. */
static enum zb_code check_consolidated(const zb_json *document, zb_error *err) {
    const zb_json *block = zb_json_get(document, ZB__CONSOLIDATED);
    char excerpt[ZB__BRIEF_SIZE];
    if (zb_json_kind_of(block) == ZB_JSON_NULL || zb__json_ignorable(block))
        return ZB_OK;
    if (zb_json_kind_of(block) != ZB_JSON_OBJECT)
        return zb_fail(err, ZB_EFORMAT, "consolidated_metadata is %s, expected an object",
                       zb__json_excerpt(block, excerpt));
    const zb_json *kind = zb_json_get(block, "kind");
    const char *name = zb_json_string(kind);
    if (kind && !(name && strcmp(name, "inline") == 0))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "consolidated_metadata: kind is %s, expected \"inline\"",
                       zb__json_excerpt(kind, excerpt));
    return ZB_OK;
}

/* The checks come in the order in which a reader of the message would look: first that it is Zarr
   at all, then the version, the kind of node, and only then the details. */
enum zb_code zb__document_check(const zb_json *document, bool *is_array, zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    if (zb_json_kind_of(document) != ZB_JSON_OBJECT)
        return zb_fail(err, ZB_EFORMAT, "the document is %s, expected an object",
                       zb__json_excerpt(document, excerpt));
    enum zb_code code = check_format(document, err);
    if (!code)
        code = check_type(document, is_array, err);
    if (!code)
        code = check_members(document, *is_array, err);
    if (!code)
        code = check_attributes(document, err);
    if (!code && *is_array)
        code = check_transformers(document, err);
    if (!code && !*is_array)
        code = check_consolidated(document, err);
    return code;
}

/* ---- Reading ------------------------------------------------------------------------------ */

/* The store is asked for at most the larger of both limits; the limit that holds is chosen with the
   text at hand. */
uint64_t zb__document_limit(const char **name) {
    const zb_limits *limits = zb_limits_get();
    bool plain = limits->document_bytes > limits->consolidated_bytes;
    *name = plain ? "document_bytes" : "consolidated_bytes";
    return plain ? limits->document_bytes : limits->consolidated_bytes;
}

enum zb_code zb__node_read_version(zb_hierarchy *hierarchy, const char *path, char **text,
                                   size_t *size, zb_object_info *info, zb_error *err) {
    const char *name;
    const uint64_t limit = zb__document_limit(&name);
    char *key = zb__path_join(path, "zarr.json");
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    enum zb_code code =
        zb_store_get(zb__place_of(hierarchy, key), key, limit, name, text, size, info, err);
    free(key);
    return code;
}

enum zb_code zb__node_read(zb_hierarchy *hierarchy, const char *path, char **text, size_t *size,
                           zb_error *err) {
    return zb__node_read_version(hierarchy, path, text, size, NULL, err);
}

enum zb_code zb__node_outline(zb_hierarchy *hierarchy, const char *path, zb__document *out,
                              zb_error *err) {
    char *text;
    size_t size;
    enum zb_code code = zb__node_read(hierarchy, path, &text, &size, err);
    return code ? code : zb__document_outline(text, size, "zarr.json", out, err);
}

/* The message of a missing zarr.json stays when there is no other document either. */
enum zb_code zb__node_read_any(zb_hierarchy *hierarchy, const char *path, char **text, size_t *size,
                               zb_object_info *info, int *format, zb_error *err) {
    zb_error own = {.code = ZB_OK};
    *format = 3;
    enum zb_code code = zb__node_read_version(hierarchy, path, text, size, info, err);
    if (code != ZB_ENOTFOUND)
        return code;
    code = zb__v2_read(hierarchy, path, text, size, info, &own);
    if (code == ZB_ENOTFOUND)
        return code;
    *format = 2;
    if (code && err)
        *err = own;
    return code;
}
