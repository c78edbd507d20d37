/* SPDX-License-Identifier: MIT */
/* Datasets as HDF5 programs see them: see dataset.h. */
#include "dataset/dataset.h"

#include "dataset/labels.h"
#include "dataset/max_shape.h"
#include "types/stored_type.h"
#include "hdf5/errors.h"
#include "hdf5/held_types.h"
#include "hdf5/shown.h"
#include "types/type_json.h"
#include "types/types.h"
#include "tree/side.h"
#include "tree/tree.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- The type ---- */

static bool is_utf8(const vol_node *dataset) {
    const zb_json *encoding = zb_json_get(zb_node_attributes(dataset->zarr), VOL_ENCODING);
    const char *text = zb_json_string(encoding);
    return text && strcasecmp(text, VOL_ENCODING_UTF8) == 0;
}

/* The type that HDF5 programs gave the dataset. The attribute may come from anywhere, and the array
   may have been made anew since. False when memory runs out: there may be such a type. */
static bool take_own_type(vol_node *dataset) {
    h5_lib *lib = dataset->file->lib;
    const zb_json *json = dataset->is_unreadable ? NULL : vol_side_get(dataset, ZB_HDF5_TYPE);
    vol_element *element = json ? calloc(1, sizeof *element) : NULL;
    bool lacks_memory = json && !element;
    hid_t type = element ? vol_type_parse(lib, json, &lacks_memory) : -1;
    const enum zb_code code = type < 0 ? ZB_EFORMAT : vol_element_make(lib, type, element, NULL);
    const bool fits = !code && vol_element_fits(element, zb_node_array(dataset->zarr)->dtype);
    const bool counts = fits && vol_type_hold(lib, type, &dataset->dataset.type);
    lacks_memory |= code == ZB_ENOMEM || (fits && !counts);
    vol_release_id(lib, type);
    if (counts) {
        dataset->dataset.element = element;
        dataset->dataset.shown = element->view;
        return true;
    }
    if (element)
        vol_element_clear(element);
    free(element);
    return !lacks_memory;
}

zb_dtype vol_node_shown(vol_node *dataset) {
    zb_dtype shown;
    if (dataset->dataset.shown.size == 0 && !take_own_type(dataset))
        return dataset->dataset.shown;
    if (dataset->dataset.shown.size == 0 &&
        vol_shown_new(zb_node_array(dataset->zarr)->dtype, &shown)) {
        if (is_utf8(dataset))
            vol_shown_as_utf8(&shown);
        if (shown.kind == ZB_KIND_BYTES && vol_node_is_label(dataset))
            shown.kind = ZB_KIND_STRING;
        dataset->dataset.shown = shown;
    }
    return dataset->dataset.shown;
}

bool vol_node_has_own_type(vol_node *dataset) {
    return vol_node_shown(dataset).size > 0 && dataset->dataset.element;
}

bool vol_node_is_nested(vol_node *dataset) {
    return vol_node_has_own_type(dataset) && dataset->dataset.element->nested;
}

/* A reason may name a path, which is UTF-8. */
static hid_t reason_type(h5_lib *lib, size_t size) {
    hid_t type = vol_type_fixed_text(lib, size);
    if (type >= 0)
        lib->H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

const vol_held_type *vol_node_held_type(vol_node *dataset) {
    h5_lib *lib = dataset->file->lib;
    const zb_dtype shown = vol_node_shown(dataset);
    if (!dataset->dataset.type.bytes && shown.size > 0) {
        hid_t type =
            dataset->is_unreadable ? reason_type(lib, shown.size) : vol_type_new(lib, shown);
        vol_type_hold(lib, type, &dataset->dataset.type);
        vol_release_id(lib, type);
    }
    return &dataset->dataset.type;
}

hid_t vol_node_type(vol_node *dataset) {
    return vol_held_new(dataset->file->lib, vol_node_held_type(dataset));
}

/* ---- The dataspace ---- */

bool vol_node_is_null(vol_node *dataset) {
    const zb_array_info *info = zb_node_array(dataset->zarr);
    if (info->ndim != 1 || info->shape[0] != 0 || dataset->is_unreadable)
        return false;
    const char *space = zb_json_string(vol_side_get(dataset, ZB_HDF5_SPACE));
    return space && strcmp(space, "null") == 0;
}

/* Zarr keeps no largest shape: an array that was not made just now shows as fixed, though it can be
   resized. */
static void keep_shape(const vol_node *dataset, uint64_t **in) {
    const zb_array_info *info = zb_node_array(dataset->zarr);
    if (!*in)
        *in = calloc(info->ndim + 1, sizeof **in);
    if (*in && info->ndim > 0)
        memcpy(*in, info->shape, info->ndim * sizeof *info->shape);
}

static bool has_shape(const vol_node *dataset, const uint64_t *shape) {
    const zb_array_info *info = zb_node_array(dataset->zarr);
    return shape &&
           (info->ndim == 0 || memcmp(shape, info->shape, info->ndim * sizeof *info->shape) == 0);
}

void vol_node_tell_shape(vol_node *dataset) {
    keep_shape(dataset, &dataset->dataset.told);
}

bool vol_node_shape_is_told(const vol_node *dataset) {
    return has_shape(dataset, dataset->dataset.told);
}

void vol_node_know_shape(vol_node *dataset) {
    keep_shape(dataset, &dataset->dataset.known);
}

bool vol_node_shape_is_known(const vol_node *dataset) {
    return dataset->dataset.ids == 0 || has_shape(dataset, dataset->dataset.known);
}

/* ---- Ids ---- */

void vol_node_add_id(vol_node *dataset) {
    if (dataset->dataset.ids++ == 0)
        vol_node_know_shape(dataset);
    if (!dataset->dataset.told)
        vol_node_tell_shape(dataset);
}

void vol_node_drop_id(vol_node *dataset) {
    dataset->dataset.ids--;
}

size_t vol_node_ids(const vol_node *dataset) {
    return dataset->dataset.ids;
}

/* ---- The end ---- */

void vol_node_forget_type(vol_node *dataset) {
    vol_dataset *part = &dataset->dataset;
    vol_held_free(&part->type);
    if (part->element)
        vol_element_clear(part->element);
    else
        vol_shown_free(part->shown);
    free(part->element);
    part->element = NULL;
    part->shown = (zb_dtype){.size = 0};
}

void vol_node_free_dataset(vol_node *dataset) {
    vol_node_forget_type(dataset);
    free(dataset->dataset.told);
    free(dataset->dataset.known);
}

/* ---- The dataspace ---- */

hid_t vol_node_space(vol_node *dataset, bool with_max) {
    h5_lib *lib = dataset->file->lib;
    const zb_array_info *info = zb_node_array(dataset->zarr);
    const uint64_t *max_shape = with_max ? vol_max_shape(dataset) : NULL;
    hsize_t dims[ZB_MAX_NDIM], max_dims[ZB_MAX_NDIM];
    if (info->ndim == 0 || vol_node_is_null(dataset))
        return lib->H5Screate(info->ndim == 0 ? H5S_SCALAR : H5S_NULL);
    for (uint32_t d = 0; d < info->ndim; d++) {
        dims[d] = info->shape[d];
        max_dims[d] = max_shape ? max_shape[d] : dims[d];
    }
    return lib->H5Screate_simple((int)info->ndim, dims, max_dims);
}
