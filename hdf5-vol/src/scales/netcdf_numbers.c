/* SPDX-License-Identifier: MIT */
/* Numbers that netCDF gives to dimensions: see netcdf_numbers.h. */
#include "scales/netcdf_numbers.h"

#include "attributes/write.h"
#include "hdf5/errors.h"
#include "scales/dimensions.h"

#include <string.h>

#define NUMBER "_Netcdf4Dimid"
#define NUMBERS "_Netcdf4Coordinates" /* of a variable's dimensions */

static bool has_number(const vol_node *node, uint64_t *out) {
    return zb_json_uint64(vol_attribute(node, NUMBER), out) && *out < INT32_MAX;
}

void vol_numbers_asked(vol_node *dataset, const char *name) {
    vol_file *file = dataset->file;
    uint64_t number;
    if (!file->writable || !file->options.is_netcdf || dataset->kind != VOL_DATASET ||
        dataset->dimension_number > 0 || strcmp(name, NUMBER) != 0)
        return;
    if (!has_number(dataset, &number))
        dataset->dimension_number = ++file->dimension_numbers;
    else if (number >= file->dimension_numbers)
        file->dimension_numbers = number + 1;
}

/* ---- Storing ---- */

/* Whether a dataset below a node has a number, or numbers of its dimensions. */
static bool find_number(const vol_node *node) {
    if (node->kind == VOL_DATASET && (vol_attribute(node, NUMBER) || vol_attribute(node, NUMBERS)))
        return true;
    size_t at = 0;
    for (const vol_node *child; (child = vol_links_opened(node, &at));)
        if (find_number(child))
            return true;
    return false;
}

static enum zb_code store(vol_node *node, zb_error *err) {
    uint64_t known;
    if (node->dimension_number == 0 || !vol_dims_is_scale(node) || has_number(node, &known))
        return ZB_OK;
    h5_lib *lib = node->file->lib;
    const int number = (int)node->dimension_number - 1;
    const hid_t type = *lib->H5T_NATIVE_INT_g, space = lib->H5Screate(H5S_SCALAR);
    const vol_attr_value value = {.name = NUMBER,
                                  .type = type,
                                  .space = space,
                                  .dxpl = *lib->H5P_LST_DATASET_XFER_ID_g,
                                  .data = &number};
    const herr_t result = space < 0 ? -1 : vol_attr_store(node, &value, type);
    vol_release_id(lib, space);
    return result < 0 ? zb_fail(err, ZB_EIO, "no number for a dimension") : ZB_OK;
}

herr_t vol_numbers_store(vol_file *file) {
    if (file->dimension_numbers == 0 || !find_number(file->root))
        return 0;
    return vol_node_each_below(file->root, store, NULL) ? -1 : 0;
}
