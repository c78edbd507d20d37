/* SPDX-License-Identifier: MIT */
/*
 * From .zarray, .zgroup and .zattrs to the text of a zarr.json. Above this there is but one kind of
 * documents: shapes, fill values and codecs are checked by the parsers of version 3, whose messages
 * speak of the members that version 2 has as well.
 *
 * Unknown members are ignored, as the specification of version 2 has it.
 */
#include "array/v2_array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "array/block.h"
#include "types/dtype.h"
#include "util/base64.h"
#include "util/extension.h"
#include "util/half.h"
#include "util/json.h"
#include "util/json_excerpt.h"
#include "util/json_writer.h"
#include "zarrbridge/json.h"

#define NAMES "_ARRAY_DIMENSIONS"

/* ---- Names of dimensions ------------------------------------------------------------------ */

/*
 * Version 2 has no names of dimensions and no other place for nodata than fill_value. xarray keeps
 * the names in the attribute _ARRAY_DIMENSIONS, NCZarr in a dictionary; both take fill_value for
 * nodata whenever it is there. So the names become dimension_names, and fill_value an attribute
 * _FillValue, which says the same in version 3.
 *
 * JSON has no NaN. Python writes the bare word, which becomes the string that the rules for
 * attributes take for the number (docs/conventions.md).
 */

/* A list with one text for each dimension, or NULL. */
static const zb_json *names_list(const zb_json *list, size_t ndim) {
    if (zb_json_kind_of(list) != ZB_JSON_ARRAY || zb_json_count(list) != ndim)
        return NULL;
    for (const zb_json *name = zb_json_first(list); name; name = zb_json_next(name)) {
        if (!zb_json_string(name))
            return NULL;
    }
    return list;
}

/* Paths of NCZarr's dimensions, whose last parts are the names: an attribute, in older stores a
   member of .zarray. */
static const zb_json *nczarr_list(const zb_json *zarray, const zb_json *zattrs, size_t ndim) {
    static const char *const owners[] = {"_nczarr_array", "_NCZARR_ARRAY"};
    static const char *const members[] = {"dimrefs", "dimension_references"};
    for (size_t i = 0; i < 4; i++) {
        const zb_json *owner = zb_json_get(zattrs, owners[i / 2]);
        if (!owner)
            owner = zb_json_get(zarray, owners[i / 2]);
        const zb_json *list = names_list(zb_json_get(owner, members[i % 2]), ndim);
        if (list)
            return list;
    }
    return NULL;
}

static void write_names(zb_json_writer *w, const zb_json *names) {
    zb_json_write_name(w, "dimension_names");
    zb_json_begin_array(w);
    for (const zb_json *name = zb_json_first(names); name; name = zb_json_next(name)) {
        const char *text = zb_json_string(name), *slash = strrchr(text, '/');
        zb_json_write_string(w, slash ? slash + 1 : text);
    }
    zb_json_end_array(w);
}

/* ---- Attributes --------------------------------------------------------------------------- */

static void write_value(zb_json_writer *w, const zb_json *value) {
    const char *number = zb_json_number(value);
    enum zb_json_kind kind = zb_json_kind_of(value);
    if (value->raw) {
        zb_json_write_value(w, value);
    } else if (number && strpbrk(number, "NI")) {
        zb_json_write_string(w, number);
    } else if (kind == ZB_JSON_ARRAY || kind == ZB_JSON_OBJECT) {
        kind == ZB_JSON_OBJECT ? zb_json_begin_object(w) : zb_json_begin_array(w);
        for (const zb_json *m = zb_json_first(value); m; m = zb_json_next(m)) {
            if (kind == ZB_JSON_OBJECT)
                zb__json_write_name_of(w, m);
            write_value(w, m);
        }
        kind == ZB_JSON_OBJECT ? zb_json_end_object(w) : zb_json_end_array(w);
    } else {
        zb_json_write_value(w, value);
    }
}

/* Writes all but `hidden` (NULL: none) and what NCZarr keeps for itself. */
static void write_members(zb_json_writer *w, const zb_json *zattrs, const char *hidden) {
    static const char nczarr[] = "_nczarr_";
    for (const zb_json *m = zb_json_first(zattrs); m; m = zb_json_next(m)) {
        const char *name = zb_json_name(m);
        if ((hidden && strcmp(name, hidden) == 0) || strncasecmp(name, nczarr, strlen(nczarr)) == 0)
            continue;
        zb__json_write_name_of(w, m);
        write_value(w, m);
    }
}

/* The value of a float, rounded to the size of the elements. */
static bool parse_float(const zb_json *fill, uint64_t size, double *out) {
    static const struct {
        const char *text;
        double value;
    } words[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};
    const char *text = zb_json_string(fill);
    bool found = zb_json_double(fill, out);
    for (size_t i = 0; text && i < sizeof words / sizeof *words && !found; i++) {
        found = strcmp(text, words[i].text) == 0;
        *out = words[i].value;
    }
    if (size == 2)
        *out = (double)zb__half_to_float(zb__half_from_double(*out));
    else if (size == 4)
        *out = (double)(float)*out;
    return found;
}

/* The fill value of a number, in the form that xarray takes from version 3: integers as they stand,
   floats as the base64 text of a double. A fill value that is none is told when the array is
   opened. */
static void write_nodata(zb_json_writer *w, const zb_json *fill, zb_dtype dtype) {
    char base64[ZB__BASE64_SIZE];
    double value = 0;
    if (zb_json_kind_of(fill) == ZB_JSON_ARRAY && zb_json_count(fill) == 1)
        fill = zb_json_first(fill);
    const bool is_integer = dtype.kind == ZB_KIND_INT || dtype.kind == ZB_KIND_UINT;
    if (dtype.kind == ZB_KIND_FLOAT && parse_float(fill, dtype.size, &value)) {
        zb_json_write_name(w, "_FillValue");
        zb_json_write_string(w, zb__base64_from_double(value, base64));
    } else if (is_integer && (zb_json_number(fill) || zb_json_string(fill))) {
        zb_json_write_name(w, "_FillValue");
        write_value(w, fill);
    }
}

static void write_group_attributes(zb_json_writer *w, const zb_json *zattrs) {
    zb_json_write_name(w, "attributes");
    zb_json_begin_object(w);
    write_members(w, zattrs, NULL);
    zb_json_end_object(w);
}

static void write_array_attributes(zb_json_writer *w, const zb_json *zarray, const zb_json *zattrs,
                                   zb_dtype dtype) {
    size_t ndim = zb_json_count(zb_json_get(zarray, "shape"));
    const zb_json *own = names_list(zb_json_get(zattrs, NAMES), ndim);
    const zb_json *names = own ? own : nczarr_list(zarray, zattrs, ndim);
    zb_json_write_name(w, "attributes");
    zb_json_begin_object(w);
    write_members(w, zattrs, own ? NAMES : NULL);
    if (!zb_json_get(zattrs, "_FillValue"))
        write_nodata(w, zb_json_get(zarray, "fill_value"), dtype);
    zb_json_end_object(w);
    if (names)
        write_names(w, names);
}

/* ---- Documents ---------------------------------------------------------------------------- */

static enum zb_code check_document(const zb_json *document, zb_error *err) {
    int64_t format;
    char excerpt[ZB__BRIEF_SIZE];
    if (zb_json_kind_of(document) != ZB_JSON_OBJECT)
        return zb_fail(err, ZB_EFORMAT, "the document is %s, expected an object",
                       zb__json_excerpt(document, excerpt));
    const zb_json *member = zb_json_get(document, "zarr_format");
    if (zb_json_int64(member, &format) && format == 2)
        return ZB_OK;
    return zb_fail(err, ZB_EFORMAT, "zarr_format is %s, expected the number 2",
                   zb__json_excerpt(member, excerpt));
}

static enum zb_code check_attributes(const zb_json *zattrs, zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    if (!zattrs || zb_json_kind_of(zattrs) == ZB_JSON_OBJECT)
        return ZB_OK;
    return zb_fail(err, ZB_EFORMAT, ".zattrs is %s, expected an object",
                   zb__json_excerpt(zattrs, excerpt));
}

static enum zb_code require_list(const zb_json *zarray, const char *name, const zb_json **out,
                                 zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    *out = zb_json_get(zarray, name);
    if (zb_json_kind_of(*out) == ZB_JSON_ARRAY)
        return ZB_OK;
    return zb_fail(err, ZB_EFORMAT, "%s is %s, expected a list of integers", name,
                   zb__json_excerpt(*out, excerpt));
}

static void begin_document(zb_json_writer *w, const char *type) {
    zb_json_begin_object(w);
    zb_json_write_name(w, "zarr_format");
    zb_json_write_uint64(w, 3);
    zb_json_write_name(w, "node_type");
    zb_json_write_string(w, type);
}

static enum zb_code end_document(zb_json_writer *w, enum zb_code code, char **text, size_t *size,
                                 zb_error *err) {
    zb_json_end_object(w);
    *text = zb__text_take(&w->text, size);
    if (!code && !*text)
        code = zb_fail(err, ZB_ENOMEM, "out of memory for a document");
    if (code) {
        free(*text);
        *text = NULL;
    }
    return code;
}

/* ---- Arrays ------------------------------------------------------------------------------- */

/* Old writers gave empty dimensions chunks of 0: there is no chunk whose shape could be wrong. */
static void write_grid(zb_json_writer *w, const zb_json *shape, const zb_json *chunks) {
    const zb_json *extent = zb_json_first(shape);
    uint64_t inside, edge;
    zb_json_write_name(w, "chunk_grid");
    zb__extension_begin(w, "regular");
    zb_json_write_name(w, "chunk_shape");
    zb_json_begin_array(w);
    for (const zb_json *c = zb_json_first(chunks); c; c = zb_json_next(c)) {
        if (zb_json_uint64(extent, &inside) && inside == 0 && zb_json_uint64(c, &edge) && edge == 0)
            zb_json_write_uint64(w, 1);
        else
            zb_json_write_value(w, c);
        extent = zb_json_next(extent);
    }
    zb_json_end_array(w);
    zb__extension_end(w);
}

static enum zb_code write_keys(zb_json_writer *w, const zb_json *zarray, zb_error *err) {
    const zb_json *separator = zb_json_get(zarray, "dimension_separator");
    const char *text = zb_json_string(separator);
    char excerpt[ZB__BRIEF_SIZE];
    if (zb_json_kind_of(separator) == ZB_JSON_NULL)
        text = ".";
    if (!text || (strcmp(text, ".") != 0 && strcmp(text, "/") != 0))
        return zb_fail(err, ZB_EFORMAT, "dimension_separator is %s, expected \".\" or \"/\"",
                       zb__json_excerpt(separator, excerpt));
    zb_json_write_name(w, "chunk_key_encoding");
    zb__extension_begin(w, "v2");
    zb_json_write_name(w, "separator");
    zb_json_write_string(w, text);
    zb__extension_end(w);
    return ZB_OK;
}

/* memory: of the data type. */
static enum zb_code write_array(zb_json_writer *w, const zb_json *zarray, const zb_json *zattrs,
                                zb__arena *memory, zb_error *err) {
    const zb_json *shape, *chunks;
    zb_dtype dtype;
    const char *serializer;
    enum zb_code code = require_list(zarray, "shape", &shape, err);
    if (!code)
        code = require_list(zarray, "chunks", &chunks, err);
    if (!code && zb_json_count(shape) > ZB_MAX_NDIM)
        code = zb_fail(err, ZB_ELIMIT, "shape has %zu dimensions, the limit ZB_MAX_NDIM is %d",
                       zb_json_count(shape), ZB_MAX_NDIM);
    if (!code)
        code = zb__v2_serializer(zarray, &serializer, err);
    if (!code)
        code = zb__v2_dtype_parse(zb_json_get(zarray, "dtype"), serializer, memory, &dtype, err);
    if (code)
        return code;
    zb_json_write_name(w, "shape");
    zb_json_write_value(w, shape);
    zb_json_write_name(w, "data_type");
    zb__dtype_write(w, dtype);
    write_grid(w, shape, chunks);
    code = write_keys(w, zarray, err);
    zb_json_write_name(w, "fill_value");
    if (!code)
        code = zb__v2_fill_write(w, dtype, zb_json_get(zarray, "fill_value"), err);
    zb_json_write_name(w, "codecs");
    if (!code)
        code = zb__v2_codecs_write(w, zarray, (uint32_t)zb_json_count(shape), dtype, err);
    if (!code)
        write_array_attributes(w, zarray, zattrs, dtype);
    return code;
}

enum zb_code zb__v2_array(const zb_json *zarray, const zb_json *zattrs, char **text, size_t *size,
                          zb_error *err) {
    zb_json_writer w = {.level = 0};
    zb__arena memory = {0};
    *text = NULL;
    enum zb_code code = check_document(zarray, err);
    if (!code)
        code = check_attributes(zattrs, err);
    if (code)
        return code;
    begin_document(&w, "array");
    code = write_array(&w, zarray, zattrs, &memory, err);
    zb__arena_free(&memory);
    return end_document(&w, code, text, size, err);
}

/* ---- Groups ------------------------------------------------------------------------------- */

/* The path of the node whose document this key is, or -1: its length in the key. */
static ptrdiff_t node_of(const char *key) {
    static const char *const documents[] = {".zarray", ".zgroup"};
    size_t length = strlen(key);
    for (size_t i = 0; i < 2; i++) {
        size_t name = strlen(documents[i]);
        if (length > name + 1 && key[length - name - 1] == '/' &&
            strcmp(key + length - name, documents[i]) == 0)
            return (ptrdiff_t)(length - name - 1);
    }
    return -1;
}

static const zb_json *document_of(const zb_json *const *entries, size_t count, const char *path,
                                  const char *name, bool *failed) {
    char *key;
    if (asprintf(&key, "%s/%s", path, name) < 0) {
        *failed = true;
        return NULL;
    }
    const zb_json *found = zb__block_find(entries, count, key);
    free(key);
    return found;
}

/* The entry of a node, once for each path. Where its documents say nothing that can be understood,
   it is an empty object: that names the node, and opening it asks for the documents and tells
   why. */
static bool write_node(zb_json_writer *w, const zb_json *const *entries, size_t count,
                       const char *path, bool by_group) {
    bool failed = false;
    char *text = NULL;
    size_t size;
    const zb_json *array = document_of(entries, count, path, ".zarray", &failed);
    const zb_json *attributes = document_of(entries, count, path, ".zattrs", &failed);
    if (failed || (array && by_group))
        return !failed;
    enum zb_code code = ZB_OK;
    if (array)
        code = zb__v2_array(array, attributes, &text, &size, NULL);
    else
        code = zb__v2_group(document_of(entries, count, path, ".zgroup", &failed), attributes, NULL,
                            &text, &size, NULL);
    if (code != ZB_ENOMEM && !failed) {
        zb_json_write_name(w, path);
        zb_json_write_raw(w, text ? text : "{}");
    }
    free(text);
    return code != ZB_ENOMEM && !failed;
}

/* A document's own key tells the kind of its node. */
static void write_nodes(zb_json_writer *w, const zb_json *metadata) {
    size_t count;
    const zb_json **entries = zb__block_entries(metadata, &count);
    bool done = entries != NULL;
    zb_json_write_name(w, ZB__CONSOLIDATED);
    zb__block_begin(w);
    for (const zb_json *m = zb_json_first(metadata); m && done; m = zb_json_next(m)) {
        const char *key = zb_json_name(m);
        const ptrdiff_t length = node_of(key);
        char *path = length > 0 ? strndup(key, (size_t)length) : NULL;
        done = length <= 0 || path;
        if (path)
            done = write_node(w, entries, count, path, strcmp(key + length, "/.zgroup") == 0);
        free(path);
    }
    zb__block_end(w);
    free(entries);
    if (!done)
        w->text.failed = 1;
}

enum zb_code zb__v2_group(const zb_json *zgroup, const zb_json *zattrs, const zb_json *zmetadata,
                          char **text, size_t *size, zb_error *err) {
    zb_json_writer w = {.level = 0};
    *text = NULL;
    enum zb_code code = zgroup ? check_document(zgroup, err) : ZB_OK;
    if (!code)
        code = check_attributes(zattrs, err);
    if (code)
        return code;
    begin_document(&w, "group");
    write_group_attributes(&w, zattrs);
    const zb_json *metadata = zb_json_get(zmetadata, "metadata");
    if (zb_json_kind_of(metadata) == ZB_JSON_OBJECT)
        write_nodes(&w, metadata);
    return end_document(&w, ZB_OK, text, size, err);
}
