/* SPDX-License-Identifier: MIT */
/* Stores the numbers that netCDF gives to dimensions: see netcdf_numbers.h. */
#include "netcdf/store_numbers.h"

#include "attributes/write.h"
#include "hdf5/errors.h"
#include "links/links.h"
#include "netcdf/netcdf_numbers.h"
#include "scales/scales.h"

/* Whether a dataset below a node has a number, or numbers of its dimensions. */
static bool find_number(const vol_node *node) {
    if (node->kind == VOL_DATASET &&
        (vol_attribute(node, VOL_NETCDF_NUMBER) || vol_attribute(node, VOL_NETCDF_NUMBERS)))
        return true;
    size_t at = 0;
    for (const vol_node *child; (child = vol_links_opened(node, &at));)
        if (find_number(child))
            return true;
    return false;
}

/* count: 0 for a scalar. */
static enum zb_code store_numbers(vol_node *node, const char *name, const int *numbers,
                                  hsize_t count, zb_error *err) {
    h5_lib *lib = node->file->lib;
    const hid_t type = *lib->H5T_NATIVE_INT_g;
    const hid_t space = count ? lib->H5Screate_simple(1, &count, NULL) : lib->H5Screate(H5S_SCALAR);
    const vol_attr_value value = {.name = name,
                                  .type = type,
                                  .space = space,
                                  .dxpl = *lib->H5P_LST_DATASET_XFER_ID_g,
                                  .data = numbers};
    const herr_t result = space < 0 ? -1 : vol_attr_store(node, &value, type);
    vol_release_id(lib, space);
    return result < 0 ? zb_fail(err, ZB_EIO, "no number for a dimension") : ZB_OK;
}

static enum zb_code store_list(vol_node *node, zb_error *err) {
    const uint32_t ndim = zb_node_array(node->zarr)->ndim;
    int numbers[ZB_MAX_NDIM];
    if (ndim == 0 || !vol_attribute(node, VOL_NETCDF_NUMBERS) || !vol_numbers_have_all(node))
        return ZB_OK;
    for (uint32_t d = 0; d < ndim; d++)
        numbers[d] = (int)vol_numbers_of(node, d);
    return store_numbers(node, VOL_NETCDF_NUMBERS, numbers, ndim, err);
}

static enum zb_code store(vol_node *node, zb_error *err) {
    int number;
    if (vol_numbers_to_store(node, &number)) {
        const enum zb_code code = store_numbers(node, VOL_NETCDF_NUMBER, &number, 0, err);
        if (code)
            return code;
    }
    return vol_numbers_differ(node) ? store_list(node, err) : ZB_OK;
}

static enum zb_code finish(vol_node *node, zb_error *err) {
    (void)err;
    vol_numbers_agree(node);
    return ZB_OK;
}

herr_t vol_numbers_store(vol_file *file) {
    if (!vol_numbers_are_settled(file) || !find_number(file->root))
        return 0;
    if (vol_node_each_below(file->root, store, NULL))
        return -1;
    vol_node_each_below(file->root, finish, NULL);
    return 0;
}
