/* SPDX-License-Identifier: MIT */
/*
 * From a specification to the text of a document that all readers take: valid under 3.0 and 3.1 of
 * the core specification, every extension in object form but for data types without a
 * configuration, which some readers only take as bare names, no must_understand,
 * storage_transformers as an empty list. The members stand in the order in which zarr-python writes
 * them.
 *
 * The text is built without white space, parsed, and printed with indentation. The caller that
 * stores it makes a node of that tree, as of any document from a store, so that no document is
 * written that the reader would refuse.
 */
#include "array/build.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/grid.h"
#include "array/keys.h"
#include "codec/codecs_print.h"
#include "types/dtype.h"
#include "types/fill.h"
#include "types/kinds.h"
#include "util/extension.h"
#include "util/fork.h"
#include "util/json_excerpt.h"
#include "util/json_writer.h"
#include "util/text.h"
#include "zarrbridge/array.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* ---- Documents that were built lately ----------------------------------------------------- */

/* Programs make many nodes one after the other that differ by their names alone: their documents
   are the same, and so share one tree. */

/* What a document is built of. */
typedef struct build_source {
    const char *text; /* without indentation */
    size_t size;
    size_t attributes; /* bytes of it that are the attributes, as the program gave them: a text of
                          another division is another source */
} build_source;

enum { PLACES = 8 };

/* Bytes of the document's text, and of the source: attributes may come with any number of blanks.
   What is kept for the life of the process has a bound. */
#define LARGEST ((size_t)8 << 10)

typedef struct kept {
    char *text; /* the source's, malloc'ed */
    size_t size, attributes;
    zb__built built;
} kept;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
/* Guarded by the lock. */
static kept lately[PLACES];
static unsigned next; /* the place of the oldest */

static void init(void) {
    static zb__fork_guard guard = {.lock = &lock};
    zb__fork_guard_add(&guard);
}

static void take_lock(void) {
    pthread_once(&once, init);
    pthread_mutex_lock(&lock);
}

static bool is_same(const kept *k, build_source source) {
    return k->text && k->size == source.size && k->attributes == source.attributes &&
           memcmp(k->text, source.text, source.size) == 0;
}

static const zb__built *find(build_source source) {
    for (const kept *k = lately; k < lately + PLACES; k++)
        if (is_same(k, source))
            return &k->built;
    return NULL;
}

/* The document that was built of the same source, if it is kept and memory suffices: the caller's,
   like one that it builds. */
static bool find_built(build_source source, zb__built *out) {
    take_lock();
    const zb__built *found = find(source);
    char *text = found ? strndup(found->text, found->size) : NULL;
    if (text)
        *out = (zb__built){.text = text, .size = found->size, .json = zb_json_retain(found->json)};
    pthread_mutex_unlock(&lock);
    return text;
}

/* Keeps a document for others of the same source, unless it is large. */
static void keep_built(build_source source, const zb__built *built) {
    if (built->size > LARGEST || source.size > LARGEST)
        return;
    kept made = {.text = strndup(source.text, source.size),
                 .size = source.size,
                 .attributes = source.attributes,
                 .built = {.text = strndup(built->text, built->size), .size = built->size}};
    if (made.text && made.built.text) {
        made.built.json = zb_json_retain(built->json);
        take_lock();
        kept *oldest = &lately[next++ % PLACES];
        const kept gone = *oldest;
        *oldest = made;
        made = gone;
        pthread_mutex_unlock(&lock);
    }
    free(made.text);
    free(made.built.text);
    zb_json_free(made.built.json);
}

/* ---- JSON from the caller ----------------------------------------------------------------- */

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
    char excerpt[ZB__BRIEF_SIZE];
    enum zb_code code = zb__as_argument(zb_json_parse(text, strlen(text), out, err), err);
    if (code)
        return zb_error_prefix(err, code, "%s", what);
    const zb_json *bare = find_bare(*out);
    if (bare) {
        code = zb_fail(err, ZB_EINVAL, "%s: %s is no JSON; write it as a string", what,
                       zb__json_excerpt(bare, excerpt));
        zb_json_free(*out);
    }
    return code;
}

/* By itself: within a document a text could be more than one value. */
static enum zb_code check_attributes(const char *attributes, zb_error *err) {
    zb_json *value;
    char excerpt[ZB__BRIEF_SIZE];
    enum zb_code code = zb__argument_parse(attributes, "attributes", &value, err);
    if (code)
        return code;
    if (zb_json_kind_of(value) != ZB_JSON_OBJECT)
        code = zb_fail(err, ZB_EINVAL, "attributes is %s, expected an object",
                       zb__json_excerpt(value, excerpt));
    zb_json_free(value);
    return code;
}

/* Writes `"attributes":{...}`, empty when there are none: zarr-python writes them always. Not
   checked yet. */
static void print_attributes(zb_json_writer *w, const char *attributes) {
    zb_json_write_name(w, "attributes");
    zb_json_write_raw(w, attributes ? attributes : "{}");
}

static void print_string(zb_json_writer *w, const char *name, const char *value) {
    zb_json_write_name(w, name);
    zb_json_write_string(w, value);
}

/* Turns the text without indentation into the document. */
static enum zb_code indent(build_source source, zb__built *out, zb_error *err) {
    /* Only names that are not UTF-8, and limits, make this fail. */
    enum zb_code code =
        zb__as_argument(zb_json_parse(source.text, source.size, &out->json, err), err);
    if (code)
        return zb_error_prefix(err, code, "the new document");
    zb_json_writer w = zb__json_indented(0);
    zb_json_write_value(&w, out->json);
    zb__text_add(&w.text, "\n");
    out->text = zb__text_take(&w.text, &out->size);
    if (out->text)
        return ZB_OK;
    zb_json_free(out->json);
    return zb_fail(err, ZB_ENOMEM, "out of memory for a document");
}

/* That of the same source as lately is at hand, and was checked. */
static enum zb_code document_of(build_source source, const char *attributes, zb__built *out,
                                zb_error *err) {
    if (find_built(source, out))
        return ZB_OK;
    enum zb_code code = attributes ? check_attributes(attributes, err) : ZB_OK;
    if (!code)
        code = indent(source, out, err);
    if (!code)
        keep_built(source, out);
    return code;
}

/* The members at the end; `code` tells whether the ones before could be written. */
static enum zb_code finish(zb_json_writer *w, const char *type, const char *attributes,
                           enum zb_code code, zb__built *out, zb_error *err) {
    zb_json_write_name(w, "zarr_format");
    zb_json_write_int64(w, 3);
    print_string(w, "node_type", type);
    if (strcmp(type, "array") == 0) {
        zb_json_write_name(w, "storage_transformers");
        zb_json_begin_array(w);
        zb_json_end_array(w);
    }
    zb_json_end_object(w);
    build_source source = {.attributes = attributes ? strlen(attributes) : 0};
    char *text = zb__text_take(&w->text, &source.size);
    source.text = text;
    if (!text)
        code = zb_fail(err, ZB_ENOMEM, "out of memory for a document");
    if (!code)
        code = document_of(source, attributes, out, err);
    free(text);
    return code;
}

enum zb_code zb__build_group(const char *attributes, zb__built *out, zb_error *err) {
    zb_json_writer w = {.level = 0};
    zb_json_begin_object(&w);
    print_attributes(&w, attributes);
    return finish(&w, "group", attributes, ZB_OK, out, err);
}

/* ---- Arrays ------------------------------------------------------------------------------- */

static void print_extents(zb_json_writer *w, const char *name, const uint64_t *extents,
                          uint32_t ndim) {
    zb_json_write_name(w, name);
    zb__json_write_extents(w, extents, ndim);
}

static enum zb_code add_runs(const zb_chunk_runs *list, uint32_t d, zb__runs *runs, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < list->count && !code; i++) {
        const zb_chunk_run *run = &list->run[i];
        if (run->extent == 0 || run->count == 0)
            return zb_fail(err, ZB_EINVAL, "chunk_runs[%u]: an extent or a count is 0", d);
        code = zb__runs_add(runs, run->extent, run->count, err);
    }
    return code ? zb_error_prefix(err, code, "chunk_runs[%u]", d) : ZB_OK;
}

/* A grid that is regular is written as such: every reader knows it. */
static enum zb_code print_grid(zb_json_writer *w, const zb_array_spec *spec, zb_error *err) {
    const uint64_t *extent = spec->shard_shape ? spec->shard_shape : spec->inner_shape;
    zb__runs runs[ZB_MAX_NDIM] = {{.count = 0}};
    bool any = false;
    enum zb_code code = ZB_OK;
    for (uint32_t d = 0; d < spec->ndim && spec->chunk_runs && !code; d++) {
        code = add_runs(&spec->chunk_runs[d], d, &runs[d], err);
        any = any || runs[d].count > 0;
    }
    zb_json_write_name(w, "chunk_grid");
    if (any) {
        zb__rectilinear_print(w, spec->ndim, extent, runs);
    } else {
        zb__extension_begin(w, "regular");
        print_extents(w, "chunk_shape", extent, spec->ndim);
        zb__extension_end(w);
    }
    for (uint32_t d = 0; d < spec->ndim; d++)
        zb__runs_free(&runs[d]);
    return code;
}

static enum zb_code print_keys(zb_json_writer *w, const zb_array_spec *spec, zb_error *err) {
    zb__key_encoding keys = {.separator = spec->separator ? spec->separator : '/'};
    if (spec->key_encoding) {
        zb_json *value;
        enum zb_code code = zb__argument_parse(spec->key_encoding, "key_encoding", &value, err);
        if (code)
            return code;
        code = zb__as_argument(zb__keys_parse(value, &keys, err), err);
        zb_json_free(value);
        if (code)
            return code;
    }
    zb_json_write_name(w, "chunk_key_encoding");
    zb__keys_print(w, &keys);
    return ZB_OK;
}

static enum zb_code print_fill(zb_json_writer *w, const zb_array_spec *spec, zb_error *err) {
    void *zero = calloc(1, spec->dtype.size);
    if (!zero)
        return zb_fail(err, ZB_ENOMEM, "out of memory for an element of %u bytes",
                       spec->dtype.size);
    zb_json_write_name(w, "fill_value");
    zb__fill_print(w, spec->dtype, spec->fill_value ? spec->fill_value : zero);
    free(zero);
    return ZB_OK;
}

/* The array→bytes codec where the caller gives none. Only numbers of several bytes have a byte
   order; older zarr-python reads `bytes` without it, too. Behind other codecs elements may have
   become numbers of several bytes. */
#define SERIAL_SIZE 80
static const char *serializer_of(zb_dtype dtype, bool has_array_codecs, char text[SERIAL_SIZE]) {
    bool host_is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    const char *objects = zb__kind_of(dtype)->objects;
    if (objects)
        snprintf(text, SERIAL_SIZE, "{\"name\":\"%s\"}", objects);
    else if (!zb__dtype_has_order(dtype) && !(has_array_codecs && dtype.kind <= ZB_KIND_COMPLEX))
        snprintf(text, SERIAL_SIZE, "{\"name\":\"bytes\"}");
    else
        snprintf(text, SERIAL_SIZE, "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"%s\"}}",
                 host_is_little != dtype.swapped ? "little" : "big");
    return text;
}

static enum zb_code print_sharded(zb_json_writer *w, const zb_array_spec *spec,
                                  const zb_json *codecs, const char *serializer, zb_error *err) {
    zb_json_begin_array(w);
    zb__extension_begin(w, "sharding_indexed");
    print_extents(w, "chunk_shape", spec->inner_shape, spec->ndim);
    zb_json_write_name(w, "codecs");
    enum zb_code code = zb__codecs_print(w, codecs, spec->dtype, serializer, err);
    zb_json_write_name(w, "index_codecs");
    zb_json_write_raw(w, ZB__INDEX_CODECS);
    print_string(w, "index_location", "end");
    zb__extension_end(w);
    zb_json_end_array(w);
    return code;
}

static enum zb_code print_codecs(zb_json_writer *w, const zb_array_spec *spec, zb_error *err) {
    zb_json *codecs;
    enum zb_code code =
        zb__argument_parse(spec->codecs ? spec->codecs : "[\"zstd\"]", "codecs", &codecs, err);
    if (code)
        return code;
    zb__codec_kinds kinds = zb__codecs_kinds(codecs);
    char text[SERIAL_SIZE];
    const char *serializer = serializer_of(spec->dtype, kinds.has_array, text);
    zb_json_write_name(w, "codecs");
    if (spec->shard_shape && kinds.has_serializer)
        code =
            zb_fail(err, ZB_EINVAL,
                    "codecs has an array-to-bytes codec, so it is the whole pipeline, for which no "
                    "shard_shape can be given");
    else if (spec->shard_shape)
        code = print_sharded(w, spec, codecs, serializer, err);
    else
        code = zb__codecs_print(w, codecs, spec->dtype, serializer, err);
    zb_json_free(codecs);
    return code;
}

void zb_codec_print(zb_json_writer *writer, const zb_codec_info *codec) {
    zb_json_begin_object(writer);
    zb_json_write_name(writer, "name");
    zb_json_write_string(writer, codec->name);
    if (codec->configuration) {
        zb_json_write_name(writer, "configuration");
        zb_json_write_value(writer, codec->configuration);
    }
    zb_json_end_object(writer);
}

/* Refuses specifications that the text could not express, or would express as something else. */
static enum zb_code check_spec(const zb_array_spec *spec, zb_error *err) {
    if (spec->ndim > ZB_MAX_NDIM)
        return zb_fail(err, ZB_ELIMIT, "%u dimensions, the limit ZB_MAX_NDIM is %d", spec->ndim,
                       ZB_MAX_NDIM);
    if (spec->separator && spec->separator != '/' && spec->separator != '.')
        return zb_fail(err, ZB_EINVAL, "separator is character %d, expected '/' or '.'",
                       spec->separator);
    if (spec->separator && spec->key_encoding)
        return zb_fail(err, ZB_EINVAL, "separator beside a key_encoding, which has its own");
    enum zb_code code = zb__dtype_check(spec->dtype, err);
    if (code)
        return code;
    if (spec->fill_value && !zb__fill_fits(spec->dtype, spec->fill_value))
        return zb_fail(err, ZB_EINVAL, "the fill value is no UTF-8 text, or has a NUL in it");
    return ZB_OK;
}

enum zb_code zb__build_array(const zb_array_spec *spec, zb__built *out, zb_error *err) {
    zb_json_writer w = {.level = 0};
    enum zb_code code = check_spec(spec, err);
    if (code)
        return code;
    zb_json_begin_object(&w);
    print_extents(&w, "shape", spec->shape, spec->ndim);
    zb_json_write_name(&w, "data_type");
    zb__dtype_write(&w, spec->dtype);
    code = print_grid(&w, spec, err);
    if (!code)
        code = print_keys(&w, spec, err);
    if (!code)
        code = print_fill(&w, spec, err);
    if (!code)
        code = print_codecs(&w, spec, err);
    print_attributes(&w, spec->attributes);
    if (spec->dimension_names) {
        zb_json_write_name(&w, "dimension_names");
        zb__json_write_names(&w, spec->dimension_names, spec->ndim);
    }
    return finish(&w, "array", spec->attributes, code, out, err);
}
