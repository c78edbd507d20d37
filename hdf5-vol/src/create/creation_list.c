/* SPDX-License-Identifier: MIT */
/*
 * An array's storage in HDF5's words: chunk shape, filters, fill value; and what groups were made
 * with.
 *
 * The chunk is the innermost one, the unit of decoding, cut to the array where it is larger (HDF5
 * accepts no chunk that exceeds a fixed-size dataset, and h5repack copies this list).
 */
#include "create/creation_list.h"

#include "attributes/elements.h"
#include "create/chunk_keys.h"
#include "create/chunk_runs.h"
#include "create/filters.h"
#include "create/list_member.h"
#include "create/pipeline.h"
#include "hdf5/errors.h"
#include "hdf5/text.h"
#include "hdf5/types.h"
#include "model/dataset.h"
#include "model/link_order.h"
#include "model/max_shape.h"

#include <stdlib.h>

/* False when HDF5 cannot express the chunk: 4 GiB and more. */
static bool chunk_shape(vol_node *node, const zb_array_info *info, hsize_t chunk[ZB_MAX_NDIM]) {
    uint64_t bytes = info->dtype.size;
    const uint64_t *max_shape = vol_max_shape(node);
    for (uint32_t d = 0; d < info->ndim; d++) {
        uint64_t longest = max_shape ? max_shape[d] : info->shape[d];
        chunk[d] = info->inner_shape[d];
        if (longest > 0 && chunk[d] > longest)
            chunk[d] = longest;
        if (__builtin_mul_overflow(bytes, chunk[d], &bytes) || bytes > UINT32_MAX)
            return false;
    }
    return true;
}

static void add_shard_shape(h5_lib *lib, hid_t dcpl, const zb_array_info *info) {
    hsize_t shape[ZB_MAX_NDIM];
    for (uint32_t d = 0; d < info->ndim; d++)
        shape[d] = info->chunk_shape[d];
    lib->H5Pinsert2(dcpl, VOL_SHARD_PROPERTY, info->ndim * sizeof shape[0], shape, NULL, NULL, NULL,
                    NULL, NULL, NULL);
}

/* A text that stands for an element. HDF5 copies what that points at. */
static void set_nested_fill(vol_node *node, hid_t type, zb_slice text, hid_t dcpl) {
    h5_lib *lib = node->file->lib;
    vol_form *form;
    if (vol_form_new(node->file, type, &form, NULL) != ZB_OK)
        return;
    void *element = calloc(1, form->size);
    if (element && vol_element_parse(form, text, element, NULL) == ZB_OK)
        lib->H5Pset_fill_value(dcpl, type, element);
    vol_elements_free(form, 1, element);
    vol_form_free(form);
}

/* As the dataset's type has it. HDF5 copies the value, text included. */
static void set_fill_of(vol_node *node, const zb_array_info *info, hid_t type, hid_t dcpl) {
    h5_lib *lib = node->file->lib;
    if (vol_node_is_nested(node)) {
        set_nested_fill(node, type, *(const zb_slice *)info->fill_value, dcpl);
        return;
    }
    if (info->dtype.kind == ZB_KIND_STRING || info->dtype.kind == ZB_KIND_BYTES) {
        const zb_slice *fill = info->fill_value;
        vol_text_form form;
        char element[sizeof(hvl_t)]; /* the longest form of variable length */
        if (!vol_text_form_of(lib, type, &form) ||
            vol_text_put(&form, *fill, element, NULL) != ZB_OK)
            return;
        lib->H5Pset_fill_value(dcpl, type, element);
        vol_text_free(&form, element, 1);
        return;
    }
    const zb_dtype shown = vol_node_shown(node);
    void *fill = calloc(1, (size_t)shown.size + 1);
    if (fill && zb_dtype_convert(info->dtype, info->fill_value, shown, fill, 1))
        lib->H5Pset_fill_value(dcpl, type, fill);
    free(fill);
}

static void set_fill(vol_node *node, const zb_array_info *info, hid_t dcpl) {
    hid_t type = vol_node_type(node);
    set_fill_of(node, info, type, dcpl);
    vol_release_id(node->file->lib, type);
}

static hid_t new_dcpl(vol_node *node) {
    h5_lib *lib = node->file->lib;
    const zb_array_info *info = zb_node_array(node->zarr);
    hsize_t chunk[ZB_MAX_NDIM];
    const H5D_layout_t layout = vol_list_member_layout(node);
    hid_t dcpl = vol_list_member_new(node, *lib->H5P_CLS_DATASET_CREATE_ID_g);
    if (dcpl < 0)
        return -1;
    const bool is_null = vol_node_is_null(node), has_chunks = layout == H5D_CHUNKED;
    if (layout == H5D_COMPACT)
        lib->H5Pset_layout(dcpl, layout);
    if (has_chunks && chunk_shape(node, info, chunk)) {
        lib->H5Pset_chunk(dcpl, (int)info->ndim, chunk);
        if (!vol_list_member_filters(node, dcpl))
            vol_filters_add(lib, dcpl, info);
    }
    /* netCDF-C takes the fill value of a text for a pointer, and writes all of it there. */
    if (!info->fill_is_default && !node->is_unreadable && !vol_list_member_has_no_fill(node, dcpl))
        set_fill(node, info, dcpl);
    if (info->shard_depth > 0 && has_chunks)
        add_shard_shape(lib, dcpl, info);
    if (!is_null && !node->is_unreadable && !node->is_dimension)
        vol_keys_add(lib, dcpl, node->zarr);
    if (has_chunks)
        vol_runs_add(lib, dcpl, node->zarr);
    if ((has_chunks || info->ndim == 0) && !is_null && !node->is_unreadable && !node->is_dimension)
        vol_pipeline_add(node, dcpl);
    return dcpl;
}

hid_t vol_node_dcpl(vol_node *node) {
    if (node->dcpl <= 0)
        node->dcpl = new_dcpl(node);
    return node->dcpl;
}

hid_t vol_group_list(vol_node *group, hid_t list_class) {
    hid_t list = vol_list_member_new(group, list_class);
    if (list >= 0)
        group->file->lib->H5Pset_link_creation_order(list, vol_order_flags(group));
    return list;
}
