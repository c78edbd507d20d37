/* SPDX-License-Identifier: MIT */
/* Transfer property lists: see transfer_list.h. */
#include "data/transfer_list.h"

#include "hdf5/errors.h"

#include <stdlib.h>
#include <string.h>

/* ---- Requests ---- */

/* The properties by which elements are converted or stored. All of these together are read faster
   than H5Pequal compares two lists, and h5py makes one for each dataset. Zeroed before it is
   filled, for memcmp. */
typedef struct requests {
    void *conversion, *background; /* H5Pset_buffer */
    uint64_t buffer_size;
    int64_t preserves;
    H5T_conv_except_func_t exception;
    void *exception_context;
    H5MM_allocate_t allocate;
    void *allocate_context;
    H5MM_free_t release;
    void *release_context;
    struct {
        H5Z_filter_func_t call;
        void *context;
    } filter_callback; /* as HDF5 keeps it, which tells it by no call */
    int64_t checks;    /* H5Z_EDC_t */
    int64_t is_transformed;
} requests;

/* What a default list says. */
struct h5_plain_transfer {
    requests values;
    bool is_complete; /* HDF5 has no property that we have never heard of */
};

/* Those of `requests`, and those that change no element: how ranks work together, which
   vol_dxpl_make looks at by itself, and HDF5's way with its own files. */
static const char *const known[] = {"actual_chunk_opt_mode",
                                    "actual_io_mode",
                                    "actual_selection_io_mode",
                                    "bkgr_buf",
                                    "bkgr_buf_type",
                                    "btree_split_ratio",
                                    "data_transform",
                                    "dset_io_selection",
                                    "err_detect",
                                    "filter_cb",
                                    "io_xfer_mode",
                                    "global_no_collective_cause",
                                    "max_temp_buf",
                                    "modify_write_buf",
                                    "local_no_collective_cause",
                                    "mpio_chunk_opt_hard",
                                    "mpio_chunk_opt_num",
                                    "mpio_chunk_opt_ratio",
                                    "mpio_collective_opt",
                                    "no_selection_io_cause",
                                    "selection_io_mode",
                                    "tconv_buf",
                                    "type_conv_cb",
                                    "vec_size",
                                    "vlen_alloc",
                                    "vlen_alloc_info",
                                    "vlen_free",
                                    "vlen_free_info"};

static herr_t is_unknown(hid_t list, const char *name, void *context) {
    (void)list;
    (void)context;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i]) == 0)
            return 0;
    return 1;
}

/* HDF5 has no call that tells without an error that there is no transform. */
static bool is_transformed(h5_lib *lib, hid_t list) {
    vol_silence silence;
    vol_silence_begin(lib, &silence);
    const bool is = lib->H5Pget_data_transform(list, NULL, 0) >= 0;
    vol_silence_end(lib, &silence);
    return is;
}

static bool read_requests(h5_lib *lib, hid_t list, requests *out) {
    memset(out, 0, sizeof *out);
    out->buffer_size = lib->H5Pget_buffer(list, &out->conversion, &out->background);
    out->preserves = lib->H5Pget_preserve(list);
    out->checks = lib->H5Pget_edc_check(list);
    out->is_transformed = is_transformed(lib, list);
    return lib->H5Pget_type_conv_cb(list, &out->exception, &out->exception_context) >= 0 &&
           lib->H5Pget_vlen_mem_manager(list, &out->allocate, &out->allocate_context, &out->release,
                                        &out->release_context) >= 0 &&
           lib->H5Pget(list, "filter_cb", &out->filter_callback) >= 0;
}

/* NULL without memory, and where HDF5 tells nothing. */
static const struct h5_plain_transfer *plain_transfer(h5_lib *lib) {
    const hid_t plain = *lib->H5P_LST_DATASET_XFER_ID_g;
    if (lib->plain_transfer)
        return lib->plain_transfer;
    struct h5_plain_transfer *made = calloc(1, sizeof *made);
    if (!made || !read_requests(lib, plain, &made->values)) {
        free(made);
        return NULL;
    }
    int first = 0;
    made->is_complete = lib->H5Piterate(plain, &first, is_unknown, NULL) == 0;
    return lib->plain_transfer = made;
}

void vol_dxpl_clear(h5_lib *lib, vol_dxpl *list) {
    if (list->own > 0)
        vol_release_id(lib, list->own);
    list->own = 0;
}

/* H5Pset_dxpl_mpio's H5FD_MPIO_COLLECTIVE and what goes with it. Only parallel HDF5 declares the
   calls, but the property is everywhere; HDF5's dataset in memory wants no other value. */
static const char mode_name[] = "io_xfer_mode";

static bool is_collective(h5_lib *lib, hid_t list) {
    int mode = 0;
    return lib->H5Pget(list, mode_name, &mode) >= 0 && mode != 0;
}

static herr_t make_independent(h5_lib *lib, vol_dxpl *list) {
    static const char *const others[] = {"mpio_collective_opt", "mpio_chunk_opt_hard"};
    const hid_t plain = *lib->H5P_LST_DATASET_XFER_ID_g;
    int value = 0;
    list->own = lib->H5Pcopy(list->id);
    if (list->own < 0 || lib->H5Pset(list->own, mode_name, &value) < 0) {
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
    *out = (vol_dxpl){.id = plain};
    if (id == plain)
        return 0;
    requests asked;
    const struct h5_plain_transfer *usual = plain_transfer(lib);
    if (!usual || !read_requests(lib, id, &asked))
        return VOL_PUSH(lib, DATASET, CANTGET, "the properties of a transfer list cannot be read");
    out->is_collective = is_collective(lib, id);
    const bool is_usual = memcmp(&asked, &usual->values, sizeof asked) == 0;
    if (is_usual && usual->is_complete)
        return 0;
    out->id = id;
    if (out->is_collective && make_independent(lib, out) < 0)
        return -1;
    if (is_usual && lib->H5Pequal(out->id, plain) > 0) {
        out->id = plain;
        return 0;
    }
    out->custom = true;
    out->skips_checksums = asked.checks == H5Z_DISABLE_EDC;
    out->sees_filters = asked.filter_callback.call != NULL;
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
