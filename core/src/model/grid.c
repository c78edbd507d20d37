/* SPDX-License-Identifier: MIT */
#include "model/grid.h"

#include <string.h>

#include "base/extension.h"
#include "base/json_brief.h"
#include "model/extents.h"
#include "zarrbridge/json.h"

uint64_t zb__grid_pad(const zb__grid *grid, uint32_t d, uint64_t extent) {
    if (extent == 0)
        return 0;
    zb__span last = zb__grid_find(grid, d, extent - 1);
    uint64_t end;
    return __builtin_add_overflow(last.start, last.extent, &end) || end > INT64_MAX ? extent : end;
}

bool zb__grid_same(const zb__grid *a, const zb__grid *b) {
    return a->ndim == b->ndim && memcmp(a->extent, b->extent, a->ndim * sizeof *a->extent) == 0;
}

enum zb_code zb__grid_parse(const zb_json *value, uint32_t ndim, uint64_t *largest, zb__grid *out,
                            zb_error *err) {
    static const char *const known[] = {"chunk_shape", NULL};
    zb__extension grid;
    char brief[ZB__BRIEF_SIZE];
    enum zb_code code = zb__extension_parse(value, "chunk_grid", &grid, err);
    if (code)
        return code;
    if (strcmp(grid.name, "regular") != 0)
        return zb_fail(err, ZB_EUNSUPPORTED, "chunk_grid %s is not supported, expected \"regular\"",
                       zb__name_brief(grid.name, brief));
    code = zb__extension_check(&grid, "chunk_grid", known, err);
    if (code)
        return code;
    const zb_json *shape = zb_json_get(grid.configuration, "chunk_shape");
    if (zb_json_kind_of(shape) != ZB_JSON_ARRAY || zb_json_count(shape) != ndim)
        return zb_fail(err, ZB_EFORMAT,
                       "chunk_grid: chunk_shape is %s, expected a list of %u integers",
                       zb__json_brief(shape, brief), ndim);
    *out = zb__grid_of(ndim, largest);
    return zb__extents_parse(shape, "chunk_grid: chunk_shape", 1, largest, err);
}
