/* SPDX-License-Identifier: MIT */
#include "change/reshape.h"

#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "array/grid.h"
#include "node/node.h"
#include "util/json_writer.h"

static enum zb_code parse_value(zb_json_writer *w, zb_json **out, zb_error *err) {
    enum zb_code code = w->text.failed ? zb_fail(err, ZB_ENOMEM, "out of memory for a document")
                                       : zb_json_parse(w->text.data, w->text.size, out, err);
    free(w->text.data);
    return code;
}

enum zb_code zb__document_take(zb__document *document, const char *name, zb_json_writer *w,
                               zb_error *err) {
    zb_json *json = NULL;
    enum zb_code code = parse_value(w, &json, err);
    if (!code)
        code = zb__document_edit(document, NULL, name, json, NULL, err);
    zb_json_free(json);
    return code;
}

static enum zb_code with_shape(const zb__document *document, const uint64_t *shape, uint32_t ndim,
                               zb__document *out, zb_error *err) {
    zb_json_writer w = {.level = 0};
    zb_json *json = NULL;
    zb__json_write_extents(&w, shape, ndim);
    enum zb_code code = parse_value(&w, &json, err);
    if (!code)
        code = zb__document_with(document, "shape", json, out, err);
    zb_json_free(json);
    return code;
}

/* ---- The grid ----------------------------------------------------------------------------- */

/* The extent that divides each chunk along a dimension: of the inner chunks, or 1. */
static uint64_t unit_of(const zb__array *array, uint32_t d) {
    const zb__shard *shard = array->layout->shard;
    uint64_t unit = 1;
    for (uint32_t i = 0; i < array->info.ndim && shard; i++)
        unit = array->pipeline->axis[i] == d ? shard->inner_shape[i] : unit;
    return unit;
}

/* The runs of a dimension, with one chunk more where the shape goes beyond their end. */
static enum zb_code grow(const zb__array *array, uint32_t d, uint64_t shape, zb__runs *grown,
                         zb_error *err) {
    const zb__runs *runs = &array->grid.runs[d];
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < runs->count && !code; i++)
        code = zb__runs_add(grown, runs->run[i].extent, zb__run_cells(runs, i), err);
    if (code || runs->count == 0 || shape <= zb__runs_end(runs))
        return code;
    uint64_t unit = unit_of(array, d), rest = shape - zb__runs_end(runs), edge;
    if (__builtin_mul_overflow(rest / unit + (rest % unit > 0), unit, &edge))
        return zb_fail(err, ZB_ELIMIT, "the chunk that has to be added has 2^64 elements");
    return zb__runs_add(grown, edge, 1, err);
}

static enum zb_code edit_grid(zb__document *document, const zb__array *array, const uint64_t *shape,
                              zb_error *err) {
    zb__runs grown[ZB_MAX_NDIM] = {{.count = 0}};
    uint32_t ndim = array->info.ndim;
    enum zb_code code = ZB_OK;
    for (uint32_t d = 0; d < ndim && !code; d++)
        code = grow(array, d, shape[d], &grown[d], err);
    if (!code) {
        zb_json_writer w = {.level = 0};
        zb__rectilinear_print(&w, ndim, array->grid.extent, grown);
        code = zb__document_take(document, "chunk_grid", &w, err);
    }
    for (uint32_t d = 0; d < ndim; d++)
        zb__runs_free(&grown[d]);
    return code;
}

/* Tells whether the grid has to be written anew, or refuses. */
static enum zb_code compare_grid(const zb_json *document, const zb__array *array,
                                 const uint64_t *shape, bool *grows, zb_error *err) {
    const char *name = zb_json_string(zb_json_get(zb_json_get(document, "chunk_grid"), "name"));
    bool is_draft = !name || strcmp(name, "rectilinear") != 0;
    *grows = false;
    for (uint32_t d = 0; d < array->info.ndim; d++) {
        if (!zb__grid_has_runs(&array->grid, d))
            continue;
        if (is_draft && shape[d] != array->info.shape[d])
            return zb_fail(err, ZB_EUNSUPPORTED,
                           "an array with the draft chunk_grid \"rectangular\" cannot be resized; "
                           "copy its elements to a new array");
        *grows = *grows || shape[d] > zb__runs_end(&array->grid.runs[d]);
    }
    return ZB_OK;
}

/* ---- The whole ---------------------------------------------------------------------------- */

/* The node takes the tree of its document over: a document is parsed once. */
enum zb_code zb__array_reshape(const zb_node *node, const zb__document_text *text,
                               const uint64_t *shape, zb__document_text *out_text, zb_node **out,
                               zb_error *err) {
    const zb__document document = {.text = text->text,
                                   .size = text->size,
                                   .json = node->document,
                                   .is_outline = !zb__node_keeps_entries(node->hierarchy)};
    zb__document changed = {.text = NULL};
    bool grows;
    enum zb_code code = compare_grid(node->document, node->array, shape, &grows, err);
    if (!code)
        code = with_shape(&document, shape, node->array->info.ndim, &changed, err);
    if (!code && grows)
        code = edit_grid(&changed, node->array, shape, err);
    if (code) {
        zb__document_free(&changed);
        return code;
    }
    code = zb__node_make_parsed(node->hierarchy, node->path, changed.text, changed.size,
                                changed.json, out, err);
    if (!code)
        (*out)->home = node->home;
    if (!code && out_text)
        *out_text = (zb__document_text){changed.text, changed.size};
    else
        free(changed.text);
    return code;
}
