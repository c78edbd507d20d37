/* SPDX-License-Identifier: MIT */
/* Transfer property lists: see transfer_list.h. */
#include "data/transfer_list.h"

#include "hdf5/errors.h"

#include <string.h>

/* ---- Requests ---- */

/* H5Pset_filter_callback has no counterpart that gives the callback. */
static bool has_filter_callback(h5_lib *lib, hid_t list) {
    struct {
        H5Z_filter_func_t call;
        void *context;
    } callback = {NULL, NULL};
    return lib->H5Pexist(list, "filter_cb") > 0 && lib->H5Pget(list, "filter_cb", &callback) >= 0 &&
           callback.call;
}

void vol_dxpl_clear(h5_lib *lib, vol_dxpl *list) {
    if (list->own > 0)
        vol_release_id(lib, list->own);
    list->own = 0;
}

/* H5Pset_dxpl_mpio's H5FD_MPIO_COLLECTIVE and what goes with it. Only parallel HDF5 declares the
   calls, but the property is everywhere; HDF5's dataset in memory wants no other value. */
static herr_t make_independent(h5_lib *lib, vol_dxpl *list) {
    static const char mode[] = "io_xfer_mode", *const others[] = {"mpio_collective_opt",
                                                                  "mpio_chunk_opt_hard"};
    const hid_t plain = *lib->H5P_LST_DATASET_XFER_ID_g;
    int value = 0, zero = 0;
    if (lib->H5Pexist(list->id, mode) <= 0 || lib->H5Pget(list->id, mode, &value) < 0 || value == 0)
        return 0;
    list->is_collective = true;
    list->own = lib->H5Pcopy(list->id);
    if (list->own < 0 || lib->H5Pset(list->own, mode, &zero) < 0) {
        vol_dxpl_clear(lib, list);
        return VOL_PUSH(lib, DATASET, CANTGET, "no memory for a transfer list");
    }
    for (size_t i = 0; i < 2; i++)
        if (lib->H5Pexist(list->own, others[i]) > 0 && lib->H5Pget(plain, others[i], &value) >= 0)
            lib->H5Pset(list->own, others[i], &value);
    list->id = list->own;
    return 0;
}

herr_t vol_dxpl_make(h5_lib *lib, hid_t id, vol_dxpl *out) {
    const hid_t plain = *lib->H5P_LST_DATASET_XFER_ID_g;
    *out = (vol_dxpl){.id = id};
    if (id == plain || lib->H5Pequal(id, plain) > 0)
        return 0;
    if (make_independent(lib, out) < 0)
        return -1;
    if (out->own && lib->H5Pequal(out->own, plain) > 0) {
        out->id = plain;
        return 0;
    }
    out->custom = true;
    out->skips_checksums = lib->H5Pget_edc_check(id) == H5Z_DISABLE_EDC;
    out->sees_filters = has_filter_callback(lib, id);
    return 0;
}

/* Whether there is a codec of that name (NULL: any) where HDF5 has its filters. */
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
    if (list->skips_checksums && !writing && has_codec(dataset, "crc32c"))
        return VOL_PUSH(
            lib, DATASET, UNSUPPORTED,
            "checksums of Zarr stores are verified whenever there are some: '%s' cannot be "
            "read with H5Pset_edc_check(H5Z_DISABLE_EDC)",
            dataset->path);
    if (list->sees_filters && has_codec(dataset, NULL))
        return VOL_PUSH(lib, DATASET, UNSUPPORTED,
                        "the codecs of '%s' are no filters of HDF5 and cannot call "
                        "H5Pset_filter_callback's function",
                        dataset->path);
    return 0;
}

/* ---- Conversion by HDF5 ---- */

#define CORE_INCREMENT ((size_t)1 << 20) /* bytes by which the file in memory grows */

/* An ordinary file in memory, of HDF5's own: the values of a transfer list are looked up once for
   each call of HDF5's interface, so that its functions for connectors, called within our callback,
   would go by the program's list whatever they are given. */
hid_t vol_scratch_file(h5_lib *lib) {
    hid_t fapl = lib->H5Pcreate(*lib->H5P_CLS_FILE_ACCESS_ID_g), file = -1;
    if (fapl >= 0 && lib->H5Pset_fapl_core(fapl, CORE_INCREMENT, false) >= 0 &&
        lib->H5Pset_vol(fapl, lib->native, NULL) >= 0)
        file = lib->H5Fcreate("zarrbridge-conversion", H5_ACC_TRUNC, H5P_DEFAULT, fapl);
    vol_release_id(lib, fapl);
    return file;
}

static hid_t new_dataset(h5_lib *lib, hid_t file, hid_t type, size_t count) {
    const hsize_t size = count;
    hid_t space = lib->H5Screate_simple(1, &size, NULL), dataset = -1;
    if (space >= 0)
        dataset = lib->H5Dcreate_anon(file, type, space, H5P_DEFAULT, H5P_DEFAULT);
    vol_release_id(lib, space);
    return dataset;
}

/* The transfer with the program's type goes by its list, and no other. */
static herr_t convert(h5_lib *lib, hid_t dataset, const vol_dxpl *list, hid_t memory, hid_t stored,
                      bool writing, size_t bytes, void *data, const void *background) {
    if (!writing) {
        herr_t result = lib->H5Dwrite(dataset, stored, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
        memcpy(data, background, bytes);
        return result < 0 ? -1 : lib->H5Dread(dataset, memory, H5S_ALL, H5S_ALL, list->id, data);
    }
    if (background && lib->H5Dwrite(dataset, stored, H5S_ALL, H5S_ALL, H5P_DEFAULT, background) < 0)
        return -1;
    if (lib->H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, list->id, data) < 0)
        return -1;
    return lib->H5Dread(dataset, stored, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
}

herr_t vol_dxpl_convert(h5_lib *lib, const vol_dxpl *list, hid_t memory, hid_t stored, bool writing,
                        size_t count, void *data, const void *background) {
    hid_t file = vol_scratch_file(lib),
          dataset = file < 0 ? -1 : new_dataset(lib, file, stored, count);
    herr_t result = -1;
    if (dataset >= 0)
        result = convert(lib, dataset, list, memory, stored, writing,
                         count * lib->H5Tget_size(memory), data, background);
    vol_release_id(lib, dataset);
    vol_release_id(lib, file);
    return result;
}
