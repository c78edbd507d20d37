/* SPDX-License-Identifier: MIT */
/*
 * An array's storage in HDF5's words: chunk shape, filters, fill value.
 *
 * The chunk is the innermost one, the unit of decoding, cut to the array where it is larger (HDF5
 * accepts no chunk that exceeds a fixed-size dataset, and h5repack copies this list). Filters are
 * shown only when the library has them: with one it lacks, h5repack and h5diff skip the dataset.
 */
#include "create/creation_list.h"

#include "create/chunk_runs.h"
#include "hdf5/text.h"
#include "hdf5/types.h"
#include "model/max_shape.h"

#include <stdlib.h>
#include <string.h>

#define FILTER_ZSTD 32015
#define FILTER_BLOSC 32001

static unsigned config_uint(const zb_codec_info *codec, const char *name, unsigned fallback) {
    uint64_t value;
    if (!zb_json_uint64(zb_json_get(codec->configuration, name), &value) || value > UINT32_MAX)
        return fallback;
    return (unsigned)value;
}

/* The position of a configuration string in a NULL-terminated list of known ones, or 0. */
static unsigned config_choice(const zb_codec_info *codec, const char *name,
                              const char *const *known) {
    const char *text = zb_json_string(zb_json_get(codec->configuration, name));
    for (unsigned i = 0; text && known[i]; i++)
        if (strcmp(text, known[i]) == 0)
            return i;
    return 0;
}

static void add_filter(h5_lib *lib, hid_t dcpl, H5Z_filter_t filter, size_t count,
                       const unsigned *values) {
    if (lib->H5Zfilter_avail(filter) > 0)
        lib->H5Pset_filter(dcpl, filter, H5Z_FLAG_OPTIONAL, count, values);
}

/* The blosc that codecs.c made of HDF5's own two filters shows as those. */
static void add_blosc(h5_lib *lib, hid_t dcpl, const zb_codec_info *codec, unsigned element_size) {
    static const char *const shuffles[] = {"noshuffle", "shuffle", "bitshuffle", NULL};
    static const char *const compressors[] = {"blosclz", "lz4",  "lz4hc", "snappy",
                                              "zlib",    "zstd", NULL};
    const unsigned values[] = {2, /* the filter's own revision */
                               2, /* blosc format version */
                               config_uint(codec, "typesize", element_size),
                               config_uint(codec, "blocksize", 0),
                               config_uint(codec, "clevel", 5),
                               config_choice(codec, "shuffle", shuffles),
                               config_choice(codec, "cname", compressors)};
    if (strcmp(shuffles[values[5]], "shuffle") == 0 &&
        strcmp(compressors[values[6]], "zlib") == 0) {
        add_filter(lib, dcpl, H5Z_FILTER_SHUFFLE, 0, NULL);
        add_filter(lib, dcpl, H5Z_FILTER_DEFLATE, 1, &values[4]);
        return;
    }
    add_filter(lib, dcpl, FILTER_BLOSC, sizeof values / sizeof values[0], values);
}

static bool is_named(const zb_codec_info *codec, const char *name, const char *other) {
    return strcmp(codec->name, name) == 0 || strcmp(codec->name, other) == 0;
}

/* Adds the codecs of the innermost chunks only: HDF5 sees no chunk on which those around a shard
   work. */
static void add_filters(h5_lib *lib, hid_t dcpl, const zb_array_info *info) {
    for (size_t i = 0; i < info->codec_count; i++) {
        const zb_codec_info *codec = &info->codecs[i];
        if (codec->shard_level != info->shard_depth)
            continue;
        if (is_named(codec, "gzip", "numcodecs.gzip") || is_named(codec, "numcodecs.zlib", "")) {
            const unsigned level =
                config_uint(codec, "level", strcmp(codec->name, "gzip") == 0 ? 6 : 1);
            add_filter(lib, dcpl, H5Z_FILTER_DEFLATE, 1, &level);
        } else if (is_named(codec, "zstd", "numcodecs.zstd")) {
            const unsigned level = config_uint(codec, "level", 3);
            add_filter(lib, dcpl, FILTER_ZSTD, 1, &level);
        } else if (strcmp(codec->name, "blosc") == 0) {
            add_blosc(lib, dcpl, codec, info->dtype.size);
        } else if (strcmp(codec->name, "numcodecs.shuffle") == 0) {
            add_filter(lib, dcpl, H5Z_FILTER_SHUFFLE, 0, NULL);
        } else if (is_named(codec, "crc32c", "numcodecs.fletcher32")) {
            add_filter(lib, dcpl, H5Z_FILTER_FLETCHER32, 0, NULL);
        }
    }
}

/* False when HDF5 cannot express the chunk: no dimensions, or 4 GiB and more. */
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
    return info->ndim > 0;
}

static void add_shard_shape(h5_lib *lib, hid_t dcpl, const zb_array_info *info) {
    hsize_t shape[ZB_MAX_NDIM];
    for (uint32_t d = 0; d < info->ndim; d++)
        shape[d] = info->chunk_shape[d];
    lib->H5Pinsert2(dcpl, VOL_SHARD_PROPERTY, info->ndim * sizeof shape[0], shape, NULL, NULL, NULL,
                    NULL, NULL, NULL);
}

/* As the dataset's type has it. HDF5 copies the value, text included. */
static void set_fill(vol_node *node, const zb_array_info *info, hid_t dcpl) {
    h5_lib *lib = node->file->lib;
    const hid_t type = vol_node_type(node);
    if (info->dtype.kind == ZB_KIND_STRING) {
        const zb_slice *fill = info->fill_value;
        vol_text_form form;
        char *text = NULL;
        if (vol_text_form_of(lib, type, &form) && vol_text_put(&form, *fill, &text, NULL) == ZB_OK)
            lib->H5Pset_fill_value(dcpl, type, &text);
        free(text);
        return;
    }
    const zb_dtype shown = vol_node_shown(node);
    void *fill = calloc(1, (size_t)shown.size + 1);
    if (fill && zb_dtype_convert(info->dtype, info->fill_value, shown, fill, 1))
        lib->H5Pset_fill_value(dcpl, type, fill);
    free(fill);
}

static hid_t new_dcpl(vol_node *node) {
    h5_lib *lib = node->file->lib;
    const zb_array_info *info = zb_node_array(node->zarr);
    hsize_t chunk[ZB_MAX_NDIM];
    hid_t dcpl = lib->H5Pcreate(*lib->H5P_CLS_DATASET_CREATE_ID_g);
    if (dcpl < 0)
        return -1;
    lib->H5Pset_attr_creation_order(dcpl, H5P_CRT_ORDER_TRACKED);
    if (chunk_shape(node, info, chunk)) {
        lib->H5Pset_chunk(dcpl, (int)info->ndim, chunk);
        add_filters(lib, dcpl, info);
    }
    /* netCDF-C takes the fill value of a text for a pointer, and writes all of it there. */
    if (!info->fill_is_default && !node->is_unreadable)
        set_fill(node, info, dcpl);
    if (info->shard_depth > 0 && info->ndim > 0)
        add_shard_shape(lib, dcpl, info);
    vol_runs_add(lib, dcpl, node->zarr);
    return dcpl;
}

hid_t vol_node_dcpl(vol_node *node) {
    if (node->dcpl <= 0)
        node->dcpl = new_dcpl(node);
    return node->dcpl;
}
