/* SPDX-License-Identifier: MIT */
/* HDF5's maxshape: see max_shape.h. */
#include "dataset/max_shape.h"

#include "tree/side.h"

#include <stdlib.h>
#include <string.h>

/* False for anything but a list of as many extents as the dataset has. */
static bool parse(const zb_json *list, uint32_t ndim, uint64_t *out) {
    if (zb_json_kind_of(list) != ZB_JSON_ARRAY || zb_json_count(list) != ndim)
        return false;
    for (const zb_json *one = zb_json_first(list); one; one = zb_json_next(one), out++) {
        *out = H5S_UNLIMITED;
        if (zb_json_kind_of(one) != ZB_JSON_NULL && (!zb_json_uint64(one, out) || *out > INT64_MAX))
            return false;
    }
    return true;
}

static bool holds(const uint64_t *max_shape, const zb_array_info *info) {
    for (uint32_t d = 0; d < info->ndim; d++)
        if (info->shape[d] > max_shape[d])
            return false;
    return true;
}

const uint64_t *vol_max_shape(vol_node *dataset) {
    const zb_array_info *info = zb_node_array(dataset->zarr);
    const zb_json *member = dataset->max_shape ? NULL : vol_side_get(dataset, ZB_HDF5_MAXSHAPE);
    if (member) {
        dataset->max_shape = calloc(info->ndim + 1, sizeof *dataset->max_shape);
        if (dataset->max_shape && !parse(member, info->ndim, dataset->max_shape)) {
            free(dataset->max_shape);
            dataset->max_shape = NULL;
        }
    }
    return dataset->max_shape && holds(dataset->max_shape, info) ? dataset->max_shape : NULL;
}

/* One that is not stored shows as the shape, where it is no other. */
bool vol_max_shape_is_stored(vol_node *dataset) {
    if (!dataset->max_shape || vol_side_get(dataset, ZB_HDF5_MAXSHAPE))
        return true;
    const zb_array_info *info = zb_node_array(dataset->zarr);
    return memcmp(dataset->max_shape, info->shape, info->ndim * sizeof *info->shape) == 0;
}

static char *print(const uint64_t *max_shape, uint32_t ndim) {
    zb_json_writer *out = zb_json_writer_new();
    zb_json_begin_array(out);
    for (uint32_t d = 0; d < ndim; d++)
        if (max_shape[d] == H5S_UNLIMITED)
            zb_json_write_null(out);
        else
            zb_json_write_uint64(out, max_shape[d]);
    zb_json_end_array(out);
    return zb_json_writer_end(out, NULL);
}

enum zb_code vol_max_shape_show(vol_node *dataset, const hsize_t *max_shape, zb_error *err) {
    const uint32_t ndim = zb_node_array(dataset->zarr)->ndim;
    dataset->max_shape = calloc(ndim + 1, sizeof *dataset->max_shape);
    if (!dataset->max_shape)
        return zb_fail(err, ZB_ENOMEM, "no memory for a dataset");
    for (uint32_t d = 0; d < ndim; d++)
        dataset->max_shape[d] = max_shape[d];
    return ZB_OK;
}

enum zb_code vol_max_shape_describe(uint32_t ndim, const uint64_t *shape, const hsize_t *max_shape,
                                    bool is_chunked, vol_changes *members, zb_error *err) {
    uint64_t longest[ZB_MAX_NDIM];
    bool is_fixed = true;
    for (uint32_t d = 0; d < ndim; d++) {
        longest[d] = max_shape[d];
        is_fixed = is_fixed && longest[d] == shape[d];
    }
    if (is_fixed && !is_chunked)
        return ZB_OK;
    char *text = print(longest, ndim);
    enum zb_code code = text ? vol_side_put(members, ZB_HDF5_MAXSHAPE, text, err)
                             : zb_fail(err, ZB_ENOMEM, "no memory for a dataset");
    free(text);
    return code;
}
