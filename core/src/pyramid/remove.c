/* SPDX-License-Identifier: MIT */
/* The end of levels that were made of an array. */
#include "conventions/pyramids.h"
#include "pyramid/raster.h"

static enum zb_code refuse_foreign(const zb__raster *raster, const char *level, zb_error *err) {
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "array /%s: its level /%s was made by another program as data of its own, and "
                   "is not removed",
                   zb_node_path(raster->array), level);
}

/* The coarser levels on the list that are there. */
static enum zb_code find_made(const zb__raster *raster, zb_strings *made, zb_error *err) {
    const zb_strings *levels = &raster->pyramid.levels;
    for (size_t i = raster->pyramid.self + 1; i < levels->count; i++) {
        const char *level = levels->text[i];
        const zb_node *node = raster->nodes.at(raster->nodes.context, level);
        if (!node || !zb_node_array(node))
            continue;
        if (!zb_level_is_made(&raster->places, raster->hierarchy, level))
            return refuse_foreign(raster, level, err);
        if (!zb_strings_add(made, level))
            return zb__no_memory(err);
    }
    return zb__opened_check(&raster->opened, err);
}

enum zb_code zb_pyramid_remove(const zb_node *array, size_t *removed, zb_error *err) {
    zb__raster raster;
    zb_strings made = {.count = 0};
    enum zb_code code = zb__raster_open(array, &raster, err);
    if (code)
        return code;
    code = find_made(&raster, &made, err);
    if (!code)
        code = zb__levels_remove(raster.hierarchy, &raster.places, &made, NULL, err);
    if (!code)
        code = zb__levels_remove_lost(raster.hierarchy, &raster.places, &raster.pyramid, err);
    if (removed)
        *removed = code ? 0 : made.count;
    zb_strings_clear(&made);
    zb__raster_clear(&raster);
    return code;
}
