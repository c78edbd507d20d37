/* SPDX-License-Identifier: MIT */
/*
 * The attributes by which HDF5 keeps dimension scales, on their way into dimension_names.
 *
 *     CLASS "DIMENSION_SCALE", NAME  a dataset x with one dimension: that dimension is called x
 *     DIMENSION_LIST                 the dimensions are called like the scales
 *     DIMENSION_LABELS               the dimensions are called like the labels
 *     REFERENCE_LIST                 the way back from a scale: kept for the session only
 *
 * model/dimensions.c makes them of dimension_names when the file is opened again. Scales with more
 * than one dimension, and some dimensions with scales beside some without, cannot be said that way
 * and last for the session.
 */
#include "attributes/write.h"
#include "attributes/attributes.h"
#include "model/edit.h"
#include "hdf5/errors.h"
#include "attributes/references.h"
#include "model/dimensions.h"
#include "model/waiting.h"

#include <stdlib.h>
#include <string.h>

static herr_t push_failed(vol_node *owner, const char *name, const zb_error *err) {
    return vol_attr_push_failed(owner->file->lib, "write", name, err);
}

/* A single string, malloc'ed without padding; NULL for any other value. */
static char *text_of(h5_lib *lib, const vol_attr_value *value) {
    if (lib->H5Tget_class(value->type) != H5T_STRING ||
        lib->H5Sget_select_npoints(value->space) != 1)
        return NULL;
    return vol_attr_text(lib, value->type, value->data);
}

/* ---- Attributes of the session ---- */

/* Takes `attr` over, which may have a name. */
static herr_t keep(vol_node *owner, vol_attr *attr, const char *name) {
    if (!attr->name)
        attr->name = strdup(name);
    attr->place = VOL_ATTR_SESSION;
    bool complete = attr->name && attr->data;
    if (complete && vol_node_keep_attr(owner, attr))
        return 0;
    if (!complete)
        vol_attr_clear(owner->file->lib, attr);
    VOL_PUSH(owner->file->lib, ATTR, WRITEERROR, "no memory for attribute '%s'", name);
    return -1;
}

static herr_t keep_text(vol_node *owner, const char *name, const char *text) {
    const size_t size = strlen(text) + 1;
    vol_attr attr = {.kind = VOL_ATTR_FIXED,
                     .count = 1,
                     .dtype = {.size = (uint32_t)size},
                     .data = strdup(text)};
    return keep(owner, &attr, name);
}

/* Keeps lists of a type without pointers in it only: new references would dangle. */
static herr_t keep_reference_list(vol_node *owner, const vol_attr_value *value) {
    h5_lib *lib = owner->file->lib;
    const size_t size = lib->H5Tget_size(value->type), largest = 16;
    vol_attr attr;
    if (lib->H5Tget_class(value->type) != H5T_COMPOUND || size > largest ||
        lib->H5Sget_select_npoints(value->space) <= 0)
        return 0;
    if (vol_attr_describe(lib, value->name, value->type, value->space, &attr) &&
        (attr.data = malloc(attr.count * size)))
        memcpy(attr.data, value->data, attr.count * size);
    return keep(owner, &attr, value->name);
}

/* ---- Scales ---- */

static bool has_scale_class(vol_node *node) {
    const vol_attrs *attrs = vol_node_attrs(node);
    const vol_attr *class = attrs ? vol_attrs_find(attrs, "CLASS") : NULL;
    return class && class->kind == VOL_ATTR_FIXED && strcmp(class->data, "DIMENSION_SCALE") == 0;
}

static herr_t store_class(vol_node *owner, const char *text, bool *handled) {
    const char *name = owner->name;
    zb_error err = {0};
    *handled = strcmp(text, "DIMENSION_SCALE") == 0;
    if (!*handled || vol_dims_names_itself(owner))
        return 0;
    if (owner->loose || zb_node_array(owner->zarr)->ndim != 1)
        return keep_text(owner, "CLASS", text);
    if (vol_edit_dimension_names(owner, &name, &err) != ZB_OK)
        return push_failed(owner, "CLASS", &err);
    return 0;
}

static herr_t store_name(vol_node *owner, const char *text, bool *handled) {
    zb_error err = {0};
    *handled = has_scale_class(owner);
    if (!*handled)
        return 0;
    if (!vol_dims_is_scale(owner))
        return keep_text(owner, "NAME", text);
    if (strncmp(text, VOL_NOT_A_VARIABLE, strlen(VOL_NOT_A_VARIABLE)) == 0) {
        if (!owner->is_dimension && vol_edit_make_dimension(owner, &err) != ZB_OK)
            return push_failed(owner, "NAME", &err);
        return 0;
    }
    *handled = (!*text || strcmp(text, owner->name) == 0) && !vol_attribute(owner, "NAME");
    return 0;
}

static herr_t store_text(vol_node *owner, const vol_attr_value *value, bool *handled) {
    char *text = text_of(owner->file->lib, value);
    herr_t result = 0;
    if (text)
        result = strcmp(value->name, "CLASS") == 0 ? store_class(owner, text, handled)
                                                   : store_name(owner, text, handled);
    free(text);
    return result;
}

/* ---- Names of dimensions ---- */

static bool is_one_per_dimension(vol_node *owner, const vol_attr_value *value) {
    const hssize_t count = owner->file->lib->H5Sget_select_npoints(value->space);
    return count > 0 && (uint64_t)count == zb_node_array(owner->zarr)->ndim;
}

/* Empty names are missing ones. */
static herr_t set_names(vol_node *owner, const char *attribute, const char **names) {
    const uint32_t ndim = zb_node_array(owner->zarr)->ndim;
    bool any = false;
    zb_error err = {0};
    for (uint32_t d = 0; d < ndim; d++) {
        if (names[d] && !*names[d])
            names[d] = NULL;
        any |= names[d] != NULL;
    }
    if (vol_edit_dimension_names(owner, any ? names : NULL, &err) != ZB_OK)
        return push_failed(owner, attribute, &err);
    return 0;
}

static herr_t store_labels(vol_node *owner, const vol_attr_value *value, bool *handled) {
    const uint32_t ndim = zb_node_array(owner->zarr)->ndim;
    const char *names[ZB_MAX_NDIM];
    *handled =
        is_one_per_dimension(owner, value) && owner->file->lib->H5Tis_variable_str(value->type) > 0;
    if (!*handled)
        return 0;
    for (uint32_t d = 0; d < ndim; d++)
        names[d] = ((const char *const *)value->data)[d];
    return set_names(owner, value->name, names);
}

/* A dimension that loses its scale loses its name; one that never had a scale keeps it. */
static herr_t store_list(vol_node *owner, const vol_attr_value *value, bool *handled) {
    vol_node *scales[ZB_MAX_NDIM];
    const zb_array_info *info = zb_node_array(owner->zarr);
    const char *names[ZB_MAX_NDIM];
    *handled = is_one_per_dimension(owner, value);
    if (!*handled)
        return 0;
    if (vol_refs_take(owner->file, value->type, info->ndim, value->data, scales) < 0)
        return -1;
    const vol_attrs *attrs = vol_node_attrs(owner);
    const vol_attr *old = attrs ? vol_attrs_find(attrs, value->name) : NULL;
    vol_attr list = {.kind = VOL_ATTR_REFS,
                     .ndim = 1,
                     .dims = {info->ndim},
                     .count = info->ndim,
                     .dtype = {.size = sizeof(uint64_t)},
                     .data = calloc(info->ndim, sizeof(uint64_t))};
    for (uint32_t d = 0; d < info->ndim; d++) {
        bool had = old && old->kind == VOL_ATTR_REFS && ((const uint64_t *)old->data)[d];
        const char *name = info->dimension_names ? info->dimension_names[d] : NULL;
        names[d] = scales[d] ? scales[d]->name : had ? NULL : name;
        if (scales[d] && list.data)
            ((uint64_t *)list.data)[d] = scales[d]->token;
    }
    if (set_names(owner, value->name, names) < 0) {
        free(list.data);
        return -1;
    }
    return keep(owner, &list, value->name);
}

/* ---- The scales' attributes together ---- */

bool vol_scale_knows(const vol_node *owner, const char *name) {
    return owner->kind == VOL_DATASET &&
           (strcmp(name, "DIMENSION_LIST") == 0 || strcmp(name, "REFERENCE_LIST") == 0);
}

herr_t vol_scale_store(vol_node *owner, const vol_attr_value *value, bool *handled) {
    *handled = false;
    if (owner->kind != VOL_DATASET)
        return 0;
    if (strcmp(value->name, "CLASS") == 0 || strcmp(value->name, "NAME") == 0)
        return store_text(owner, value, handled);
    if (strcmp(value->name, "DIMENSION_LABELS") == 0)
        return store_labels(owner, value, handled);
    if (strcmp(value->name, "DIMENSION_LIST") == 0)
        return store_list(owner, value, handled);
    *handled = strcmp(value->name, "REFERENCE_LIST") == 0;
    return *handled ? keep_reference_list(owner, value) : 0;
}

herr_t vol_scale_remove(vol_node *owner, const char *name, bool *handled) {
    zb_error err = {0};
    bool is_list = strcmp(name, "DIMENSION_LIST") == 0;
    bool is_class = strcmp(name, "CLASS") == 0 && vol_dims_is_scale(owner);
    *handled = vol_node_drop_attr(owner, name, VOL_ATTR_SESSION);
    if (owner->kind != VOL_DATASET || owner->is_dimension)
        return 0;
    /* NAME goes with CLASS. */
    if (!*handled && strcmp(name, "NAME") == 0)
        *handled = has_scale_class(owner) && !vol_attribute(owner, name);
    if (!is_list && !is_class && strcmp(name, "DIMENSION_LABELS") != 0)
        return 0;
    *handled = true;
    if (vol_edit_dimension_names(owner, NULL, &err) == ZB_OK)
        return 0;
    VOL_PUSH_ZB(owner->file->lib, ATTR, WRITEERROR, &err);
    return -1;
}
