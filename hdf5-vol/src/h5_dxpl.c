/* SPDX-License-Identifier: MIT */
/* Transfer property lists: see h5_dxpl.h. */
#include "h5_dxpl.h"

#include "h5_error.h"
#include "h5_shadow.h"

#include <string.h>

/* ---- What is asked for ---- */

/* H5Pset_dxpl_mpio's H5FD_MPIO_COLLECTIVE. Only parallel HDF5 declares the calls, but the property
   is everywhere. */
static bool is_collective(h5_lib *lib, hid_t list) {
    int mode = 0;
    return lib->H5Pexist(list, "io_xfer_mode") > 0 &&
           lib->H5Pget(list, "io_xfer_mode", &mode) >= 0 && mode != 0;
}

/* There is no function that gives it. */
static bool has_filter_callback(h5_lib *lib, hid_t list) {
    struct {
        H5Z_filter_func_t call;
        void *context;
    } callback = {NULL, NULL};
    return lib->H5Pexist(list, "filter_cb") > 0 && lib->H5Pget(list, "filter_cb", &callback) >= 0 &&
           callback.call;
}

herr_t vol_dxpl_make(h5_lib *lib, hid_t id, vol_dxpl *out) {
    const hid_t plain = *lib->H5P_LST_DATASET_XFER_ID_g;
    *out = (vol_dxpl){.id = id};
    if (id == plain || lib->H5Pequal(id, plain) > 0)
        return 0;
    out->custom = true;
    out->skips_checksums = lib->H5Pget_edc_check(id) == H5Z_DISABLE_EDC;
    out->sees_filters = has_filter_callback(lib, id);
    if (!is_collective(lib, id))
        return 0;
    VOL_PUSH(lib, DATASET, UNSUPPORTED,
             "collective transfers (H5Pset_dxpl_mpio) are not supported for Zarr stores");
    return -1;
}

/* Is there a codec of that name (NULL: any) where HDF5 has its filters? */
static bool has_codec(const vol_node *dataset, const char *name) {
    const zb_array_info *info = zb_node_array(dataset->zarr);
    for (size_t i = 0; i < info->codec_count; i++) {
        const char *found = info->codecs[i].name;
        bool is_filter = strcmp(found, "bytes") != 0 && strcmp(found, "transpose") != 0 &&
                         strcmp(found, "sharding_indexed") != 0;
        if (is_filter && (!name || strcmp(found, name) == 0))
            return true;
    }
    return false;
}

herr_t vol_dxpl_check(const vol_dxpl *list, const vol_node *dataset, bool writing) {
    h5_lib *lib = dataset->file->lib;
    if (list->skips_checksums && !writing && has_codec(dataset, "crc32c")) {
        VOL_PUSH(lib, DATASET, UNSUPPORTED,
                 "checksums of Zarr stores are verified whenever there are some: '%s' cannot be "
                 "read with H5Pset_edc_check(H5Z_DISABLE_EDC)",
                 dataset->path);
        return -1;
    }
    if (list->sees_filters && has_codec(dataset, NULL)) {
        VOL_PUSH(lib, DATASET, UNSUPPORTED,
                 "the codecs of '%s' are no filters of HDF5 and cannot call "
                 "H5Pset_filter_callback's function",
                 dataset->path);
        return -1;
    }
    return 0;
}

/* ---- Conversion by HDF5 ---- */

/* In the file of the shadows, without a name: gone when it is closed. */
static void *new_dataset(h5_lib *lib, hid_t type, size_t count) {
    const H5VL_loc_params_t self = {.obj_type = H5I_FILE, .type = H5VL_OBJECT_BY_SELF};
    void *file = vol_shadow_of(lib, H5I_FILE), *dataset = NULL;
    const hsize_t size = count;
    hid_t space = lib->H5Screate_simple(1, &size, NULL);
    if (file && space >= 0)
        dataset = lib->H5VLdataset_create(
            file, &self, lib->native, NULL, *lib->H5P_LST_LINK_CREATE_ID_g, type, space,
            *lib->H5P_LST_DATASET_CREATE_ID_g, *lib->H5P_LST_DATASET_ACCESS_ID_g,
            *lib->H5P_LST_DATASET_XFER_ID_g, NULL);
    if (space >= 0)
        vol_close_space(lib, space);
    return dataset;
}

static herr_t put(h5_lib *lib, void *dataset, hid_t type, const void *data, hid_t list) {
    hid_t all = H5S_ALL;
    void *context;
    if (h5_context_begin(lib, &context) < 0)
        return -1;
    herr_t result =
        lib->H5VLdataset_write(1, &dataset, lib->native, &type, &all, &all, list, &data, NULL);
    h5_context_end(lib, context);
    return result;
}

static herr_t get(h5_lib *lib, void *dataset, hid_t type, void *data, hid_t list) {
    hid_t all = H5S_ALL;
    void *context;
    if (h5_context_begin(lib, &context) < 0)
        return -1;
    herr_t result =
        lib->H5VLdataset_read(1, &dataset, lib->native, &type, &all, &all, list, &data, NULL);
    h5_context_end(lib, context);
    return result;
}

/* Only the transfer with the program's type goes by its list. */
static herr_t convert(h5_lib *lib, void *dataset, const vol_dxpl *list, hid_t memory, hid_t stored,
                      bool writing, size_t bytes, void *data, const void *background) {
    const hid_t plain = *lib->H5P_LST_DATASET_XFER_ID_g;
    if (!writing) {
        herr_t result = put(lib, dataset, stored, data, plain);
        memcpy(data, background, bytes);
        return result < 0 ? -1 : get(lib, dataset, memory, data, list->id);
    }
    if (background && put(lib, dataset, stored, background, plain) < 0)
        return -1;
    if (put(lib, dataset, memory, data, list->id) < 0)
        return -1;
    return get(lib, dataset, stored, data, plain);
}

herr_t vol_dxpl_convert(h5_lib *lib, const vol_dxpl *list, hid_t memory, hid_t stored, bool writing,
                        size_t count, void *data, const void *background) {
    void *dataset = new_dataset(lib, stored, count);
    if (!dataset)
        return -1;
    herr_t result = convert(lib, dataset, list, memory, stored, writing,
                            count * lib->H5Tget_size(memory), data, background);
    hid_t saved = vol_stack_save(lib);
    lib->H5VLdataset_close(dataset, lib->native, *lib->H5P_LST_DATASET_XFER_ID_g, NULL);
    vol_stack_restore(lib, saved);
    return result;
}
