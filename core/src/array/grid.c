/* SPDX-License-Identifier: MIT */
#include "array/grid.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/extension.h"
#include "util/json_excerpt.h"
#include "zarrbridge/json.h"

uint64_t zb__grid_pad(const zb__grid *grid, uint32_t d, uint64_t extent) {
    if (extent == 0)
        return 0;
    zb__span last = zb__grid_find(grid, d, extent - 1);
    uint64_t end;
    if (last.extent == 0)
        return extent;
    return __builtin_add_overflow(last.start, last.extent, &end) || end > INT64_MAX ? extent : end;
}

bool zb__grid_same(const zb__grid *a, const zb__grid *b) {
    static const zb__runs none = {.count = 0};
    if (a->ndim != b->ndim)
        return false;
    if (!a->runs && !b->runs)
        return memcmp(a->extent, b->extent, a->ndim * sizeof *a->extent) == 0;
    bool same = true;
    for (uint32_t d = 0; d < a->ndim && same; d++)
        same = zb__runs_agree(a->runs ? &a->runs[d] : &none, a->extent[d],
                              b->runs ? &b->runs[d] : &none, b->extent[d]);
    return same;
}

void zb__grid_free(zb__grid *grid) {
    zb__runs *runs = (zb__runs *)grid->runs;
    for (uint32_t d = 0; runs && d < grid->ndim; d++)
        zb__runs_free(&runs[d]);
    free(runs);
    grid->runs = NULL;
}

static enum zb_code parse_regular(const zb_json *configuration, const uint64_t *shape,
                                  zb__grid *grid, uint64_t *extent, zb_error *err) {
    const zb_json *list = zb_json_get(configuration, "chunk_shape");
    char excerpt[ZB__BRIEF_SIZE];
    (void)shape;
    if (zb_json_kind_of(list) != ZB_JSON_ARRAY || zb_json_count(list) != grid->ndim)
        return zb_fail(err, ZB_EFORMAT,
                       "chunk_grid: chunk_shape is %s, expected a list of %u integers",
                       zb__json_excerpt(list, excerpt), grid->ndim);
    return zb__extents_parse(list, "chunk_grid: chunk_shape", 1, extent, err);
}

/* ---- Several extents ---------------------------------------------------------------------- */

/* A member whose lists give the extents. */
typedef struct lists {
    const zb_json *value;
    const char *name;
    bool is_draft; /* without runs, and with the array's extent as their sum */
} lists;

/* Each element of the array needs a cell, and the largest cell is needed for sizes. */
static enum zb_code finish_extent(const lists *l, const zb__runs *runs, uint32_t d, uint64_t shape,
                                  uint64_t *extent, zb_error *err) {
    if (runs->count == 0)
        return ZB_OK;
    uint64_t end = zb__runs_end(runs);
    if (end < shape || (l->is_draft && end != shape))
        return zb_fail(err, ZB_EFORMAT,
                       "%s[%u]: the chunks have %" PRIu64 " elements, expected %sthe %" PRIu64
                       " of the array",
                       l->name, d, end, l->is_draft ? "" : "at least ", shape);
    *extent = zb__runs_largest(runs, shape);
    return ZB_OK;
}

static enum zb_code parse_lists(const lists *l, const uint64_t *shape, zb__grid *grid,
                                uint64_t *extent, zb_error *err) {
    zb__runs *runs = calloc(grid->ndim + 1, sizeof *runs);
    if (!runs)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a grid");
    enum zb_code code =
        zb__chunk_shapes_parse(l->value, l->name, !l->is_draft, grid->ndim, extent, runs, err);
    bool any = false;
    for (uint32_t d = 0; d < grid->ndim && !code; d++) {
        any = any || runs[d].count > 0;
        code = finish_extent(l, &runs[d], d, shape[d], &extent[d], err);
    }
    grid->runs = runs;
    if (code || !any)
        zb__grid_free(grid);
    return code ? zb_error_prefix(err, code, "chunk_grid") : ZB_OK;
}

static enum zb_code parse_rectilinear(const zb_json *configuration, const uint64_t *shape,
                                      zb__grid *grid, uint64_t *extent, zb_error *err) {
    const zb_json *kind = zb_json_get(configuration, "kind");
    const char *text = zb_json_string(kind);
    char excerpt[ZB__BRIEF_SIZE];
    if (!text || strcmp(text, "inline") != 0) /* another text may be a kind of a later version */
        return zb_fail(err, text ? ZB_EUNSUPPORTED : ZB_EFORMAT,
                       "chunk_grid: kind is %s, expected \"inline\"",
                       zb__json_excerpt(kind, excerpt));
    const lists l = {.value = zb_json_get(configuration, "chunk_shapes"), .name = "chunk_shapes"};
    return parse_lists(&l, shape, grid, extent, err);
}

static enum zb_code parse_rectangular(const zb_json *configuration, const uint64_t *shape,
                                      zb__grid *grid, uint64_t *extent, zb_error *err) {
    const lists l = {.value = zb_json_get(configuration, "chunk_shape"),
                     .name = "chunk_shape",
                     .is_draft = true};
    return parse_lists(&l, shape, grid, extent, err);
}

/* ---- All kinds ---------------------------------------------------------------------------- */

typedef enum zb_code (*parse_fn)(const zb_json *configuration, const uint64_t *shape,
                                 zb__grid *grid, uint64_t *extent, zb_error *err);

typedef struct kind {
    const char *name;
    const char *members[4];
    parse_fn parse;
} kind;

static const kind kinds[] = {
    {"regular", {"chunk_shape", NULL}, parse_regular},
    {"rectilinear", {"kind", "chunk_shapes", NULL}, parse_rectilinear},
    {"rectangular", {"chunk_shape", "separator", NULL}, parse_rectangular}};

/* The kind of a draft's grid; NULL for other grids. */
static parse_fn kind_of_draft(const zb_json *value) {
    const char *type = zb_json_string(zb_json_get(value, "type"));
    if (!type || zb_json_get(value, "name"))
        return NULL;
    return strcmp(type, "regular") == 0       ? parse_regular
           : strcmp(type, "rectangular") == 0 ? parse_rectangular
                                              : NULL;
}

bool zb__grid_is_typed(const zb_json *value) {
    return kind_of_draft(value) != NULL;
}

/* The draft has its members side by side, and its kind in `type`. */
static enum zb_code parse_typed(const zb_json *value, const uint64_t *shape, zb__grid *grid,
                                uint64_t *extent, zb_error *err) {
    static const char *const known[] = {"type", "chunk_shape", "separator", NULL};
    const zb__extension whole = {.name = zb_json_string(zb_json_get(value, "type")),
                                 .configuration = value};
    enum zb_code code = zb__extension_check(&whole, "chunk_grid", known, err);
    return code ? code : kind_of_draft(value)(value, shape, grid, extent, err);
}

enum zb_code zb__grid_parse(const zb_json *value, uint32_t ndim, const uint64_t *shape,
                            uint64_t *largest, zb__grid *out, zb_error *err) {
    zb__extension grid;
    char excerpt[ZB__BRIEF_SIZE];
    *out = zb__grid_of(ndim, largest);
    if (zb__grid_is_typed(value))
        return parse_typed(value, shape, out, largest, err);
    enum zb_code code = zb__extension_parse(value, "chunk_grid", &grid, err);
    if (code)
        return code;
    const kind *found = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !found; i++)
        found = strcmp(grid.name, kinds[i].name) == 0 ? &kinds[i] : NULL;
    if (!found)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "chunk_grid %s is not supported, expected \"regular\" or \"rectilinear\"",
                       zb__name_excerpt(grid.name, excerpt));
    code = zb__extension_check(&grid, "chunk_grid", found->members, err);
    if (code)
        return code;
    return found->parse(grid.configuration, shape, out, largest, err);
}
