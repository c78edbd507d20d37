/* SPDX-License-Identifier: MIT */
/*
 * Where the attributes of a raster, and of the groups around it, put its pixels.
 *
 * All sources come down to the six numbers of an affine map. They differ in whether positions are
 * those of pixel corners (`spatial:` by default, GeoTransform) or of their centres (coordinates,
 * `spatial:registration` "node").
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conventions/pyramids.h"
#include "util/decimal.h"
#include "zarrbridge/gdal_extension.h"

/* Programs invert these numbers; a map that cannot be inverted is not used. */
bool zb_place_is_usable(const double t[6]) {
    for (int i = 0; i < 6; i++)
        if (!isfinite(t[i]))
            return false;
    return t[0] * t[4] - t[1] * t[3] != 0;
}

/* ---- Attributes of one node ---- */

/* A place is for one shape only, when it states that shape: attributes travel with data that are
   cropped, thinned or made longer, and levels of a pyramid share their extent, not their
   transform. */
static bool is_other_shape(const double shape[2], uint64_t width, uint64_t height) {
    return shape[0] != (double)height || shape[1] != (double)width;
}

bool zb_place_is_of_other_shape(const zb_node *node, uint64_t width, uint64_t height) {
    double shape[2];
    return zb__number_list(zb__attribute(node, "spatial:shape"), 2, shape) &&
           is_other_shape(shape, width, height);
}

static bool is_node(const char *registration) {
    return registration && strcmp(registration, "node") == 0;
}

/* From positions of nodes, which lie at the centres of pixels, to those of corners. */
static bool take_registered(double t[6], const char *registration) {
    if (is_node(registration)) {
        t[2] -= (t[0] + t[1]) / 2;
        t[5] -= (t[3] + t[4]) / 2;
    }
    return zb_place_is_usable(t);
}

static bool by_transform(const zb_node *node, const zb_raster *raster, double out[6]) {
    const char *type = zb__attribute_text(node, "spatial:transform_type");
    return zb__number_list(zb__attribute(node, "spatial:transform"), 6, out) &&
           (!*type || strcmp(type, "affine") == 0) &&
           !zb_place_is_of_other_shape(node, raster->width, raster->height) &&
           take_registered(out, zb__attribute_text(node, "spatial:registration"));
}

/* [xmin, ymin, xmax, ymax] of a north-up raster; nodes sit on the box's edge, pixels inside. */
static bool by_box(const zb_node *node, const zb_raster *raster, double out[6]) {
    double box[4];
    const char *registration = zb__attribute_text(node, "spatial:registration");
    if (!zb__number_list(zb__attribute(node, "spatial:bbox"), 4, box))
        return false;
    const double less = is_node(registration) ? 1 : 0;
    const double across = (double)raster->width - less, down = (double)raster->height - less;
    const double t[6] = {(box[2] - box[0]) / across, 0,     box[0], 0,
                         (box[1] - box[3]) / down,   box[3]};
    memcpy(out, t, sizeof t);
    return take_registered(out, registration);
}

bool zb_place_own(const zb_raster *raster, double out[6]) {
    const zb_node *array = raster->array;
    return by_transform(array, raster, out) ||
           (!zb_place_is_of_other_shape(array, raster->width, raster->height) &&
            by_box(array, raster, out));
}

/* ---- Groups ---- */

bool zb_place_is_stated(const zb_node *node, const zb_nodes *nodes) {
    return (zb__attribute(node, "spatial:transform") || zb__attribute(node, "spatial:bbox")) &&
           zb_convention_holds(node, ZB_CONVENTION_SPATIAL, nodes);
}

/* What says something of the raster: its group, and the one of its pyramid. */
typedef struct around {
    const zb_node *top;      /* the pyramid's group; NULL: none */
    const zb_node *group[2]; /* those that state a place of the array, or of its finest level */
    int count;
} around;

static const zb_node *group_at(const zb_raster *raster, const char *path) {
    const zb_node *node = raster->nodes->at(raster->nodes->context, path);
    return node && !zb_node_array(node) ? node : NULL;
}

static void add(around *out, const zb_node *group, const zb_raster *raster) {
    if (zb_place_is_stated(group, raster->nodes) &&
        zb__suits_dimensions(group, raster->array, raster->axes))
        out->group[out->count++] = group;
}

static around look_around(const zb_raster *raster) {
    const char *own = zb_node_path(raster->array), *listed = raster->pyramid->group;
    char *path = *own ? zb__parent_path(own) : NULL;
    around found = {.count = 0};
    if (path)
        add(&found, group_at(raster, path), raster);
    if (listed && raster->pyramid->levels.count > 0) {
        found.top = group_at(raster, listed);
        if (!path || strcmp(path, listed) != 0)
            add(&found, found.top, raster);
    }
    free(path);
    return found;
}

/* The registration may be stated once for all entries of a pyramid. */
static const char *entry_registration(const zb_raster *raster, const zb_node *top) {
    const char *own = raster->pyramid->registration;
    return own && *own ? own : zb__attribute_text(top, "spatial:registration");
}

static bool has_entry(const zb_raster *raster, const around *groups) {
    return raster->pyramid->has_transform &&
           zb__suits_dimensions(groups->top, raster->array, raster->axes);
}

/* The transform of an entry in a pyramid. */
static bool by_entry(const zb_raster *raster, const around *groups, double out[6]) {
    const zb_pyramid *pyramid = raster->pyramid;
    if (!has_entry(raster, groups) ||
        (pyramid->has_shape && is_other_shape(pyramid->shape, raster->width, raster->height)))
        return false;
    memcpy(out, pyramid->transform, sizeof pyramid->transform);
    return take_registered(out, entry_registration(raster, groups->top));
}

/* Transform and shape of a pyramid's group belong to the finest level; coarser ones derive theirs
   from the box. */
static bool is_of_finest(const zb_raster *raster, const around *groups, int i) {
    return groups->group[i] == groups->top && raster->pyramid->self != 0;
}

/* From the most specific to the most general: what is said of this array, of this level, of its
   group, of the group of its pyramid. */
bool zb_place_by_convention(const zb_raster *raster, double out[6]) {
    const bool own = zb_place_is_stated(raster->array, raster->nodes);
    const around groups = look_around(raster);
    if ((own && by_transform(raster->array, raster, out)) || by_entry(raster, &groups, out))
        return true;
    for (int i = 0; i < groups.count; i++)
        if (!is_of_finest(raster, &groups, i) && by_transform(groups.group[i], raster, out))
            return true;
    if (own && zb_place_own(raster, out))
        return true;
    for (int i = 0; i < groups.count; i++) {
        const bool holds =
            is_of_finest(raster, &groups, i) ||
            !zb_place_is_of_other_shape(groups.group[i], raster->width, raster->height);
        if (holds && by_box(groups.group[i], raster, out))
            return true;
    }
    return false;
}

bool zb_place_is_of_nodes(const zb_raster *raster, bool *of_nodes) {
    const char *registration = "";
    const around groups = look_around(raster);
    if (zb_place_is_stated(raster->array, raster->nodes))
        registration = zb__attribute_text(raster->array, "spatial:registration");
    else if (has_entry(raster, &groups))
        registration = entry_registration(raster, groups.top);
    else if (groups.count > 0)
        registration = zb__attribute_text(groups.group[0], "spatial:registration");
    else
        return false;
    *of_nodes = is_node(registration);
    return true;
}

/* ---- Grid mappings ---- */

static bool parse_words(const char *text, double out[6]) {
    static const char blanks[] = " \t\r\n\v\f";
    char word[64];
    int count = 0;
    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        const size_t length = strcspn(text, blanks);
        if (count == 6 || length >= sizeof word)
            return false;
        memcpy(word, text, length);
        word[length] = '\0';
        out[count++] = zb__decimal_to_double(word);
        text += length;
    }
    return count == 6;
}

/* rioxarray and GDAL write six numbers in GDAL's order, separated by spaces; others a list. */
bool zb_place_of_mapping(const zb_node *mapping, double out[6]) {
    const zb_json *value = zb__attribute(mapping, "GeoTransform");
    const char *words = zb_json_string(value);
    double gdal[6];
    if (words ? !parse_words(words, gdal) : !zb__number_list(value, 6, gdal))
        return false;
    const double t[6] = {gdal[1], gdal[2], gdal[0], gdal[4], gdal[5], gdal[3]};
    memcpy(out, t, sizeof t);
    return zb_place_is_usable(out);
}

/* Rows of an affine matrix, the last of which may be there, too: 0, 0, 1. Some programs write the
   six numbers in GDAL's order, which shows where no map of the former is upright. */
bool zb_place_of_attribute(const zb_node *array, double out[6]) {
    const zb_json *value = zb__attribute(array, "_TRANSFORM");
    double nine[9] = {0}, *t = nine;
    if (zb__number_list(value, 9, nine) ? nine[6] != 0 || nine[7] != 0 || nine[8] != 1
                                        : !zb__number_list(value, 6, nine))
        return false;
    const bool is_upright = t[1] == 0 && t[3] == 0;
    if (zb_json_count(value) == 6 && !is_upright && t[2] == 0 && t[4] == 0) {
        const double affine[6] = {t[1], t[2], t[0], t[4], t[5], t[3]};
        memcpy(out, affine, sizeof affine);
    } else {
        memcpy(out, t, 6 * sizeof *t);
    }
    return zb_place_is_usable(out);
}

/* ---- Coordinates beside ---- */

bool zb_places_agree(const double a[6], const double b[6], uint64_t width, uint64_t height) {
    static const double half = 0.5 + 1e-6; /* of a pixel; rounding does not decide */
    for (int corner = 0; corner < 4; corner++) {
        const double x = corner & 1 ? (double)width : 0, y = corner & 2 ? (double)height : 0;
        const double across = a[2] - b[2] + x * (a[0] - b[0]) + y * (a[1] - b[1]);
        const double down = a[5] - b[5] + x * (a[3] - b[3]) + y * (a[4] - b[4]);
        if (fabs(across) > fabs(b[0]) * half || fabs(down) > fabs(b[4]) * half)
            return false;
    }
    return true;
}

/* Rows and columns that are counted from 0, or by their middles from 0.5: the numbers of pixels,
   and no place on a map. */
static bool counts_pixels(const double t[6]) {
    return t[0] == 1 && t[1] == 0 && t[3] == 0 && t[4] == 1 &&
           ((t[2] == -0.5 && t[5] == -0.5) || (t[2] == 0 && t[5] == 0));
}

bool zb_place_contradicts(const double stated[6], const double plotted[6], uint64_t width,
                          uint64_t height) {
    return !zb_places_agree(stated, plotted, width, height) && !counts_pixels(plotted);
}

bool zb_place_is_overruled(const zb_raster *raster, const double plotted[6]) {
    zb_gdal_extension *extension = NULL;
    double known[6];
    (void)zb_gdal_extension_parse(zb_node_attributes(raster->array), &extension, NULL);
    const bool is =
        zb__number_list(zb_gdal_extension_get(extension, ZB_GDAL_OVERRULED), 6, known) &&
        zb_places_agree(known, plotted, raster->width, raster->height);
    zb_gdal_extension_free(extension);
    return is;
}
