/* SPDX-License-Identifier: MIT */
#include "pyramid/raster.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conventions/pyramids.h"
#include "hierarchy/path.h"
#include "util/text.h"

/* ---- Nodes ---- */

typedef struct opened_node {
    zb__map_link link;
    zb_node *node; /* NULL: there is none */
    char path[];
} opened_node;

static opened_node *find_opened(const zb__opened *opened, const char *path, uint64_t hash) {
    for (zb__map_link *link = zb__map_first(&opened->by_path, hash); link;
         link = zb__map_next(link)) {
        opened_node *found = (opened_node *)link;
        if (strcmp(found->path, path) == 0)
            return found;
    }
    return NULL;
}

static const zb_node *opened_at(void *context, const char *path) {
    zb__opened *opened = context;
    const size_t size = strlen(path) + 1;
    const uint64_t hash = zb__hash(path, size);
    opened_node *own = find_opened(opened, path, hash);
    if (own)
        return own->node;
    own = zb__map_reserve(&opened->by_path) ? malloc(sizeof *own + size) : NULL;
    if (!own) {
        (void)zb__no_memory(&opened->failure);
        return NULL;
    }
    memcpy(own->path, path, size);
    own->node = NULL;
    zb__map_add(&opened->by_path, &own->link, hash);
    zb_error reason;
    const enum zb_code code = zb_node_open(opened->hierarchy, path, &own->node, &reason);
    if (code == ZB_EIO || code == ZB_ENOMEM || code == ZB_ECANCELLED)
        opened->failure = reason;
    return own->node;
}

zb_nodes zb__opened_nodes(zb__opened *opened) {
    return (zb_nodes){opened_at, opened};
}

enum zb_code zb__opened_check(const zb__opened *opened, zb_error *err) {
    const zb_error *failure = &opened->failure;
    return failure->code ? zb_fail(err, failure->code, "%s", failure->message) : ZB_OK;
}

void zb__opened_clear(zb__opened *opened) {
    for (zb__map_link *link = zb__map_after(&opened->by_path, NULL), *next; link; link = next) {
        next = zb__map_after(&opened->by_path, link);
        zb_node_release(((opened_node *)link)->node);
        free(link);
    }
    zb__map_free(&opened->by_path);
    *opened = (zb__opened){.hierarchy = NULL};
}

/* ---- Coordinates ---- */

/* Coordinates above are not made smaller: a raster has no more columns than fit in memory twice. */
#define MOST_COORDINATES (UINT64_C(1) << 27)

enum zb_code zb__coordinate_values(const zb_node *coordinate, double **out, zb_error *err) {
    const zb_array_info *info = zb_node_array(coordinate);
    const zb_dtype number = {.kind = ZB_KIND_FLOAT, .size = sizeof(double)};
    const uint64_t count = info->shape[0];
    double scale = 1, offset = 0;
    *out = NULL;
    if ((info->dtype.kind != ZB_KIND_INT && info->dtype.kind != ZB_KIND_UINT &&
         info->dtype.kind != ZB_KIND_FLOAT) ||
        zb__attribute(coordinate, "_Unsigned") || count == 0 || count > MOST_COORDINATES)
        return zb_fail(err, ZB_EUNSUPPORTED, "/%s has no plain numbers", zb_node_path(coordinate));
    *out = malloc(count * sizeof **out);
    if (!*out)
        return zb__no_memory(err);
    const zb_read read = {.node = coordinate, .view = {.data = *out, .dtype = number}};
    enum zb_code code = zb_array_read(&read, 1, err);
    if (code) {
        free(*out);
        *out = NULL;
        return code;
    }
    (void)zb_json_double(zb__attribute(coordinate, "scale_factor"), &scale);
    (void)zb_json_double(zb__attribute(coordinate, "add_offset"), &offset);
    for (uint64_t i = 0; i < count && (scale != 1 || offset != 0); i++)
        (*out)[i] = (*out)[i] * scale + offset;
    return ZB_OK;
}

/* ---- Place ---- */

/* GDAL and rioxarray write six numbers with blanks between them; others a list. */
bool zb__geotransform_of(const zb_node *mapping, double out[6]) {
    const zb_json *value = zb__attribute(mapping, "GeoTransform");
    const char *words = zb_json_string(value);
    zb_json *parsed = NULL;
    if (!words)
        return zb__number_list(value, 6, out);
    zb__text text = {.data = NULL};
    for (const char *c = words + strspn(words, " "); *c; c += strspn(c, " ")) {
        const size_t length = strcspn(c, " ");
        zb__text_add(&text, text.size > 0 ? "," : "[");
        zb__text_put(&text, c, length);
        c += length;
    }
    zb__text_add(&text, "]");
    size_t size;
    char *list = zb__text_take(&text, &size);
    const bool is_list = list && zb_json_parse(list, size, &parsed, NULL) == ZB_OK;
    const bool found = is_list && zb__number_list(parsed, 6, out);
    zb_json_free(parsed);
    free(list);
    return found;
}

static bool is_node_registered(const zb_node *node) {
    return strcmp(zb__attribute_text(node, "spatial:registration"), "node") == 0;
}

static bool has_other_shape(const zb__raster *raster, const zb_node *node) {
    double shape[2];
    return zb__number_list(zb__attribute(node, "spatial:shape"), 2, shape) &&
           (shape[0] != (double)raster->height || shape[1] != (double)raster->width);
}

/* By attributes of the array, or of its group, for this shape. */
static bool stated_transform(const zb__raster *raster, const zb_node *node, double out[6]) {
    double box[4];
    const char *type = zb__attribute_text(node, "spatial:transform_type");
    const double less = is_node_registered(node) ? 1 : 0;
    const double across = (double)raster->width - less, down = (double)raster->height - less;
    if (!node || (*type && strcmp(type, "affine") != 0) || has_other_shape(raster, node) ||
        !zb_convention_holds(node, ZB_CONVENTION_SPATIAL, &raster->nodes))
        return false;
    if (!zb__number_list(zb__attribute(node, "spatial:transform"), 6, out)) {
        if (!zb__number_list(zb__attribute(node, "spatial:bbox"), 4, box) || across <= 0 ||
            down <= 0)
            return false;
        const double by_box[6] = {(box[2] - box[0]) / across, 0,     box[0], 0,
                                  (box[1] - box[3]) / down,   box[3]};
        memcpy(out, by_box, sizeof by_box);
    }
    if (less > 0) {
        out[2] -= (out[0] + out[1]) / 2;
        out[5] -= (out[3] + out[4]) / 2;
    }
    return true;
}

/* The group's attributes are for arrays with its dimensions. */
static bool group_transform(const zb__raster *raster, double out[6]) {
    char *path = zb__parent_path(zb_node_path(raster->array));
    const zb_node *group =
        path && *zb_node_path(raster->array) ? raster->nodes.at(raster->nodes.context, path) : NULL;
    free(path);
    if (!group || zb_node_array(group))
        return false;
    const bool suits = !zb__attribute(group, "spatial:dimensions") ||
                       zb_axes_listed(zb_node_array(raster->array), group).x == (int)raster->x;
    return suits && stated_transform(raster, group, out);
}

static bool mapping_transform(const zb__raster *raster, double out[6]) {
    double gdal[6];
    if (!raster->mapping || !zb__geotransform_of(raster->mapping, gdal))
        return false;
    const double affine[6] = {gdal[1], gdal[2], gdal[0], gdal[4], gdal[5], gdal[3]};
    memcpy(out, affine, sizeof affine);
    return true;
}

/* By coordinates at equal distances, whose values are taken for those of the CRS. Those that are
   no numbers place nothing; those that cannot be read are a failure. */
static bool plotted_transform(zb__raster *raster, double out[6]) {
    double first[2], step[2];
    for (int i = 0; i < 2; i++) {
        double *values;
        zb_error reason;
        const zb_node *coordinate = raster->coordinate[i];
        if (!coordinate)
            return false;
        const enum zb_code code = zb__coordinate_values(coordinate, &values, &reason);
        if (code && code != ZB_EUNSUPPORTED)
            raster->opened.failure = reason;
        if (code)
            return false;
        const zb_array_info *info = zb_node_array(coordinate);
        const bool is_regular =
            zb_coordinate_is_regular(values, info->shape[0], info->dtype, &first[i], &step[i]);
        free(values);
        if (!is_regular)
            return false;
    }
    const double affine[6] = {step[0], 0,       first[0] - step[0] / 2,
                              0,       step[1], first[1] - step[1] / 2};
    memcpy(out, affine, sizeof affine);
    return true;
}

/* True if both put the corners of the raster within half a pixel. */
static bool agree(const zb__raster *raster, const double a[6], const double b[6]) {
    const double pixel = fmax(fabs(a[0]) + fabs(a[1]), fabs(a[3]) + fabs(a[4]));
    for (int corner = 0; corner < 4; corner++) {
        const double x = corner & 1 ? (double)raster->width : 0;
        const double y = corner & 2 ? (double)raster->height : 0;
        const double across = (a[0] - b[0]) * x + (a[1] - b[1]) * y + a[2] - b[2];
        const double down = (a[3] - b[3]) * x + (a[4] - b[4]) * y + a[5] - b[5];
        if (!(fabs(across) <= pixel / 2 && fabs(down) <= pixel / 2))
            return false;
    }
    return true;
}

static bool counts_pixels(const double t[6]) {
    return t[0] == 1 && t[1] == 0 && t[2] == -0.5 && t[3] == 0 && t[4] == 1 && t[5] == -0.5;
}

/* Coordinates that contradict attributes tell that these were left behind when the data were
   cropped; but where an attribute says that they are overruled, the attributes count. */
static void find_place(zb__raster *raster) {
    double plotted[6];
    const bool is_plotted = plotted_transform(raster, plotted);
    double *out = raster->transform;
    raster->is_left_behind = has_other_shape(raster, raster->array);
    raster->has_transform = stated_transform(raster, raster->array, out) ||
                            group_transform(raster, out) || mapping_transform(raster, out);
    if (raster->has_transform && is_plotted && !counts_pixels(plotted) &&
        !agree(raster, raster->transform, plotted) &&
        !zb_gdal_extension_get(raster->gdal, ZB_GDAL_OVERRULED)) {
        raster->is_left_behind = true;
        raster->has_transform = false;
    }
    if (!raster->has_transform && is_plotted) {
        memcpy(raster->transform, plotted, sizeof plotted);
        raster->has_transform = true;
    }
}

/* The variable that the attribute names, nearest upwards. */
static const zb_node *find_mapping(const zb__raster *raster) {
    const char *named = zb__attribute_text(raster->array, "grid_mapping");
    char *name = strndup(named, strcspn(named, ": "));
    char *group = name && *name ? zb__parent_path(zb_node_path(raster->array)) : NULL;
    const zb_node *found = NULL;
    while (group && !found) {
        char *path = zb__path_join(group, name);
        found = path ? raster->nodes.at(raster->nodes.context, path) : NULL;
        free(path);
        if (found && !zb_node_array(found))
            found = NULL;
        if (!*group)
            break;
        zb__path_up(group);
    }
    free(group);
    free(name);
    return found;
}

/* An array of bytes of the raster's rows and columns; another one is none. */
static const zb_node *open_mask(zb__raster *raster) {
    const char *name = zb_json_string(zb_gdal_extension_get(raster->gdal, ZB_GDAL_MASK));
    if (!name || !zb__is_child_name(name))
        return NULL;
    char *path = zb_array_mask(raster->array);
    if (!path)
        (void)zb__no_memory(&raster->opened.failure);
    const zb_node *mask = path ? raster->nodes.at(raster->nodes.context, path) : NULL;
    free(path);
    const zb_array_info *info = mask ? zb_node_array(mask) : NULL;
    const bool fits = info && info->ndim == 2 && info->dtype.kind == ZB_KIND_UINT &&
                      info->dtype.size == 1 && info->shape[0] == raster->height &&
                      info->shape[1] == raster->width;
    return fits ? mask : NULL;
}

static enum zb_code check(const zb_node *array, zb_error *err) {
    const zb_array_info *info = zb_node_array(array);
    if (!info)
        return zb_fail(err, ZB_EINVAL, "/%s is a group; levels are made of an array",
                       zb_node_path(array));
    if (info->ndim < 2)
        return zb_fail(err, ZB_EINVAL, "array /%s has no rows and columns", zb_node_path(array));
    for (uint32_t d = 0; d < info->ndim; d++) {
        if (info->shape[d] == 0)
            return zb_fail(err, ZB_EINVAL, "array /%s has no elements", zb_node_path(array));
    }
    return zb_node_may_change(array, err);
}

void zb__raster_clear(zb__raster *raster) {
    zb_pyramid_clear(&raster->pyramid);
    zb_level_places_clear(&raster->places);
    zb__opened_clear(&raster->opened);
    zb_gdal_extension_free(raster->gdal);
    zb_node_release(raster->array);
    *raster = (zb__raster){.array = NULL};
}

enum zb_code zb__raster_open(const zb_node *array, zb__raster *out, zb_error *err) {
    *out = (zb__raster){.hierarchy = zb_node_hierarchy(array)};
    out->opened.hierarchy = out->hierarchy;
    out->nodes = zb__opened_nodes(&out->opened);
    enum zb_code code = zb_node_refresh(array, &out->array, err);
    if (!code)
        code = check(out->array, err);
    if (!code)
        code = zb_pyramid_find(out->array, 2, &out->nodes, &out->pyramid, err);
    if (!code)
        code = zb_pyramid_complete(&out->pyramid, out->hierarchy, zb_node_path(array), err);
    if (!code)
        code = zb_level_places_find(&out->pyramid, zb_node_path(array), &out->places, err);
    if (code)
        zb__raster_clear(out);
    return code;
}

enum zb_code zb__raster_place(zb__raster *out, zb_error *err) {
    const zb_axes axes = zb_axes_find(out->array, &out->pyramid, &out->nodes);
    const enum zb_code code =
        zb_gdal_extension_parse(zb_node_attributes(out->array), &out->gdal, err);
    if (code)
        return code;
    out->x = (uint32_t)axes.x;
    out->y = (uint32_t)axes.y;
    out->width = zb_node_array(out->array)->shape[out->x];
    out->height = zb_node_array(out->array)->shape[out->y];
    out->mask = open_mask(out);
    out->mapping = find_mapping(out);
    out->coordinate[0] = zb__coordinate_of(out->array, out->x, &out->nodes);
    out->coordinate[1] = zb__coordinate_of(out->array, out->y, &out->nodes);
    find_place(out);
    return zb__opened_check(&out->opened, err);
}
