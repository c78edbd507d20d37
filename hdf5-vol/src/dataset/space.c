/* SPDX-License-Identifier: MIT */
/* Dataspaces: see space.h. */
#include "dataset/space.h"

#include "dataset/dataset.h"
#include "dataset/max_shape.h"
#include "tree/tree.h"

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
