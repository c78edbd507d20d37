/* SPDX-License-Identifier: MIT */
/*
 * The nodes of a level: an array of the raster's form, its mask, and beside them what places them:
 * the grid mapping, coordinates of columns and rows, and those of the other dimensions, for
 * programs that open a level's group alone, as xarray does, find none above.
 */
#include "pyramid/level.h"

#include <stdlib.h>
#include <string.h>

#include "conventions/pyramids.h"
#include "extension/gdal_extension.h"
#include "extension/hdf5_extension.h"
#include "hierarchy/path.h"
#include "util/extension.h"
#include "util/text.h"

/* ---- Attributes ---- */

static bool begins_with(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* What names nodes beside the raster, or says what is true of this array alone. The extensions tell
   of HDF5 links and of statistics, too; gdaladdo knows which of that holds for a level. */
static bool is_own_matter(const char *name) {
    static const char *const names[] = {
        "bounds",          "ancillary_variables", "cell_measures",     "multiscales", "ome",
        ZB_HDF5_EXTENSION, "GeoTransform",        "_ARRAY_DIMENSIONS", NULL};
    return zb__name_in(name, names) || zb_gdal_owns_attribute(name);
}

/* An array of a level: the name of its mask, or of the array whose mask it is; NULL for none. */
typedef struct company {
    const char *mask, *mask_of;
} company;

static char *quoted(const char *name) {
    zb_json_writer *w = zb_json_writer_new();
    zb_json_write_string(w, name ? name : "");
    return zb_json_writer_end(w, NULL);
}

/* What the GDAL extension says of all arrays with such pixels, and of the level's own. */
static bool write_gdal(zb_json_writer *w, const zb_gdal_extension *gdal, company with) {
    char *mask = quoted(with.mask), *mask_of = quoted(with.mask_of);
    const zb_gdal_change changes[] = {{ZB_GDAL_PAM, NULL},
                                      {ZB_GDAL_OVERRULED, NULL},
                                      {ZB_GDAL_LEVEL_OF, NULL},
                                      {ZB_GDAL_REPEATS_PLACE, NULL},
                                      {ZB_GDAL_MASK, with.mask ? mask : NULL},
                                      {ZB_GDAL_MASK_OF, with.mask_of ? mask_of : NULL}};
    const bool complete =
        mask && mask_of && zb__gdal_write(w, gdal, changes, sizeof changes / sizeof *changes);
    free(mask_of);
    free(mask);
    return complete;
}

/* The object's text; NULL when memory ran out. */
static char *end_attributes(zb_json_writer *w, const zb_gdal_extension *gdal, company with) {
    const bool complete = write_gdal(w, gdal, with);
    zb_json_end_object(w);
    char *text = zb_json_writer_end(w, NULL);
    if (complete)
        return text;
    free(text);
    return NULL;
}

static void write_numbers(zb_json_writer *w, const double *numbers, int count) {
    zb_json_begin_array(w);
    for (int i = 0; i < count; i++)
        zb_json_write_double(w, numbers[i]);
    zb_json_end_array(w);
}

void zb__level_transform(const zb__raster *raster, const zb__level *level, double out[6]) {
    const double across = (double)raster->width / (double)level->width;
    const double down = (double)raster->height / (double)level->height;
    memcpy(out, raster->transform, sizeof raster->transform);
    out[0] *= across;
    out[3] *= across;
    out[1] *= down;
    out[4] *= down;
}

/* True if the attribute is written, as it holds for the level. */
static bool write_place(zb_json_writer *w, const zb__raster *raster, const zb__level *level,
                        const char *name) {
    double transform[6];
    if (strcmp(name, "spatial:shape") == 0) {
        zb_json_write_name(w, name);
        zb_json_begin_array(w);
        zb_json_write_uint64(w, level->height);
        zb_json_write_uint64(w, level->width);
        zb_json_end_array(w);
        return true;
    }
    if (strcmp(name, "spatial:registration") == 0) {
        zb_json_write_name(w, name);
        zb_json_write_string(w, "pixel");
        return true;
    }
    if (strcmp(name, "spatial:transform") == 0 && raster->has_transform) {
        zb__level_transform(raster, level, transform);
        zb_json_write_name(w, name);
        write_numbers(w, transform, 6);
        return true;
    }
    return false;
}

/* True if the attribute is not the level's, or not as it stands. */
static bool is_changed(const zb__raster *raster, const char *name, const zb_json *value) {
    const char *text = zb_json_string(value);
    if (strcmp(name, "grid_mapping") == 0)
        return !raster->mapping;
    if (strcmp(name, "coordinates") == 0) /* names of arrays that a level lacks, but for this one */
        return !raster->mapping || !text || strcmp(text, zb_node_name(raster->mapping)) != 0;
    if (begins_with(name, "spatial:"))
        return raster->is_left_behind || strcmp(name, "spatial:transform") == 0;
    return is_own_matter(name);
}

static char *level_attributes(const zb__raster *raster, const zb__level *level, const char *mask) {
    zb_json_writer *w = zb_json_writer_new();
    zb_json_begin_object(w);
    for (const zb_json *one = zb_json_first(zb_node_attributes(raster->array)); one;
         one = zb_json_next(one)) {
        const char *name = zb_json_name(one);
        if (!raster->is_left_behind && write_place(w, raster, level, name))
            continue;
        if (is_changed(raster, name, one))
            continue;
        zb_json_write_name(w, name);
        zb_json_write_value(w, one);
    }
    return end_attributes(w, raster->gdal, (company){.mask = mask});
}

/* Of a mask (mask_of: of which array) or a coordinate (NULL), whose numbers are unpacked ones. */
static char *helper_attributes(const zb_node *helper, const char *mask_of) {
    static const char *const packing[] = {"scale_factor", "add_offset",    "_Unsigned",
                                          "_FillValue",   "missing_value", NULL};
    zb_gdal_extension *gdal;
    if (zb_gdal_extension_parse(zb_node_attributes(helper), &gdal, NULL))
        return NULL;
    zb_json_writer *w = zb_json_writer_new();
    zb_json_begin_object(w);
    for (const zb_json *one = zb_json_first(zb_node_attributes(helper)); one;
         one = zb_json_next(one)) {
        if (is_own_matter(zb_json_name(one)) || zb__name_in(zb_json_name(one), packing))
            continue;
        zb_json_write_name(w, zb_json_name(one));
        zb_json_write_value(w, one);
    }
    char *attributes = end_attributes(w, gdal, (company){.mask_of = mask_of});
    zb_gdal_extension_free(gdal);
    return attributes;
}

/* ---- Arrays of another one's form ---- */

static char separator_of(const zb_node *model) {
    const zb_json *keys = zb_json_get(zb_node_document(model), "chunk_key_encoding");
    const char *text = zb_json_string(zb_json_get(zb_json_get(keys, "configuration"), "separator"));
    return text && strcmp(text, ".") == 0 ? '.' : '/';
}

static enum zb_code create_like(zb_hierarchy *hierarchy, const char *path, const zb_node *model,
                                const uint64_t *shape, const char *const *names,
                                const char *attributes, zb_node **out, zb_error *err) {
    const zb_array_info *info = zb_node_array(model);
    uint64_t inner[ZB_MAX_NDIM], shard[ZB_MAX_NDIM];
    const bool is_sharded = zb__level_extents(info, shape, inner, shard);
    char *codecs = zb__level_codecs(model);
    char *keys = zb_array_key_encoding(model);
    const zb_array_spec spec = {.ndim = info->ndim,
                                .shape = shape,
                                .inner_shape = inner,
                                .shard_shape = is_sharded ? shard : NULL,
                                .dtype = info->dtype,
                                .fill_value = info->fill_value,
                                .codecs = codecs,
                                .dimension_names = names,
                                .attributes = attributes,
                                .separator = keys ? '\0' : separator_of(model),
                                .key_encoding = keys};
    const enum zb_code code = zb_array_create(hierarchy, path, &spec, out, err);
    free(keys);
    free(codecs);
    return code;
}

/* ---- The level's own arrays ---- */

/* A level of another program keeps its own form and attributes; one of ours has those of the
   raster. */
static enum zb_code create_array(const zb__raster *raster, zb__level *level, const char *path,
                                 const char *mask, zb_error *err) {
    zb_node *model = NULL;
    enum zb_code code = ZB_OK;
    if (level->is_made)
        model = zb_node_retain(raster->array);
    else
        code = zb_node_open(raster->hierarchy, level->array, &model, err);
    if (code)
        return code;
    const zb_array_info *info = zb_node_array(model);
    const char *names[ZB_MAX_NDIM];
    uint64_t shape[ZB_MAX_NDIM];
    for (uint32_t d = 0; d < info->ndim; d++) {
        shape[d] = d == raster->x ? level->width : d == raster->y ? level->height : info->shape[d];
        names[d] = info->dimension_names ? info->dimension_names[d] : NULL;
        if (level->is_made && !names[d] && (d == raster->x || d == raster->y))
            names[d] = d == raster->x ? "x" : "y";
    }
    char *attributes = level->is_made              ? level_attributes(raster, level, mask)
                       : zb_node_attributes(model) ? zb_json_print(zb_node_attributes(model))
                                                   : strdup("{}");
    code = attributes ? create_like(raster->hierarchy, path, model, shape, names, attributes,
                                    &level->node, err)
                      : zb__no_memory(err);
    free(attributes);
    zb_node_release(model);
    return code;
}

static enum zb_code create_mask(const zb__raster *raster, zb__level *level, const char *path,
                                zb_error *err) {
    const uint64_t shape[] = {level->height, level->width};
    const zb_node *model = raster->mask;
    char *attributes = helper_attributes(model, zb_node_name(raster->array));
    enum zb_code code = attributes ? create_like(raster->hierarchy, path, model, shape,
                                                 zb_node_array(model)->dimension_names, attributes,
                                                 &level->mask, err)
                                   : zb__no_memory(err);
    free(attributes);
    return code;
}

/* ---- What places it ---- */

static enum zb_code copy_beside(const zb__raster *raster, const zb_node *node, const char *group,
                                zb_error *err) {
    char *path = zb__path_join(group, zb_node_name(node));
    enum zb_code code =
        path ? zb_node_copy(raster->hierarchy, zb_node_path(node), raster->hierarchy, path, err)
             : zb__no_memory(err);
    free(path);
    return code;
}

/* The grid mapping has the raster's GeoTransform, in GDAL's order. */
static enum zb_code copy_mapping(const zb__raster *raster, const zb__level *level,
                                 const char *group, zb_error *err) {
    double affine[6];
    enum zb_code code = raster->mapping ? copy_beside(raster, raster->mapping, group, err) : ZB_OK;
    if (code || !raster->mapping || !zb__attribute(raster->mapping, "GeoTransform"))
        return code;
    zb_node *copy = NULL, *changed = NULL;
    char *path = zb__path_join(group, zb_node_name(raster->mapping)), *value = NULL;
    const bool is_known = zb_place_of_mapping(raster->mapping, affine) && raster->has_transform;
    if (is_known) {
        zb__text words = {.data = NULL};
        char number[ZB_NUMBER_TEXT_SIZE];
        static const int order[] = {2, 0, 1, 5, 3, 4};
        zb__level_transform(raster, level, affine);
        for (int i = 0; i < 6; i++)
            zb__text_addf(&words, "%s%s", i ? " " : "\"", zb_number_text(affine[order[i]], number));
        zb__text_add(&words, "\"");
        value = zb__text_take(&words, NULL);
    }
    code = path && (value || !is_known) ? zb_node_open(raster->hierarchy, path, &copy, err)
                                        : zb__no_memory(err);
    if (!code)
        code = zb_node_set_attribute(copy, "GeoTransform", value, &changed, err);
    zb_node_release(changed);
    zb_node_release(copy);
    free(value);
    free(path);
    return code;
}

static enum zb_code write_all(const zb_node *array, const double *values, zb_error *err) {
    zb_writer *writer;
    enum zb_code code = zb_writer_open(array, NULL, &writer, err);
    if (code)
        return code;
    const zb_write write = {.data = values, .dtype = zb_node_array(array)->dtype};
    code = zb_writer_write(writer, &write, err);
    if (code) {
        zb_writer_abandon(writer);
        return code;
    }
    return zb_writer_close(writer, err);
}

/* Coordinates that are no plain numbers are left out. */
static enum zb_code write_coordinate(const zb__raster *raster, const zb_node *coordinate,
                                     const char *group, uint64_t count, zb_error *err) {
    double *values = NULL, *own = malloc(count * sizeof *own);
    zb_error reason;
    enum zb_code code = zb__coordinate_values(coordinate, &values, &reason);
    if (code) {
        free(own);
        if (code == ZB_EUNSUPPORTED)
            return ZB_OK;
        return zb_fail(err, code, "%s", reason.message);
    }
    const zb_array_info *info = zb_node_array(coordinate);
    char *path = zb__path_join(group, zb_node_name(coordinate));
    char *attributes = helper_attributes(coordinate, NULL);
    const char *name = zb_node_name(coordinate);
    const zb_array_spec spec = {.ndim = 1,
                                .shape = &count,
                                .inner_shape = &count,
                                .dtype = {.kind = ZB_KIND_FLOAT, .size = sizeof(double)},
                                .dimension_names = &name,
                                .attributes = attributes};
    zb_node *made = NULL;
    if (!own || !path || !attributes)
        code = zb__no_memory(err);
    if (!code)
        code = zb_array_create(raster->hierarchy, path, &spec, &made, err);
    if (!code) {
        zb__level_coordinate(values, info->shape[0], info->dtype, own, count);
        code = write_all(made, own, err);
    }
    zb_node_release(made);
    free(attributes);
    free(path);
    free(own);
    free(values);
    return code;
}

/* Of columns and rows anew, of other dimensions as they are. Two dimensions of one name have one
   coordinate. */
static enum zb_code create_coordinates(const zb__raster *raster, const zb__level *level,
                                       const char *group, zb_error *err) {
    const zb_array_info *info = zb_node_array(raster->array);
    const zb_node *done[ZB_MAX_NDIM] = {NULL};
    enum zb_code code = ZB_OK;
    for (uint32_t d = 0; d < info->ndim && !code; d++) {
        const zb_node *found = zb__coordinate_of(raster->array, d, &raster->nodes);
        bool is_done = !found;
        for (uint32_t i = 0; i < d; i++)
            is_done = is_done || done[i] == found;
        done[d] = found;
        if (is_done)
            continue;
        if (d == raster->x || d == raster->y)
            code = write_coordinate(raster, found, group,
                                    d == raster->x ? level->width : level->height, err);
        else
            code = copy_beside(raster, found, group, err);
    }
    return code;
}

static enum zb_code create_made(const zb__raster *raster, zb__level *level, zb_error *err) {
    zb_node *group = NULL;
    zb__text name = {.data = NULL};
    zb__text_addf(&name, "%s_mask", zb_node_name(raster->array));
    char *attributes = zb__level_group_attributes(&raster->places, level->target);
    char *path = zb__path_join(level->aside, zb_node_name(raster->array));
    char *mask_name = zb__text_take(&name, NULL);
    char *mask = mask_name ? zb__path_join(level->aside, mask_name) : NULL;
    enum zb_code code = attributes && path && mask ? ZB_OK : zb__no_memory(err);
    if (!code && strcmp(level->target, level->array) != 0)
        code = zb_group_create(raster->hierarchy, level->aside, attributes, &group, err);
    if (!code)
        code = create_array(raster, level, path, raster->mask ? mask_name : NULL, err);
    if (!code && raster->mask)
        code = create_mask(raster, level, mask, err);
    if (!code)
        code = copy_mapping(raster, level, level->aside, err);
    if (!code)
        code = create_coordinates(raster, level, level->aside, err);
    zb_node_release(group);
    free(mask);
    free(mask_name);
    free(path);
    free(attributes);
    return code;
}

enum zb_code zb__level_create(const zb__raster *raster, zb__level *level, zb_error *err) {
    level->aside = zb_aside_name(level->target);
    if (!level->aside)
        return zb__no_memory(err);
    if (level->is_made && strcmp(level->target, level->array) != 0)
        return create_made(raster, level, err);
    return create_array(raster, level, level->aside, NULL, err);
}
