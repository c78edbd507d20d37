/* SPDX-License-Identifier: MIT */
/*
 * Binding a codec list to a type and a number of dimensions. The list is checked and folded once,
 * when an array is opened: transposes into a permutation of dimensions; filters, the array→bytes
 * codec and the bytes→bytes codecs remain at run time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "codec/chunk_layout.h"
#include "codec/pipeline.h"
#include "codec/table.h"
#include "util/extension.h"
#include "util/json_excerpt.h"
#include "zarrbridge/json.h"
#include "zarrbridge/limits.h"

void zb__pipeline_free(zb__pipeline *pipeline) {
    if (!pipeline)
        return;
    zb__chunk_layout_cache_free(pipeline->layouts);
    zb__codec_free(
        &pipeline->serializer); /* before the filters, which the inner chunks of shards borrow */
    zb__filters_free(&pipeline->filters);
    free(pipeline->plain);
    free(pipeline->missing);
    for (size_t i = 0; i < pipeline->codec_count; i++)
        zb__codec_free(&pipeline->codecs[i]);
    free(pipeline->codecs);
    free(pipeline);
}

/* A pipeline in the making. */
typedef struct making {
    zb__pipeline *pipeline;
    const zb__binding *binding; /* of the pipeline */
    zb__representation now;     /* in front of the codec in hand */
    size_t at;                  /* of the codec in hand in the list */
    const char *what;           /* the same for messages: "codecs[2]" */
    bool implies_bytes;         /* the list has no array→bytes codec, and needs none */
} making;

static enum zb_code check_order(const making *m, const char *name, enum zb__codec_kind kind,
                                zb_error *err) {
    bool serialised = m->pipeline->serializer.ops != NULL;
    if (kind == ZB__ARRAY_TO_ARRAY && serialised)
        return zb_fail(err, ZB_EFORMAT, "%s: \"%s\" must come before the array-to-bytes codec",
                       m->what, name);
    if (kind == ZB__ARRAY_TO_BYTES && serialised)
        return zb_fail(err, ZB_EFORMAT, "%s: \"%s\" is a second array-to-bytes codec", m->what,
                       name);
    if (kind == ZB__BYTES_TO_BYTES && !serialised)
        return zb_fail(err, ZB_EFORMAT, "%s: \"%s\" must come after the array-to-bytes codec",
                       m->what, name);
    return ZB_OK;
}

/* The pipeline takes the bound codec over, also after an error. */
static enum zb_code add_filter(making *m, zb__codec codec, zb_error *err) {
    const zb__array_ops *ops = &codec.ops->array;
    zb__filters *filters = &m->pipeline->filters;
    if (ops->compose && !zb__filters_positional(filters)) {
        /* Filters that look at one element at a time do not mind where it stands. */
        ops->compose(codec.state, m->pipeline->ndim, m->pipeline->axis);
        zb__codec_free(&codec);
        return ZB_OK;
    }
    zb__representation before = m->now;
    if (ops->represent)
        ops->represent(codec.state, &m->now);
    m->pipeline->cost += ops->cost;
    if (zb__filters_add(filters, codec, before, m->now))
        return ZB_OK;
    zb__codec_free(&codec);
    return zb_fail(err, ZB_ENOMEM, "no memory for a codec");
}

/* A pipeline of the array→bytes codec alone, for what is behind the filters. */
static enum zb_code make_plain(making *m, zb_error *err) {
    zb__pipeline *pipeline = m->pipeline, *plain = pipeline->plain = calloc(1, sizeof *plain);
    if (!plain)
        return zb_fail(err, ZB_ENOMEM, "no memory for a codec pipeline");
    plain->ndim = m->now.ndim;
    plain->dtype = m->now.dtype;
    plain->serializer = pipeline->serializer;
    plain->is_variable = zb_dtype_is_variable(m->now.dtype);
    for (uint32_t d = 0; d < plain->ndim; d++)
        plain->axis[d] = d;
    return ZB_OK;
}

static enum zb_code add_serializer(making *m, zb__codec codec, zb_error *err) {
    zb__pipeline *pipeline = m->pipeline;
    const zb__serializer_ops *ops = &codec.ops->serializer;
    enum zb_code code = ZB_OK;
    pipeline->serializer = codec;
    pipeline->serializer_at = m->at;
    pipeline->cost += ops->cost;
    if (pipeline->filters.count > 0 && !ops->passes_filters)
        code = make_plain(m, err);
    zb_dtype *stored = pipeline->plain ? &pipeline->plain->dtype : &pipeline->dtype;
    if (!code && ops->stored_dtype)
        *stored = ops->stored_dtype(codec.state, *stored);
    return code;
}

static enum zb_code add(making *m, zb__codec codec, zb_error *err) {
    zb__pipeline *pipeline = m->pipeline;
    switch (codec.ops->kind) {
    case ZB__ARRAY_TO_ARRAY:
        return add_filter(m, codec, err);
    case ZB__ARRAY_TO_BYTES:
        return add_serializer(m, codec, err);
    case ZB__BYTES_TO_BYTES:
        pipeline->codecs[pipeline->codec_count++] = codec;
        pipeline->cost += codec.ops->bytes.cost;
    }
    return ZB_OK;
}

/* The element for inner chunks that are missing behind inherited filters. */
static enum zb_code find_missing(const making *m, zb_error *err) {
    const zb__filters *inherited = m->binding->filters;
    if (!inherited || inherited->count == 0 || !m->binding->fill)
        return ZB_OK;
    void *missing = m->pipeline->missing = malloc(m->binding->dtype.size);
    if (!missing)
        return zb_fail(err, ZB_ENOMEM, "no memory for a codec pipeline");
    return zb__filters_missing(inherited, m->binding->fill, missing, err);
}

/* What a codec is bound for. Filters change numbers into others, so that what is in front of them
   counts for those behind the array→bytes codec, as for zarr-python. A codec that passes filters on
   is bound for the elements in front of them, too. */
static zb__binding binding_of(const making *m, const zb__codec_ops *ops) {
    zb__binding binding = *m->binding;
    bool is_behind = ops->kind == ZB__BYTES_TO_BYTES ||
                     (ops->kind == ZB__ARRAY_TO_BYTES && ops->serializer.passes_filters);
    binding.ndim = is_behind ? m->pipeline->ndim : m->now.ndim;
    binding.dtype = is_behind ? m->pipeline->dtype : m->now.dtype;
    binding.filters = &m->pipeline->filters;
    return binding;
}

static enum zb_code check_place(const making *m, const zb__codec_ops *ops, zb_error *err) {
    const zb__filter *filter = zb__filters_positional(&m->pipeline->filters);
    bool passes = ops->kind == ZB__ARRAY_TO_BYTES && ops->serializer.passes_filters;
    if (!passes || !filter)
        return ZB_OK;
    return zb_fail(
        err, ZB_EUNSUPPORTED,
        "%s: %s in front of %s is not supported; it has to stand among the codecs of the "
        "inner chunks",
        m->what, filter->codec.ops->name, ops->name);
}

/* True if the list names an array→bytes codec, or anything that may be one. */
static bool names_serializer(const zb_json *codecs) {
    for (const zb_json *item = zb_json_first(codecs); item; item = zb_json_next(item)) {
        const char *name = zb_json_string(item);
        name = name ? name : zb_json_string(zb_json_get(item, "name"));
        const zb__codec_ops *ops = name ? zb__codec_find(name) : NULL;
        if (!ops || ops->kind == ZB__ARRAY_TO_BYTES)
            return true;
    }
    return false;
}

/* The array→bytes codec that a draft document leaves out. */
static enum zb_code add_implied(making *m, zb_error *err) {
    zb__codec codec = {.ops = zb__codec_find("bytes")};
    const zb__binding binding = binding_of(m, codec.ops);
    enum zb_code code = codec.ops->parse(NULL, &binding, &codec.state, err);
    if (!code)
        return add_serializer(m, codec, err);
    zb__codec_free(&codec);
    return zb_error_prefix(err, code, "%s: bytes", m->what);
}

static enum zb_code bind_codec(making *m, const zb_json *item, zb_error *err) {
    zb__extension extension;
    enum zb_code code = zb__extension_parse(item, m->what, &extension, err);
    if (code)
        return code;
    zb__codec codec = {.ops = zb__codec_find(extension.name)};
    char excerpt[ZB__BRIEF_SIZE];
    if (!codec.ops) {
        const char *reason = zb__codec_refusal(extension.name);
        return zb_fail(err, ZB_EUNSUPPORTED, "%s: codec %s is not supported%s%s", m->what,
                       zb__name_excerpt(extension.name, excerpt), reason ? ": " : "",
                       reason ? reason : "");
    }
    if (m->implies_bytes && codec.ops->kind == ZB__BYTES_TO_BYTES && !m->pipeline->serializer.ops)
        code = add_implied(m, err);
    if (!code)
        code = check_order(m, extension.name, codec.ops->kind, err);
    if (!code)
        code = check_place(m, codec.ops, err);
    if (!code)
        code = zb__extension_check(&extension, m->what, codec.ops->members, err);
    if (code)
        return code;
    const zb__binding binding = binding_of(m, codec.ops);
    if (codec.ops->parse)
        code = codec.ops->parse(extension.configuration, &binding, &codec.state, err);
    if (code) {
        zb__codec_free(&codec);
        return zb_error_prefix(err, code, "%s: %s", m->what, extension.name);
    }
    return add(m, codec, err);
}

static enum zb_code bind_list(making *m, const zb_json *codecs, zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE], what[32];
    size_t count = zb_json_kind_of(codecs) == ZB_JSON_ARRAY ? zb_json_count(codecs) : 0;
    uint64_t limit = zb_limits_get()->codecs;
    bool is_list = zb_json_kind_of(codecs) == ZB_JSON_ARRAY;
    m->implies_bytes = m->binding->is_draft && (!codecs || (is_list && !names_serializer(codecs)));
    if (count == 0 && !m->implies_bytes)
        return zb_fail(err, ZB_EFORMAT, "codecs is %s, expected a list with at least one codec",
                       zb__json_excerpt(codecs, excerpt));
    if (count > limit)
        return zb_fail(err, ZB_ELIMIT,
                       "codecs: %zu codecs are more than the limit codecs (%" PRIu64 ")", count,
                       limit);
    m->pipeline->codecs = calloc(count + 1, sizeof *m->pipeline->codecs);
    m->pipeline->layouts = zb__chunk_layout_cache_new();
    if (!m->pipeline->codecs || !m->pipeline->layouts)
        return zb_fail(err, ZB_ENOMEM, "no memory for a pipeline of %zu codecs", count);
    enum zb_code code = ZB_OK;
    m->what = what;
    for (const zb_json *item = zb_json_first(codecs); item && !code; item = zb_json_next(item)) {
        snprintf(what, sizeof what, "codecs[%zu]", m->at);
        code = bind_codec(m, item, err);
        m->at++;
    }
    if (!code && !m->pipeline->serializer.ops && m->implies_bytes)
        code = add_implied(m, err);
    if (!code && !m->pipeline->serializer.ops)
        code =
            zb_fail(err, ZB_EFORMAT, "codecs: there is no array-to-bytes codec such as \"bytes\"");
    if (!code)
        m->pipeline->is_raw = m->pipeline->codec_count == 0 && !m->pipeline->plain &&
                              m->pipeline->serializer.ops->serializer.is_elements;
    m->pipeline->is_variable = zb_dtype_is_variable(m->pipeline->dtype);
    return code;
}

static enum zb_code bind(const zb_json *codecs, const zb__binding *binding, bool is_index,
                         zb__pipeline **out, zb_error *err) {
    making m = {.pipeline = calloc(1, sizeof *m.pipeline),
                .binding = binding,
                .now = {.ndim = binding->ndim, .dtype = binding->dtype}};
    if (!m.pipeline)
        return zb_fail(err, ZB_ENOMEM, "no memory for a codec pipeline");
    m.pipeline->ndim = binding->ndim;
    m.pipeline->dtype = binding->dtype;
    m.pipeline->is_index = is_index;
    for (uint32_t d = 0; d < binding->ndim; d++)
        m.pipeline->axis[d] = d;
    const zb__filters *inherited = binding->filters;
    if (inherited && inherited->count > 0)
        m.now = inherited->list[inherited->count - 1].after;
    enum zb_code code = zb__filters_inherit(&m.pipeline->filters, inherited)
                            ? find_missing(&m, err)
                            : zb_fail(err, ZB_ENOMEM, "no memory for a codec pipeline");
    if (!code)
        code = bind_list(&m, codecs, err);
    if (code)
        zb__pipeline_free(m.pipeline);
    else
        *out = m.pipeline;
    return code;
}

enum zb_code zb__pipeline_bind(const zb_json *codecs, const zb__binding *binding,
                               zb__pipeline **out, zb_error *err) {
    return bind(codecs, binding, false, out, err);
}

enum zb_code zb__pipeline_bind_index(const zb_json *codecs, const zb__binding *binding,
                                     zb__pipeline **out, zb_error *err) {
    return bind(codecs, binding, true, out, err);
}
