/* SPDX-License-Identifier: MIT */
/*
 * From a specification to the text of a document that all readers take: valid under 3.0 and 3.1 of
 * the core specification, every extension in object form but for data types, which some readers
 * only take as bare names, no must_understand, storage_transformers as an empty list. The members
 * stand in the order in which zarr-python writes them.
 *
 * The text is built without white space, parsed, and printed with indentation. Whoever stores it
 * parses it as any document from a store, so that what the reader would refuse is never written.
 */
#include "model/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_brief.h"
#include "base/json_print.h"
#include "base/text.h"
#include "codec/codecs_print.h"
#include "model/fill_print.h"
#include "zarrbridge/array.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* ---- What the caller gives as JSON -------------------------------------------------------- */

/* The first value in the tree that is a bare NaN or Infinity, or NULL. */
static const zb_json *find_bare(const zb_json *value) {
    const char *number = zb_json_number(value);
    if (number && strpbrk(number, "NI"))
        return value;
    const zb_json *found = NULL;
    for (const zb_json *c = zb_json_first(value); c && !found; c = zb_json_next(c))
        found = find_bare(c);
    return found;
}

enum zb_code zb__as_argument(enum zb_code code, zb_error *err) {
    if (code != ZB_EFORMAT)
        return code;
    if (err)
        err->code = ZB_EINVAL;
    return ZB_EINVAL;
}

enum zb_code zb__argument_parse(const char *text, const char *what, zb_json **out, zb_error *err) {
    char brief[ZB__BRIEF_SIZE];
    enum zb_code code = zb__as_argument(zb_json_parse(text, strlen(text), out, err), err);
    if (code)
        return zb_error_prefix(err, code, "%s", what);
    const zb_json *bare = find_bare(*out);
    if (bare) {
        code = zb_fail(err, ZB_EINVAL, "%s: %s is no JSON; write it as a string", what,
                       zb__json_brief(bare, brief));
        zb_json_free(*out);
    }
    return code;
}

/* Appends `"attributes":{...}`, empty when there are none: zarr-python writes them always. */
static enum zb_code print_attributes(zb__text *text, const char *attributes, zb_error *err) {
    zb_json *value;
    char brief[ZB__BRIEF_SIZE];
    enum zb_code code =
        zb__argument_parse(attributes ? attributes : "{}", "attributes", &value, err);
    if (code)
        return code;
    if (zb_json_kind_of(value) != ZB_JSON_OBJECT)
        code = zb_fail(err, ZB_EINVAL, "attributes is %s, expected an object",
                       zb__json_brief(value, brief));
    zb__text_add(text, "\"attributes\":");
    zb__json_put(text, value, -1);
    zb_json_free(value);
    return code;
}

/* Turns the compact text, which it frees, into the final one. */
static enum zb_code indent(zb__text *compact, char **text, size_t *size, zb_error *err) {
    zb_json *json;
    char *source = zb__text_take(compact, size);
    if (!source)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a document");
    /* What fails here are names that are not UTF-8, and limits. */
    enum zb_code code = zb__as_argument(zb_json_parse(source, *size, &json, err), err);
    free(source);
    if (code)
        return zb_error_prefix(err, code, "the new document");
    zb__json_put(compact, json, 0);
    zb_json_free(json);
    zb__text_add(compact, "\n");
    *text = zb__text_take(compact, size);
    return *text ? ZB_OK : zb_fail(err, ZB_ENOMEM, "out of memory for a document");
}

enum zb_code zb__build_group(const char *attributes, char **text, size_t *size, zb_error *err) {
    zb__text t = {0};
    zb__text_add(&t, "{");
    enum zb_code code = print_attributes(&t, attributes, err);
    zb__text_add(&t, ",\"zarr_format\":3,\"node_type\":\"group\"}");
    if (!code)
        return indent(&t, text, size, err);
    free(t.data);
    return code;
}

/* ---- Arrays ------------------------------------------------------------------------------- */

static void print_extents(zb__text *t, const uint64_t *extents, uint32_t ndim) {
    zb__text_add(t, "[");
    for (uint32_t d = 0; d < ndim; d++)
        zb__text_addf(t, "%s%llu", d ? "," : "", (unsigned long long)extents[d]);
    zb__text_add(t, "]");
}

static void print_grid(zb__text *t, const zb_array_spec *spec) {
    zb__text_add(t, ",\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":");
    print_extents(t, spec->shard_shape ? spec->shard_shape : spec->inner_shape, spec->ndim);
    char separator = spec->separator ? spec->separator : '/';
    zb__text_addf(t,
                  "}},\"chunk_key_encoding\":{\"name\":\"default\",\"configuration\":"
                  "{\"separator\":\"%c\"}}",
                  separator);
}

static enum zb_code print_fill(zb__text *t, const zb_array_spec *spec, zb_error *err) {
    void *zero = calloc(1, spec->dtype.size);
    if (!zero)
        return zb_fail(err, ZB_ENOMEM, "out of memory for an element of %u bytes",
                       spec->dtype.size);
    zb__text_add(t, ",\"fill_value\":");
    zb__fill_print(t, spec->dtype, spec->fill_value ? spec->fill_value : zero);
    free(zero);
    return ZB_OK;
}

/* The byte order is a matter of numbers of several bytes only; older zarr-python reads the codec
   without it, too. */
static void print_bytes(zb__text *t, zb_dtype dtype) {
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    zb__text_add(t, "{\"name\":\"bytes\"");
    if (dtype.size > 1 && dtype.kind != ZB_KIND_RAW)
        zb__text_addf(t, ",\"configuration\":{\"endian\":\"%s\"}",
                      little != dtype.swapped ? "little" : "big");
    zb__text_add(t, "}");
}

static enum zb_code print_codecs(zb__text *t, const zb_array_spec *spec, zb_error *err) {
    zb__text_add(t, ",\"codecs\":[");
    if (spec->shard_shape) {
        zb__text_add(t, "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":");
        print_extents(t, spec->inner_shape, spec->ndim);
        zb__text_add(t, ",\"codecs\":[");
    }
    print_bytes(t, spec->dtype);
    zb_json *codecs;
    enum zb_code code =
        zb__argument_parse(spec->codecs ? spec->codecs : "[\"zstd\"]", "codecs", &codecs, err);
    if (code)
        return code;
    code = zb__codecs_print(t, codecs, spec->dtype, err);
    zb_json_free(codecs);
    if (spec->shard_shape)
        zb__text_add(t, "],\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":"
                        "{\"endian\":\"little\"}},{\"name\":\"crc32c\"}],"
                        "\"index_location\":\"end\"}}");
    zb__text_add(t, "]");
    return code;
}

static void print_names(zb__text *t, const zb_array_spec *spec) {
    if (!spec->dimension_names)
        return;
    zb__text_add(t, ",\"dimension_names\":[");
    for (uint32_t d = 0; d < spec->ndim; d++) {
        zb__text_add(t, d ? "," : "");
        if (spec->dimension_names[d])
            zb__text_add_quoted(t, spec->dimension_names[d]);
        else
            zb__text_add(t, "null");
    }
    zb__text_add(t, "]");
}

/* What the text could not express, or would express as something else than was asked for. */
static enum zb_code check_spec(const zb_array_spec *spec, zb_error *err) {
    char name[24];
    if (spec->ndim > ZB_MAX_NDIM)
        return zb_fail(err, ZB_ELIMIT, "%u dimensions, the limit ZB_MAX_NDIM is %d", spec->ndim,
                       ZB_MAX_NDIM);
    if (spec->separator && spec->separator != '/' && spec->separator != '.')
        return zb_fail(err, ZB_EINVAL, "separator is character %d, expected '/' or '.'",
                       spec->separator);
    zb_dtype_name(spec->dtype, name);
    if (spec->dtype.size == 0 || (name[0] == 'r') != (spec->dtype.kind == ZB_KIND_RAW))
        return zb_fail(err, ZB_EINVAL, "no data type of kind %d has %u bytes",
                       (int)spec->dtype.kind, spec->dtype.size);
    return ZB_OK;
}

enum zb_code zb__build_array(const zb_array_spec *spec, char **text, size_t *size, zb_error *err) {
    zb__text t = {0};
    char name[24];
    enum zb_code code = check_spec(spec, err);
    if (code)
        return code;
    zb__text_add(&t, "{\"shape\":");
    print_extents(&t, spec->shape, spec->ndim);
    zb__text_addf(&t, ",\"data_type\":\"%s\"", zb_dtype_name(spec->dtype, name));
    print_grid(&t, spec);
    code = print_fill(&t, spec, err);
    if (!code)
        code = print_codecs(&t, spec, err);
    zb__text_add(&t, ",");
    if (!code)
        code = print_attributes(&t, spec->attributes, err);
    print_names(&t, spec);
    zb__text_add(&t, ",\"zarr_format\":3,\"node_type\":\"array\",\"storage_transformers\":[]}");
    if (!code)
        return indent(&t, text, size, err);
    free(t.data);
    return code;
}
