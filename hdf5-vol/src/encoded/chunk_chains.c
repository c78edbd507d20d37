/* SPDX-License-Identifier: MIT */
#include "encoded/chunk_chains.h"

#include "create/codecs_to_filters.h"
#include "hdf5/errors.h"
#include "types/types.h"

#include <stdlib.h>
#include <string.h>

/* ---- Filters as codecs of the same bytes -------------------------------------------------- */

static void begin_codec(zb_json_writer *out, const char *name) {
    zb_json_begin_object(out);
    zb_json_write_name(out, "name");
    zb_json_write_string(out, name);
    zb_json_write_name(out, "configuration");
    zb_json_begin_object(out);
}

static void end_codec(zb_json_writer *out) {
    zb_json_end_object(out);
    zb_json_end_object(out);
}

static void print_number(zb_json_writer *out, const char *name, unsigned number) {
    zb_json_write_name(out, name);
    zb_json_write_uint64(out, number);
}

/* False for a filter whose bytes no codec makes. Levels count where the bytes are made by us. */
static bool print_filter(zb_json_writer *out, const vol_filter *f) {
    const unsigned first = f->count > 0 ? f->values[0] : 0;
    switch (f->id) {
    case H5Z_FILTER_SHUFFLE:
        if (first == 0) /* the list is none of a dataset's, which has the size of its elements */
            return false;
        begin_codec(out, "numcodecs.shuffle");
        print_number(out, "elementsize", first);
        break;
    case H5Z_FILTER_DEFLATE:
        begin_codec(out, "numcodecs.zlib");
        print_number(out, "level", first <= 9 ? first : 9);
        break;
    case H5Z_FILTER_FLETCHER32:
        begin_codec(out, "numcodecs.fletcher32");
        break;
    case VOL_FILTER_ZSTD:
        begin_codec(out, "zstd");
        zb_json_write_name(out, "level");
        zb_json_write_int64(out, f->count > 0 && (int)first <= 22 ? (int)first : 3);
        zb_json_write_name(out, "checksum");
        zb_json_write_bool(out, false);
        break;
    case VOL_FILTER_BZIP2:
        begin_codec(out, "numcodecs.bz2");
        print_number(out, "level", first >= 1 && first <= 9 ? first : 9);
        break;
    default:
        return false;
    }
    end_codec(out);
    return true;
}

/* The configuration of the array's own blosc; NULL where it has none. */
static const zb_json *blosc_of(const zb_array_info *info) {
    for (size_t i = 0; i < info->codec_count; i++) {
        const zb_codec_info *codec = &info->codecs[i];
        if (codec->shard_level == info->shard_depth && strcmp(codec->name, "blosc") == 0)
            return codec->configuration;
    }
    return NULL;
}

static bool print_blosc(zb_json_writer *out, const zb_json *configuration) {
    const zb_codec_info codec = {.name = "blosc", .configuration = configuration};
    if (configuration)
        zb_codec_print(out, &codec);
    return configuration;
}

bool vol_chunk_codecs(h5_lib *lib, hid_t dcpl, const zb_json *blosc, uint32_t mask,
                      zb_json_writer *out) {
    const int count = lib->H5Pget_nfilters(dcpl);
    bool known = count >= 0;
    for (int i = 0; i < count && known; i++) {
        const vol_filter f = vol_filter_at(lib, dcpl, (unsigned)i);
        if (i < 32 && mask >> i & 1)
            continue;
        known = f.id == VOL_FILTER_BLOSC ? print_blosc(out, blosc) : print_filter(out, &f);
    }
    return known;
}

zb_chain *vol_chunk_chain(h5_lib *lib, hid_t dcpl, const zb_node *array, bool big, uint32_t mask) {
    zb_json_writer *out = zb_json_writer_new();
    zb_chain *chain = NULL;
    zb_json_begin_array(out);
    begin_codec(out, "bytes");
    zb_json_write_name(out, "endian");
    zb_json_write_string(out, big ? "big" : "little");
    end_codec(out);
    const bool known = vol_chunk_codecs(lib, dcpl, blosc_of(zb_node_array(array)), mask, out);
    zb_json_end_array(out);
    char *text = zb_json_writer_end(out, NULL);
    if (!known || !text || zb_chain_new(array, text, &chain, NULL) != ZB_OK)
        chain = NULL;
    free(text);
    return chain;
}

/* ---- What can be moved -------------------------------------------------------------------- */

static bool is_big(zb_dtype dtype) {
    static const uint16_t one = 1;
    const bool is_host_big = *(const uint8_t *)&one == 0;
    return dtype.swapped != is_host_big;
}

bool vol_chunks_same_elements(h5_lib *lib, hid_t type, zb_dtype stored, bool *big) {
    zb_dtype dtype;
    if (!vol_type_to_dtype(lib, type, &dtype) || dtype.kind == ZB_KIND_BOOL)
        return false;
    *big = is_big(dtype);
    dtype.swapped = stored.swapped = false;
    return zb_dtype_equal(dtype, stored);
}

void vol_chunks_say(const vol_moves *moves, bool may, bool anew, const char *why) {
    vol_say("%s: %s%s%s", moves->node->path,
            !may   ? "elements are copied"
            : anew ? "chunks are decoded and encoded"
                   : "encoded chunks move",
            why ? ": " : "", why ? why : "");
}

bool vol_chunks_compare(const zb_chain *from, const zb_chain *to, bool *anew, const char **why) {
    const enum zb_chain_way way = zb_chain_compare(from, to, why);
    *anew = way == ZB_CHAIN_ANEW;
    return way != ZB_CHAIN_NONE;
}

bool vol_chunks_same_shape(h5_lib *lib, hid_t dcpl, const zb_node *array) {
    const zb_array_info *info = zb_node_array(array);
    hsize_t chunk[ZB_MAX_NDIM];
    if (info->ndim == 0 || lib->H5Pget_layout(dcpl) != H5D_CHUNKED ||
        lib->H5Pget_chunk(dcpl, ZB_MAX_NDIM, chunk) != (int)info->ndim)
        return false;
    for (uint32_t d = 0; d < info->ndim; d++) {
        if (chunk[d] != info->inner_shape[d] || zb_array_run_count(array, d) > 0)
            return false;
    }
    return true;
}

/* ---- Chunks of HDF5 ------------------------------------------------------------------------ */

static herr_t ask_native(const vol_moves *moves, void *dataset, int operation, void *native) {
    H5VL_optional_args_t args = {.op_type = operation, .args = native};
    return moves->lib->H5VLdataset_optional(dataset, moves->lib->native, &args, moves->dxpl, NULL);
}

/* The first element of a chunk. */
static void find_offset(const zb_node *array, const uint64_t *index, hsize_t offset[ZB_MAX_NDIM]) {
    for (uint32_t d = 0; d < zb_node_array(array)->ndim; d++)
        offset[d] = zb_array_chunk_at(array, ZB_GRID_INNER, d, index[d]).start;
}

herr_t vol_chunk_get(const vol_moves *moves, void *dataset, const uint64_t *index, void *buffer,
                     size_t size) {
    hsize_t offset[ZB_MAX_NDIM];
    size_t taken = size;
    find_offset(moves->node->zarr, index, offset);
    h5_chunk_read args = {.offset = offset, .buffer = buffer, .buffer_size = &taken};
    return ask_native(moves, dataset, H5VL_NATIVE_DATASET_CHUNK_READ, &args);
}

herr_t vol_chunk_put(const vol_moves *moves, void *dataset, const uint64_t *index,
                     const void *buffer, size_t size) {
    hsize_t offset[ZB_MAX_NDIM];
    find_offset(moves->node->zarr, index, offset);
    h5_chunk_write args = {.offset = offset, .size = size, .buffer = buffer};
    h5_chunk_write_v1 old;
    return ask_native(moves, dataset, H5VL_NATIVE_DATASET_CHUNK_WRITE,
                      h5_chunk_write_for(moves->lib, &args, &old));
}
