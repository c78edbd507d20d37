/* SPDX-License-Identifier: MIT */
/*
 * Levels are planned, made beside their places, moved there when all are whole, and put on the
 * list. So an error leaves the levels that were there, and a process that is killed leaves at the
 * worst nodes of such names, or for a moment none of an old level. Readers pass over a level that
 * is not there.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conventions/pyramids.h"
#include "hierarchy/path.h"
#include "pyramid/colours.h"
#include "pyramid/fill.h"
#include "util/list.h"
#include "util/wait.h"

typedef struct build {
    zb__raster raster;
    const zb_pyramid_options *options;
    zb__values_plan values;
    bool is_together; /* chunks hold several bands, which GDAL then resamples at once */
    bool has_alpha;
    zb__level *level; /* finest first */
    size_t count, capacity;
    zb_stop stop;       /* of the calling thread */
    uint64_t done, all; /* pixels */
} build;

/* ---- Refusing ---- */

static enum zb_code refuse(const build *b, const char *why, zb_error *err) {
    return zb_fail(err, ZB_ECONFLICT, "array /%s: no levels are made: %s",
                   zb_node_path(b->raster.array), why);
}

static enum zb_code plan_resampling(build *b, zb_error *err) {
    b->is_together = zb__bands_share_chunks(&b->raster, false) &&
                     !(b->options->method == ZB_RESAMPLE_NEAREST && b->raster.mask);
    const enum zb_code code = zb__plan_values(b->raster.array, b->options->method, &b->values, err);
    return code ? code : zb__check_colours(&b->raster, &b->values, &b->has_alpha, err);
}

/* ---- Planning ---- */

/* A level that is not there yet goes into the list of the group that holds the raster, or the
   raster's group. */
static enum zb_code plan_new(build *b, zb__level *level, zb_error *err) {
    const zb_level_places *places = &b->raster.places;
    const zb_node *group = b->raster.nodes.at(b->raster.nodes.context, places->above);
    zb_strings taken = {.count = 0};
    if (!group || zb_node_array(group) || zb__attribute(group, "ome") ||
        !zb__group_may_list(group, &b->raster.nodes))
        return refuse(b, "its group has no place for the list of levels", err);
    if (!places->leads)
        return refuse(b,
                      "it belongs to a pyramid, whose levels can be made anew, but not be added "
                      "to",
                      err);
    if (places->of_groups) {
        char *home = zb_level_home(b->raster.hierarchy, places->array);
        const bool is_shared = home && strcmp(home, places->array) == 0;
        free(home);
        if (is_shared)
            return refuse(b,
                          "its group has other rasters, which a level on the list would need as "
                          "well; move them to groups of their own",
                          err);
    }
    zb_error reason = {.code = ZB_OK};
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < b->count && !code; i++)
        code = zb_strings_add(&taken, b->level[i].target) ? ZB_OK : zb__no_memory(&reason);
    if (!code)
        code = zb__level_free_group(places, b->raster.hierarchy, level->factor, &taken,
                                    &level->target, &reason);
    zb_strings_clear(&taken);
    if (code == ZB_ECONFLICT)
        return refuse(b, reason.message, err);
    if (code)
        return zb_fail(err, code, "%s", reason.message);
    level->is_made = level->is_new = true;
    level->array = zb__path_join(level->target, zb__path_name(places->array));
    return level->array ? ZB_OK : zb__no_memory(err);
}

/* A level that is there already is made anew: one of these columns and rows, or (made by others,
   who round otherwise) by this factor. */
static bool is_of_factor(const build *b, const zb_array_info *info, const zb__level *level) {
    if (info->ndim != zb_node_array(b->raster.array)->ndim)
        return false;
    const uint64_t width = info->shape[b->raster.x], height = info->shape[b->raster.y];
    if (width == level->width && height == level->height)
        return true;
    const bool is_wide = b->raster.width >= b->raster.height / 2;
    const uint64_t whole = is_wide ? b->raster.width : b->raster.height;
    const uint64_t part = is_wide ? width : height;
    return part > 0 && zb_array_may_be_level(zb_node_array(b->raster.array), info) &&
           (uint64_t)(0.5 + (double)whole / (double)part) == level->factor;
}

static enum zb_code plan_old(build *b, const char *path, const zb_array_info *info,
                             zb__level *level, zb_error *err) {
    level->width = info->shape[b->raster.x];
    level->height = info->shape[b->raster.y];
    level->is_made = zb_level_is_made(&b->raster.places, b->raster.hierarchy, path);
    level->array = strdup(path);
    level->target = level->is_made ? zb_level_home(b->raster.hierarchy, path) : strdup(path);
    if (!level->array || !level->target)
        return zb__no_memory(err);
    if (level->is_made && b->raster.mask && strcmp(level->target, level->array) == 0)
        return refuse(b,
                      "a level shares its group with other nodes, and would lose its mask; move "
                      "these to groups of their own",
                      err);
    return ZB_OK;
}

static bool has_level_at(const build *b, const char *array) {
    for (size_t i = 0; i < b->count; i++) {
        if (strcmp(b->level[i].array, array) == 0)
            return true;
    }
    return false;
}

static void level_clear(zb__level *level) {
    zb_node_release(level->node);
    zb_node_release(level->mask);
    free(level->target);
    free(level->aside);
    free(level->array);
}

/* size: columns and rows; NULL: as the factor says. */
static enum zb_code plan_level(build *b, uint64_t factor, const uint64_t *size, zb_error *err) {
    const zb_strings *there = &b->raster.pyramid.levels;
    if (factor < 2)
        return zb_fail(err, ZB_EINVAL,
                       "array /%s: no levels are made: the factor %" PRIu64
                       " makes nothing smaller",
                       zb_node_path(b->raster.array), factor);
    zb__level level = {.factor = factor,
                       .width = (b->raster.width - 1) / factor + 1,
                       .height = (b->raster.height - 1) / factor + 1};
    if (size) {
        level.width = size[0];
        level.height = size[1];
    }
    if (level.width == 0 || level.height == 0 || level.width > b->raster.width ||
        level.height > b->raster.height)
        return zb_fail(err, ZB_EINVAL, "a level of %" PRIu64 " x %" PRIu64 " is no smaller raster",
                       level.width, level.height);
    if (level.width == b->raster.width && level.height == b->raster.height)
        return ZB_OK;
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < there->count && !code && !level.array; i++) {
        const zb_node *node = b->raster.nodes.at(b->raster.nodes.context, there->text[i]);
        const zb_array_info *info = node ? zb_node_array(node) : NULL;
        if (info && strcmp(there->text[i], b->raster.places.array) != 0 &&
            is_of_factor(b, info, &level))
            code = plan_old(b, there->text[i], info, &level, err);
    }
    if (!code && !level.array)
        code = plan_new(b, &level, err);
    if (!code && !has_level_at(b, level.array)) {
        if (zb__list_grow(&b->level, b->count, &b->capacity, sizeof *b->level)) {
            b->level[b->count++] = level;
            return ZB_OK;
        }
        code = zb__no_memory(err);
    }
    level_clear(&level);
    return code;
}

static int compare_levels(const void *a, const void *b) {
    const zb__level *one = a, *other = b;
    return one->factor < other->factor ? -1 : one->factor > other->factor;
}

static enum zb_code plan_levels(build *b, zb_error *err) {
    const zb_pyramid_options *options = b->options;
    const uint64_t smallest = options->smallest ? options->smallest : 256;
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < options->factor_count && !code; i++)
        code =
            plan_level(b, options->factors[i], options->sizes ? &options->sizes[2 * i] : NULL, err);
    for (uint64_t n = 1; options->factor_count == 0 && !code; n *= 2) {
        if ((b->raster.width - 1) / n + 1 <= smallest && (b->raster.height - 1) / n + 1 <= smallest)
            break;
        code = plan_level(b, 2 * n, NULL, err);
    }
    if (b->count > 1)
        qsort(b->level, b->count, sizeof *b->level, compare_levels);
    for (size_t i = 0; i < b->count; i++)
        b->all += b->level[i].width * b->level[i].height * zb__band_count(&b->raster);
    return code;
}

/* ---- Levels of the past ---- */

/* True if the list was made when the raster had other rows and columns. */
static bool has_other_shape(const zb__raster *raster) {
    const double *shape = raster->pyramid.shape;
    const double width = (double)raster->width, height = (double)raster->height;
    return raster->pyramid.has_shape && !(shape[0] == height && shape[1] == width) &&
           !(shape[0] == width && shape[1] == height);
}

static bool is_stale(const zb__raster *raster, const zb_array_info *info) {
    return has_other_shape(raster) ||
           (info->ndim == zb_node_array(raster->array)->ndim &&
            info->shape[raster->x] <= raster->width && info->shape[raster->y] <= raster->height &&
            !zb_array_may_be_level(zb_node_array(raster->array), info));
}

/* Made levels of a raster that has another size since. They are shown no more, and hold the names
   of new ones. */
static enum zb_code remove_stale(build *b, bool *any, zb_error *err) {
    zb__raster *raster = &b->raster;
    const zb_strings *levels = &raster->pyramid.levels;
    zb_strings stale = {.count = 0};
    enum zb_code code = ZB_OK;
    for (size_t i = raster->pyramid.self + 1; i < levels->count && !code; i++) {
        const zb_node *node = raster->nodes.at(raster->nodes.context, levels->text[i]);
        const zb_array_info *info = node ? zb_node_array(node) : NULL;
        if (info && is_stale(raster, info) &&
            zb_level_is_made(&raster->places, raster->hierarchy, levels->text[i]) &&
            !zb_strings_add(&stale, levels->text[i]))
            code = zb__no_memory(err);
    }
    *any = !code && stale.count > 0;
    if (*any)
        code = zb__levels_remove(raster->hierarchy, &raster->places, &stale, NULL, err);
    zb_strings_clear(&stale);
    return code;
}

/* The raster as it is without these. */
static enum zb_code open_raster(build *b, const zb_node *array, zb_error *err) {
    const zb_pyramid_options *options = b->options;
    bool any = false;
    enum zb_code code = zb__raster_open(array, &b->raster, err);
    if (code)
        return code;
    code = zb__raster_place(&b->raster, options->axes, options->transform, err);
    if (!code)
        code = remove_stale(b, &any, err);
    if (code || !any)
        return code;
    zb__raster_clear(&b->raster);
    code = zb__raster_open(array, &b->raster, err);
    return code ? code : zb__raster_place(&b->raster, options->axes, options->transform, err);
}

/* ---- Pixels ---- */

static enum zb_code tell(void *context, uint64_t pixels, zb_error *err) {
    build *b = context;
    b->done += pixels;
    const double share = b->all ? (double)b->done / (double)b->all : 1;
    if ((b->options->progress && b->options->progress(b->options->context, share) != 0) ||
        (b->stop.fn && b->stop.fn(b->stop.context) != 0))
        return zb_fail(err, ZB_ECANCELLED, "array /%s: making its levels was cancelled",
                       zb_node_path(b->raster.array));
    return ZB_OK;
}

/* The next finer level that can be the source, or NULL for the raster. GDAL goes from level to
   level, but where a mask in another array, or the place of the nearest pixel, ask for the raster;
   where all sizes divide, the nearest pixel is the same. */
static const zb__level *source_of(const build *b, size_t i) {
    const zb__level *finer = i > 0 ? &b->level[i - 1] : NULL, *own = &b->level[i];
    if (!finer || finer->width < own->width || finer->height < own->height)
        return NULL;
    const bool divides = b->raster.width % own->factor == 0 &&
                         b->raster.height % own->factor == 0 && own->factor % finer->factor == 0;
    const bool is_nearest = b->values.method == ZB_RESAMPLE_NEAREST;
    return b->is_together || (is_nearest ? divides : !b->raster.mask) ? finer : NULL;
}

static enum zb_code fill_level(build *b, size_t i, zb_error *err) {
    const zb__level *source = source_of(b, i);
    const zb__fill fill = {.source = source ? source->node : b->raster.array,
                           .mask = source ? source->mask : b->raster.mask,
                           .target = b->level[i].node,
                           .x = b->raster.x,
                           .y = b->raster.y,
                           .has_alpha = b->has_alpha,
                           .values = &b->values,
                           .write = &b->options->write,
                           .progress = {tell, b}};
    return zb__fill_level(&fill, err);
}

/* Each from the next finer one that divides it: valid is what has anything valid. */
static enum zb_code fill_mask(build *b, size_t i, zb_error *err) {
    const bool is_nearest = b->values.method == ZB_RESAMPLE_NEAREST;
    zb__fill fill = {
        .source = b->raster.mask, .target = b->level[i].mask, .write = &b->options->write};
    for (size_t j = 0; j < i && !is_nearest; j++) {
        if (b->level[j].mask && b->level[i].factor % b->level[j].factor == 0)
            fill.source = b->level[j].mask;
    }
    return b->level[i].mask ? zb__fill_mask(&fill, b->values.method, err) : ZB_OK;
}

/* A window is in memory as a whole, with all bands of a chunk. */
static enum zb_code check_windows(const build *b, zb_error *err) {
    enum { MOST_PIXELS = 4096 * 4096 };
    const zb_array_info *info = zb_node_array(b->raster.array);
    double planes = 1;
    for (uint32_t d = 0; d < info->ndim; d++) {
        if (d != b->raster.x && d != b->raster.y)
            planes *= (double)(info->inner_shape[d] < info->shape[d] ? info->inner_shape[d]
                                                                     : info->shape[d]);
    }
    for (size_t i = 0; i < b->count && b->values.method != ZB_RESAMPLE_NEAREST; i++) {
        const zb__level *source = source_of(b, i), *own = &b->level[i];
        const double width = (double)(source ? source->width : b->raster.width);
        const double height = (double)(source ? source->height : b->raster.height);
        const double window = width / (double)own->width * (height / (double)own->height);
        if (window > MOST_PIXELS || window * planes > 4.0 * MOST_PIXELS)
            return zb_fail(err, ZB_EUNSUPPORTED,
                           "array /%s: a pixel of the level by %" PRIu64 " would be made of %.0f "
                           "at once; make levels between, too",
                           zb_node_path(b->raster.array), own->factor, window * planes);
    }
    return ZB_OK;
}

/* By the caller's function. */
static enum zb_code have_filled(const build *b, zb_error *err) {
    zb_pyramid_level *level = calloc(b->count + 1, sizeof *level);
    if (!level)
        return zb__no_memory(err);
    for (size_t i = 0; i < b->count; i++)
        level[i] = (zb_pyramid_level){b->level[i].factor, b->level[i].node, b->level[i].mask,
                                      b->level[i].is_made};
    const enum zb_code code = b->options->fill(b->options->context, level, b->count, err);
    free(level);
    return code;
}

static enum zb_code make_levels(build *b, zb_error *err) {
    enum zb_code code = b->options->fill ? ZB_OK : check_windows(b, err);
    for (size_t i = 0; i < b->count && !code; i++)
        code = zb__level_create(&b->raster, &b->level[i], err);
    if (!code) /* coordinates that were looked for only now */
        code = zb__opened_check(&b->raster.opened, err);
    if (b->options->fill)
        return code ? code : have_filled(b, err);
    for (size_t i = 0; i < b->count && !code; i++)
        code = fill_mask(b, i, err);
    for (size_t i = 0; i < b->count && !code; i++)
        code = fill_level(b, i, err);
    return code;
}

/* ---- Putting in place ---- */

static enum zb_code move_level(const build *b, zb__level *level, zb_error *err) {
    zb_hierarchy *hierarchy = b->raster.hierarchy;
    const enum zb_code code =
        level->is_new ? zb_node_move(hierarchy, level->aside, level->target, err)
                      : zb__level_take_place(hierarchy, level->aside, level->target, err);
    if (code)
        return code;
    /* Until it is on the list, a new level is still ours to take away. */
    free(level->aside);
    level->aside = level->is_new ? strdup(level->target) : NULL;
    return ZB_OK;
}

/* "" is no method. */
static const char *method_name(const build *b) {
    const char *name =
        b->options->fill ? b->options->method_name : zb_resample_name(b->values.method);
    return name && *name ? name : NULL;
}

/* What is made again is always told, for the method may be another one. */
static enum zb_code list_levels(const void *context, const zb_node *group, zb_level_list *out,
                                zb_error *err) {
    const build *b = context;
    const zb__raster *raster = &b->raster;
    const zb_array_info *info = zb_node_array(raster->array);
    const size_t most = b->count + 1;
    zb_level_entry *entry = calloc(most, sizeof *entry);
    double(*scale)[ZB_MAX_NDIM] = calloc(most, sizeof *scale);
    double(*transform)[6] = calloc(most, sizeof *transform);
    char **asset = calloc(most, sizeof *asset);
    const zb__level whole = {.width = raster->width, .height = raster->height};
    enum zb_code code = entry && scale && transform && asset ? ZB_OK : zb__no_memory(err);
    size_t count = 0;
    for (size_t i = 0; i < most && !code; i++) {
        const zb__level *level = i == 0 ? &whole : &b->level[i - 1];
        if (i > 0 && !level->is_made)
            continue;
        asset[count] =
            zb_level_asset(&raster->places, i == 0 ? raster->places.array : level->array);
        if (!asset[count])
            code = zb__no_memory(err);
        for (uint32_t d = 0; d < info->ndim; d++)
            scale[count][d] = 1;
        scale[count][raster->x] = (double)raster->width / (double)level->width;
        scale[count][raster->y] = (double)raster->height / (double)level->height;
        zb__level_transform(raster, level, transform[count]);
        entry[count] =
            (zb_level_entry){.asset = asset[count],
                             .derived_from = i == 0 ? NULL : asset[0],
                             .method = i == 0 ? NULL : method_name(b),
                             .ndim = info->ndim,
                             .scale = scale[count],
                             .width = level->width,
                             .height = level->height,
                             .transform = raster->has_transform ? transform[count] : NULL};
        count++;
    }
    if (!code)
        code = zb_level_list_put(group, entry, count, out, err);
    for (size_t i = 0; i < most && asset; i++)
        free(asset[i]);
    free(asset);
    free(transform);
    free(scale);
    free(entry);
    return code;
}

static enum zb_code replace(build *b, zb_error *err) {
    enum zb_code code = ZB_OK;
    bool any = false;
    for (size_t i = 0; i < b->count && !code; i++) {
        any = any || b->level[i].is_made;
        code = move_level(b, &b->level[i], err);
    }
    if (!code && any)
        code =
            zb__level_list_change(b->raster.hierarchy, b->raster.places.above, list_levels, b, err);
    for (size_t i = 0; i < b->count && !code; i++) {
        free(b->level[i].aside);
        b->level[i].aside = NULL;
    }
    return code;
}

/* What has been made and has not taken its place goes. */
static void build_clear(build *b) {
    for (size_t i = 0; i < b->count; i++) {
        zb__level *level = &b->level[i];
        zb_node_release(level->node);
        zb_node_release(level->mask);
        level->node = level->mask = NULL;
        if (level->aside)
            (void)zb_node_delete(b->raster.hierarchy, level->aside, NULL);
        level_clear(level);
    }
    free(b->level);
    zb__raster_clear(&b->raster);
}

enum zb_code zb_pyramid_build(const zb_node *array, const zb_pyramid_options *options,
                              zb_error *err) {
    static const zb_pyramid_options defaults = {.method = ZB_RESAMPLE_NEAREST};
    /* What the thread has said of its waits is asked between tiles, too: changes end that. */
    build b = {.options = options ? options : &defaults, .stop = zb__stopper_mine()->ask};
    enum zb_code code = open_raster(&b, array, err);
    if (!code && !b.options->fill)
        code = plan_resampling(&b, err);
    if (!code)
        code = plan_levels(&b, err);
    if (!code)
        code = zb__opened_check(&b.raster.opened, err);
    if (!code)
        code = make_levels(&b, err);
    if (!code)
        code = replace(&b, err);
    build_clear(&b);
    return code;
}
