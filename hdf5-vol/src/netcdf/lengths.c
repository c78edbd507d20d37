/* SPDX-License-Identifier: MIT */
/* The lengths of unlimited dimensions: see lengths.h. netCDF opens all datasets of a file, so that
   the open ones are all. */
#include "netcdf/lengths.h"

#include "dataset/edit_dataset.h"
#include "dataset/max_shape.h"
#include "scales/dimensions.h"

#include <string.h>

void vol_lengths_change(vol_file *file) {
    file->lengths_settled = false;
}

static bool is_endless(vol_node *dataset, uint32_t d) {
    const uint64_t *max_shape = vol_max_shape(dataset);
    return max_shape && max_shape[d] == H5S_UNLIMITED;
}

/* The scale of an unlimited dimension; NULL for others. */
static vol_node *scale_of(vol_node *dataset, uint32_t d) {
    vol_node *scale = is_endless(dataset, d) ? vol_dims_scale(dataset, d) : NULL;
    const bool is_whole = scale && zb_node_array(scale->zarr)->ndim > 0 && is_endless(scale, 0);
    return is_whole ? scale : NULL;
}

static enum zb_code begin(vol_node *node, zb_error *err) {
    (void)err;
    node->dimension_length = 0;
    return ZB_OK;
}

static enum zb_code raise(vol_node *node, zb_error *err) {
    (void)err;
    const zb_array_info *info = node->kind == VOL_DATASET ? zb_node_array(node->zarr) : NULL;
    for (uint32_t d = 0; info && d < info->ndim; d++) {
        vol_node *scale = scale_of(node, d);
        if (scale && scale->dimension_length < info->shape[d])
            scale->dimension_length = info->shape[d];
    }
    return ZB_OK;
}

/* One that another program has replaced, or holds, is left alone, and looked at again later. */
static enum zb_code lengthen(vol_node *node, zb_error *err) {
    const zb_array_info *info = node->kind == VOL_DATASET ? zb_node_array(node->zarr) : NULL;
    uint64_t shape[ZB_MAX_NDIM];
    bool grows = false;
    if (!info)
        return ZB_OK;
    for (uint32_t d = 0; d < info->ndim; d++) {
        const vol_node *scale = scale_of(node, d);
        shape[d] = info->shape[d];
        if (scale && scale->dimension_length > shape[d]) {
            shape[d] = scale->dimension_length;
            grows = true;
        }
    }
    const enum zb_code code = grows ? vol_edit_extend(node, shape, err) : ZB_OK;
    if (code != ZB_ECONFLICT)
        return code;
    vol_lengths_change(node->file);
    return ZB_OK;
}

enum zb_code vol_lengths_settle(vol_file *file, zb_error *err) {
    if (file->lengths_settled || !file->writable || !file->options.is_netcdf)
        return ZB_OK;
    vol_node_each_below(file->root, begin, err);
    vol_node_each_below(file->root, raise, err);
    file->lengths_settled = true;
    const enum zb_code code = vol_node_each_below(file->root, lengthen, err);
    if (code)
        vol_lengths_change(file);
    return code;
}
