/* SPDX-License-Identifier: MIT */
/*
 * OME-NGFF: images of microscopy at several resolutions, with a scale for each axis.
 *
 * Version 0.5 and later have all of it in the attribute `ome`; 0.4, which is version 2 of Zarr, has
 * the same list at the top of the attributes. Up to 0.5 the axes are a member of the image; from
 * 0.6 on they are those of a named coordinate system, and a transformation may be a sequence.
 */
#include <stdlib.h>
#include <string.h>

#include "conventions/pyramids.h"

const zb_json *zb_ome_member(const zb_node *group, const char *name) {
    const zb_json *member = zb_json_get(zb__attribute(group, "ome"), name);
    return member ? member : zb__attribute(group, name);
}

/* The first image of a group; later ones are other views of the same data. ndpyramid has a list of
   the same name, without axes. */
static const zb_json *image_of(const zb_node *group) {
    const zb_json *list = zb_ome_member(group, "multiscales");
    const bool is_early = list == zb__attribute(group, "multiscales");
    const zb_json *image = zb_json_kind_of(list) == ZB_JSON_ARRAY ? zb_json_first(list) : NULL;
    const bool counts = !is_early || zb_json_kind_of(zb_json_get(image, "axes")) == ZB_JSON_ARRAY;
    return counts ? image : NULL;
}

const zb_json *zb__ome_datasets(const zb_node *group) {
    return zb_json_get(image_of(group), "datasets");
}

/* The name of the system that a transformation leads to; NULL for none. */
static const char *output_of(const zb_json *transformation) {
    const zb_json *output = zb_json_get(transformation, "output");
    const char *name = zb_json_string(output);
    return name ? name : zb_json_string(zb_json_get(output, "name"));
}

/* The list of transformations of the finest level, or of another one. */
static const zb_json *transformations_at(const zb_json *image, size_t level) {
    const zb_json *dataset = zb_json_first(zb_json_get(image, "datasets"));
    for (; dataset && level > 0; level--)
        dataset = zb_json_next(dataset);
    const zb_json *list = zb_json_get(dataset, "coordinateTransformations");
    return zb_json_kind_of(list) == ZB_JSON_ARRAY ? list : NULL;
}

/* Those of the coordinate system that the finest level is brought to, else of the first one. */
static const zb_json *axes_of(const zb_json *image) {
    const zb_json *systems = zb_json_get(image, "coordinateSystems");
    if (zb_json_kind_of(systems) != ZB_JSON_ARRAY)
        return zb_json_get(image, "axes");
    const char *wanted = output_of(zb_json_first(transformations_at(image, 0)));
    const zb_json *found = zb_json_first(systems);
    for (const zb_json *one = found; one && wanted; one = zb_json_next(one)) {
        const char *name = zb_json_string(zb_json_get(one, "name"));
        if (name && strcmp(name, wanted) == 0)
            found = one;
    }
    return zb_json_get(found, "axes");
}

bool zb__ome_axes(const zb_node *group, zb_strings *out) {
    const zb_json *axes = axes_of(image_of(group));
    if (zb_json_kind_of(axes) != ZB_JSON_ARRAY)
        return true;
    for (const zb_json *axis = zb_json_first(axes); axis; axis = zb_json_next(axis)) {
        const char *name = zb_json_string(zb_json_get(axis, "name"));
        if (name && *name && !zb_strings_add(out, name))
            return false;
    }
    return true;
}

/* ---- Place ---- */

/* Scales and translations along all axes so far. */
typedef struct affinity {
    double scale[ZB_MAX_NDIM], translation[ZB_MAX_NDIM];
} affinity;

/* Applies one transformation after what is there. A sequence has others in it, but no sequence. */
static bool apply(const zb_json *one, size_t count, bool nested, affinity *out) {
    const char *type = zb_json_string(zb_json_get(one, "type"));
    const zb_json *list = type ? zb_json_get(one, type) : NULL;
    double values[ZB_MAX_NDIM];
    if (!type)
        return false;
    if (strcmp(type, "identity") == 0)
        return true;
    if (strcmp(type, "sequence") == 0 && !nested) {
        const zb_json *inner = zb_json_get(one, "transformations");
        if (zb_json_kind_of(inner) != ZB_JSON_ARRAY)
            return false;
        for (one = zb_json_first(inner); one; one = zb_json_next(one))
            if (!apply(one, count, true, out))
                return false;
        return true;
    }
    const bool scales = strcmp(type, "scale") == 0;
    if ((!scales && strcmp(type, "translation") != 0) || !zb__number_list(list, count, values))
        return false;
    for (size_t i = 0; i < count; i++) {
        out->scale[i] *= scales ? values[i] : 1;
        out->translation[i] =
            scales ? out->translation[i] * values[i] : out->translation[i] + values[i];
    }
    return true;
}

static bool apply_all(const zb_json *list, size_t count, affinity *out) {
    bool good = true;
    for (const zb_json *one = zb_json_kind_of(list) == ZB_JSON_ARRAY ? zb_json_first(list) : NULL;
         one && good; one = zb_json_next(one))
        good = apply(one, count, false, out);
    return good;
}

/* A transformation of another kind (a rotation, a file) gives no place. From 0.6 on the image's own
   list leads from one coordinate system to others. */
bool zb_place_of_ome(const zb_raster *raster, double place[6]) {
    const zb_pyramid *pyramid = raster->pyramid;
    const size_t count = pyramid->ome_axes.count;
    const zb_node *group =
        pyramid->group ? raster->nodes->at(raster->nodes->context, pyramid->group) : NULL;
    const zb_json *image = image_of(group), *own = transformations_at(image, pyramid->self);
    const int x = raster->axes.x, y = raster->axes.y;
    affinity all;
    if (count == 0 || count != zb_node_array(raster->array)->ndim || !own || x < 0 || y < 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        all.scale[i] = 1;
        all.translation[i] = 0;
    }
    const bool is_named = zb_json_get(image, "coordinateSystems") != NULL;
    const zb_json *shared = is_named ? NULL : zb_json_get(image, "coordinateTransformations");
    if (!apply_all(own, count, &all) || !apply_all(shared, count, &all))
        return false;
    const double t[6] = {all.scale[x],
                         0,
                         all.translation[x] - all.scale[x] / 2,
                         0,
                         all.scale[y],
                         all.translation[y] - all.scale[y] / 2};
    memcpy(place, t, sizeof t);
    return zb_place_is_usable(place);
}
