/* SPDX-License-Identifier: MIT */
/*
 * The way from an array's zarr.json to the model that the reader works with: shape, data type,
 * grid, keys, fill value, dimension names, and the codec pipeline with the layout of a chunk.
 *
 * Each member has a parser of its own here or in the files beside this one, and each message begins
 * with the member's name, shows its value and tells the form that was expected.
 */
#include "array/array.h"

#include <stdlib.h>
#include <string.h>

#include "array/grid.h"
#include "array/keys.h"
#include "codec/chunk_layout.h"
#include "types/dtype.h"
#include "types/fill.h"
#include "types/scatter.h"
#include "util/arena.h"
#include "util/checked.h"
#include "util/extension.h"
#include "util/json_excerpt.h"
#include "zarrbridge/array.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* Ownership: numbers, the fill value and the list of codecs are copied into the model; names and
   configurations stay in the document, which the node keeps for as long as the model. */

/* The model with the arrays that its info points at, in one block. */
typedef struct model {
    zb__array array; /* first: a model is freed by the address of its array */
    uint64_t shape[ZB_MAX_NDIM];
    uint64_t chunk_shape[ZB_MAX_NDIM];
    uint64_t inner_shape[ZB_MAX_NDIM];
    uint64_t chunk_count[ZB_MAX_NDIM];
    const char *dimension_names[ZB_MAX_NDIM];
    void *fill_value;
    bool fill_is_packed; /* and in the byte order of the chunks, until the codecs are known */
    zb_codec_info *codecs;
    zb__arena memory; /* details of the type, and bytes that the fill value points at */
} model;

/* Gets a member without which nothing can be read. fill_value is required as well by the
   specification, but read leniently (fill.c). */
static enum zb_code require(const zb_json *document, const char *name, const zb_json **out,
                            zb_error *err) {
    *out = zb_json_get(document, name);
    return *out ? ZB_OK : zb_fail(err, ZB_EFORMAT, "the member %s is missing", name);
}

/* Shapes are numbers from outside, so this is where all later arithmetic is made safe: at most 32
   dimensions, every extent and the size of the whole array below 2^63, chunk extents above 0. The
   size of a chunk is checked where it is computed first, in its form. */

/* ---- Shape and grid ----------------------------------------------------------------------- */

/* The number of dimensions comes from here; grid, names and codecs are compared with it. */
static enum zb_code parse_shape(model *m, const zb_json *document, zb_error *err) {
    const zb_json *shape;
    char excerpt[ZB__BRIEF_SIZE];
    enum zb_code code = require(document, "shape", &shape, err);
    if (code)
        return code;
    if (zb_json_kind_of(shape) != ZB_JSON_ARRAY)
        return zb_fail(err, ZB_EFORMAT, "shape is %s, expected a list of integers",
                       zb__json_excerpt(shape, excerpt));
    size_t ndim = zb_json_count(shape);
    if (ndim > ZB_MAX_NDIM)
        return zb_fail(err, ZB_ELIMIT, "shape has %zu dimensions, the limit ZB_MAX_NDIM is %d",
                       ndim, ZB_MAX_NDIM);
    m->array.info.ndim = (uint32_t)ndim;
    return zb__extents_parse(shape, "shape", 0, m->shape, err);
}

/* Offsets into an array are int64 everywhere, so its size in bytes must fit one. */
static enum zb_code check_size(const model *m, zb_error *err) {
    const zb_array_info *info = &m->array.info;
    uint64_t bytes;
    for (uint32_t d = 0; d < info->ndim; d++) {
        if (m->shape[d] == 0)
            return ZB_OK;
    }
    if (!zb__product_u64(m->shape, info->ndim, info->dtype.size, &bytes) || bytes > INT64_MAX)
        return zb_fail(err, ZB_ELIMIT,
                       "shape: the array has more than 2^63-1 bytes, the limit of this library");
    return ZB_OK;
}

static enum zb_code parse_grid(model *m, const zb_json *document, zb_error *err) {
    const zb_json *value;
    zb__array *array = &m->array;
    uint32_t ndim = array->info.ndim;
    enum zb_code code = require(document, "chunk_grid", &value, err);
    if (!code)
        code = zb__grid_parse(value, ndim, m->shape, m->chunk_shape, &array->grid, err);
    for (uint32_t d = 0; d < ndim && !code; d++)
        m->chunk_count[d] = zb__grid_count(&array->grid, d, m->shape[d]);
    return code;
}

static enum zb_code parse_keys(zb__key_encoding *keys, const zb_json *document, zb_error *err) {
    const zb_json *value, *grid = zb_json_get(document, "chunk_grid");
    const bool is_typed = zb__grid_is_typed(grid);
    if (!zb_json_get(document, "chunk_key_encoding") && is_typed)
        return zb__keys_of_draft(grid, keys, err);
    enum zb_code code = require(document, "chunk_key_encoding", &value, err);
    if (!code)
        code = zb__keys_parse(value, keys, err);
    const zb_json *owner = is_typed ? grid : zb_json_get(grid, "configuration");
    return code ? code : zb__keys_agree(keys, owner, err);
}

/* ---- Names and codecs --------------------------------------------------------------------- */

/* Names need not differ, and an empty string is a name; only null means that a dimension has
   none. */
static enum zb_code parse_names(model *m, const zb_json *document, zb_error *err) {
    const zb_json *names = zb_json_get(document, "dimension_names");
    char excerpt[ZB__BRIEF_SIZE];
    if (zb_json_kind_of(names) == ZB_JSON_NULL)
        return ZB_OK;
    if (zb_json_kind_of(names) != ZB_JSON_ARRAY || zb_json_count(names) != m->array.info.ndim)
        return zb_fail(err, ZB_EFORMAT, "dimension_names is %s, expected a list of %u names",
                       zb__json_excerpt(names, excerpt), m->array.info.ndim);
    size_t i = 0;
    for (const zb_json *item = zb_json_first(names); item; item = zb_json_next(item), i++) {
        m->dimension_names[i] = zb_json_string(item);
        if (!m->dimension_names[i] && zb_json_kind_of(item) != ZB_JSON_NULL)
            return zb_fail(err, ZB_EFORMAT, "dimension_names[%zu] is %s, expected a name or null",
                           i, zb__json_excerpt(item, excerpt));
    }
    m->array.info.dimension_names = m->dimension_names;
    return ZB_OK;
}

/* Lists the codecs of a layout's pipeline, which has been bound and is therefore right, and of
   those of inner chunks; returns their number. With out NULL it only counts. */
static size_t list_codecs(const zb_json *codecs, const zb__chunk_layout *layout, uint32_t level,
                          zb_codec_info *out) {
    size_t count = 0, at = 0;
    for (const zb_json *item = zb_json_first(codecs); item; item = zb_json_next(item)) {
        const char *name = zb_json_string(item);
        if (!name)
            name = zb_json_string(zb_json_get(item, "name"));
        const zb_json *configuration = zb_json_get(item, "configuration");
        if (out)
            out[count] = (zb_codec_info){name, configuration, level};
        count++;
        if (layout->shard && at++ == layout->pipeline->serializer_at)
            count += list_codecs(zb_json_get(configuration, "codecs"), layout->shard->inner,
                                 level + 1, out ? out + count : NULL);
    }
    return count;
}

/* True if inner chunks of this extent divide all chunks around them along a dimension: those of
   `extent`, or of the runs of the array's grid. */
static bool divides(const zb__runs *runs, uint64_t extent, uint64_t inner) {
    size_t count = runs ? runs->count : 0;
    bool all = count > 0 || extent % inner == 0;
    for (size_t i = 0; i < count && all; i++)
        all = runs->run[i].extent % inner == 0;
    return all;
}

/* Follows the shards to the innermost chunk. While its extents divide those of all chunks around
   it, laid over the array they are a grid again, and a regular one. Where they do not, the way ends
   at the shard. Each level's shapes are in its own stored dimensions, so the transposes on the way
   are undone. */
static void find_inner_shape(model *m) {
    uint32_t ndim = m->array.info.ndim;
    const zb__runs *runs = m->array.grid.runs;
    uint32_t outer[ZB_MAX_NDIM]; /* the array's dimension behind each dimension of this level */
    memcpy(m->inner_shape, m->chunk_shape, sizeof m->inner_shape);
    for (uint32_t d = 0; d < ndim; d++)
        outer[d] = d;
    for (const zb__chunk_layout *layout = m->array.layout; layout->shard;
         layout = layout->shard->inner) {
        uint32_t stored[ZB_MAX_NDIM];
        m->array.is_cut = m->array.is_cut || layout->shard->is_clipped;
        for (uint32_t i = 0; i < ndim; i++) {
            uint32_t d = stored[i] = outer[layout->pipeline->axis[i]];
            m->array.is_cut =
                m->array.is_cut || !divides(runs && m->array.inner_depth == 0 ? &runs[d] : NULL,
                                            m->inner_shape[d], layout->shard->inner_shape[i]);
        }
        for (uint32_t i = 0; i < ndim && !m->array.is_cut; i++)
            m->inner_shape[stored[i]] = layout->shard->inner_shape[i];
        memcpy(outer, stored, ndim * sizeof *outer);
        m->array.info.shard_depth++;
        m->array.inner_depth += !m->array.is_cut;
    }
    m->array.inner = m->array.inner_depth ? zb__grid_of(ndim, m->inner_shape) : m->array.grid;
}

/* Binding checks every rule of the pipeline; the code below only reads configurations that it has
   accepted. */
static enum zb_code parse_codecs(model *m, const zb_json *document, zb_error *err) {
    zb_array_info *info = &m->array.info;
    const zb_json *codecs = zb_json_get(document, "codecs"); /* drafts had it optional */
    const zb__binding binding = {
        .ndim = info->ndim, .dtype = info->dtype, .fill = info->fill_value, .is_draft = true};
    enum zb_code code = zb__pipeline_bind(codecs, &binding, &m->array.pipeline, err);
    if (!code)
        code = zb__pipeline_layout(m->array.pipeline, m->chunk_shape, &m->array.layout, err);
    if (!code)
        code = zb__array_chunk_layouts_check(&m->array, err);
    if (code)
        return code;
    info->codec_count = list_codecs(codecs, m->array.layout, 0, NULL);
    m->codecs = calloc(info->codec_count + 1, sizeof *m->codecs);
    if (!m->codecs)
        return zb_fail(err, ZB_ENOMEM, "out of memory for %zu codecs", info->codec_count);
    list_codecs(codecs, m->array.layout, 0, m->codecs);
    info->codecs = m->codecs;
    find_inner_shape(m);
    return ZB_OK;
}

/* ---- The whole ---------------------------------------------------------------------------- */

/* Data type and fill value together, because the type gives the value its size and its forms. */
static enum zb_code parse_element(model *m, const zb_json *document, zb_error *err) {
    zb_array_info *info = &m->array.info;
    const zb_json *type;
    enum zb_code code = require(document, "data_type", &type, err);
    if (!code)
        code = zb__dtype_parse(type, &m->memory, &info->dtype, err);
    if (code)
        return code;
    m->fill_value = malloc(info->dtype.size);
    if (!m->fill_value)
        return zb_fail(err, ZB_ENOMEM, "out of memory for an element of %u bytes",
                       info->dtype.size);
    info->fill_value = m->fill_value;
    zb__fill_form layout;
    code = zb__fill_parse(zb_json_get(document, "fill_value"), info->dtype, &m->memory,
                          m->fill_value, &layout, err);
    info->fill_is_default = layout.is_default;
    m->fill_is_packed = layout.is_packed;
    return code;
}

/* Turns a fill value of packed bytes to the host's order, field by field. */
static enum zb_code unpack_fill(model *m, zb_error *err) {
    const zb__chunk_layout *layout = m->array.layout;
    while (layout->shard)
        layout = layout->shard->inner;
    const zb_dtype stored = layout->pipeline->dtype;
    uint8_t *packed = m->fill_is_packed ? zb__arena_alloc(&m->memory, stored.size) : NULL;
    if (!m->fill_is_packed)
        return ZB_OK;
    if (!packed)
        return zb_fail(err, ZB_ENOMEM, "out of memory for an element of %u bytes", stored.size);
    memcpy(packed, m->fill_value, stored.size);
    zb__convert(stored, packed, 0, m->array.info.dtype, m->fill_value, 0, 1);
    return ZB_OK;
}

/* The order matters: each step relies on those before it (ndim, then the type's size, then the
   shape of a chunk). */
enum zb_code zb__array_parse(const zb_json *document, zb__array **out, zb_error *err) {
    model *m = calloc(1, sizeof *m);
    if (!m)
        return zb_fail(err, ZB_ENOMEM, "out of memory for an array's metadata");
    m->array.info.shape = m->shape;
    m->array.info.chunk_shape = m->chunk_shape;
    m->array.info.inner_shape = m->inner_shape;
    m->array.chunk_count = m->chunk_count;
    enum zb_code code = parse_shape(m, document, err);
    if (!code)
        code = parse_element(m, document, err);
    if (!code)
        code = check_size(m, err);
    if (!code)
        code = parse_grid(m, document, err);
    if (!code)
        code = parse_keys(&m->array.keys, document, err);
    if (!code)
        code = parse_names(m, document, err);
    if (!code)
        code = parse_codecs(m, document, err);
    if (!code)
        code = unpack_fill(m, err);
    if (code) {
        zb__array_free(&m->array);
        return code;
    }
    *out = &m->array;
    return ZB_OK;
}

void zb__array_free(zb__array *array) {
    if (!array)
        return;
    /* The node frees the document, to which names and configurations point. */
    model *m = (model *)(void *)array;
    zb__chunk_layout_release(array->layout);
    zb__grid_free(&array->grid);
    zb__pipeline_free(array->pipeline);
    free(m->fill_value);
    free(m->codecs);
    zb__arena_free(&m->memory);
    free(m);
}

uint64_t zb__array_count_chunks(const zb__array *array) {
    uint64_t count = 1;
    bool is_more = false;
    for (uint32_t d = 0; d < array->info.ndim; d++) {
        if (array->chunk_count[d] == 0)
            return 0;
        is_more |= __builtin_mul_overflow(count, array->chunk_count[d], &count);
    }
    return is_more ? UINT64_MAX : count;
}

void zb__array_next_chunk(const zb__array *array, uint64_t *index) {
    for (uint32_t d = array->info.ndim; d-- > 0;) {
        if (++index[d] < array->chunk_count[d])
            return;
        index[d] = 0;
    }
}

/* ---- Forms of chunks ---------------------------------------------------------------------- */

/* The array's own form is that of the largest chunk, which most chunks may be. */
enum zb_code zb__uneven_chunk_layout(const zb__array *array, const uint64_t *index,
                                     const zb__chunk_layout **out, zb_error *err) {
    uint64_t shape[ZB_MAX_NDIM];
    bool is_largest = true;
    *out = NULL;
    for (uint32_t d = 0; d < array->grid.ndim; d++) {
        shape[d] = zb__grid_at(&array->grid, d, index[d]).extent;
        is_largest = is_largest && shape[d] == zb__grid_largest(&array->grid, d);
        if (shape[d] == 0)
            return zb_fail(err, ZB_EINVAL, "the array's grid has no such chunk");
    }
    if (is_largest) {
        *out = array->layout;
        return ZB_OK;
    }
    enum zb_code code = zb__pipeline_layout(array->pipeline, shape, out, err);
    if (!code && *out == array->layout)
        zb__chunk_layout_release(*out); /* the array holds a reference of its own */
    return code;
}

/* Each dimension is divided by itself, so that one shape with each extent is enough; and one that
   the inner chunks divide is as good as the largest. */
enum zb_code zb__array_chunk_layouts_check(const zb__array *array, zb_error *err) {
    const zb__grid *grid = &array->grid;
    const zb__shard *shard = array->layout->shard;
    enum zb_code code = ZB_OK;
    for (uint32_t i = 0; i < grid->ndim && grid->runs && shard && !code; i++) {
        uint32_t d = array->pipeline->axis[i];
        const zb__runs *runs = &grid->runs[d];
        for (size_t r = 0; r < runs->count && !code; r++) {
            uint64_t shape[ZB_MAX_NDIM];
            const zb__chunk_layout *layout = NULL;
            if (runs->run[r].extent % shard->inner_shape[i] == 0)
                continue;
            memcpy(shape, grid->extent, grid->ndim * sizeof *shape);
            shape[d] = runs->run[r].extent;
            code = zb__pipeline_layout(array->pipeline, shape, &layout, err);
            zb__chunk_layout_release(layout);
        }
    }
    return code;
}
