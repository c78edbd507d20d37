/* SPDX-License-Identifier: MIT */
/* See codecs_to_filters.h. */
#include "create/codecs_to_filters.h"

#include "data/transfer_list.h"
#include "hdf5/errors.h"

#include <stdint.h>
#include <string.h>

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

/* numcodecs says how to shuffle by a number, of which -1 is what the codec does without a word:
   bits where elements have one byte, and bytes else. */
static unsigned shuffle_of(const zb_codec_info *codec, unsigned element_size) {
    static const char *const shuffles[] = {"noshuffle", "shuffle", "bitshuffle", NULL};
    const zb_json *shuffle = zb_json_get(codec->configuration, "shuffle");
    int64_t number = strcmp(codec->name, "blosc") == 0 ? -1 : 1;
    if (zb_json_string(shuffle))
        return config_choice(codec, "shuffle", shuffles);
    zb_json_int64(shuffle, &number);
    if (number < 0)
        return element_size > 1 ? 1 : 2;
    return (unsigned)number;
}

/* Of the innermost ones; where the number is too large for a filter's value, as much as fits. */
static unsigned chunk_bytes(const zb_array_info *info) {
    size_t bytes = info->dtype.size;
    for (uint32_t d = 0; d < info->ndim; d++)
        if (__builtin_mul_overflow(bytes, info->inner_shape[d], &bytes))
            return UINT32_MAX;
    return bytes < UINT32_MAX ? (unsigned)bytes : UINT32_MAX;
}

/* The blosc that filters_to_codecs.c made of HDF5's own two filters shows as those. */
static void add_blosc(h5_lib *lib, hid_t dcpl, const zb_codec_info *codec,
                      const zb_array_info *info) {
    const unsigned element_size = zb_dtype_is_variable(info->dtype) ? 1 : info->dtype.size;
    static const char *const compressors[] = {"blosclz", "lz4",  "lz4hc", "snappy",
                                              "zlib",    "zstd", NULL};
    const unsigned fallback = strcmp(codec->name, "blosc") == 0 ? 5 : 1; /* zstd, lz4 */
    const bool names_one = zb_json_get(codec->configuration, "cname") != NULL;
    const unsigned values[] = {2, /* the filter's own revision */
                               2, /* blosc format version */
                               config_uint(codec, "typesize", element_size),
                               chunk_bytes(info),
                               config_uint(codec, "clevel", 5),
                               shuffle_of(codec, element_size),
                               names_one ? config_choice(codec, "cname", compressors) : fallback};
    if (values[5] == 1 && strcmp(compressors[values[6]], "zlib") == 0) {
        add_filter(lib, dcpl, H5Z_FILTER_SHUFFLE, 0, NULL);
        add_filter(lib, dcpl, H5Z_FILTER_DEFLATE, 1, &values[4]);
        return;
    }
    add_filter(lib, dcpl, VOL_FILTER_BLOSC, sizeof values / sizeof values[0], values);
}

static bool is_named(const zb_codec_info *codec, const char *name, const char *other) {
    return strcmp(codec->name, name) == 0 || strcmp(codec->name, other) == 0;
}

void vol_filters_add(h5_lib *lib, hid_t dcpl, const zb_array_info *info) {
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
            add_filter(lib, dcpl, VOL_FILTER_ZSTD, 1, &level);
        } else if (strcmp(codec->name, "numcodecs.bz2") == 0) {
            const unsigned level = config_uint(codec, "level", 1);
            add_filter(lib, dcpl, VOL_FILTER_BZIP2, 1, &level);
        } else if (strcmp(codec->name, "numcodecs.lz4") == 0) {
            add_filter(lib, dcpl, VOL_FILTER_LZ4, 0, NULL);
        } else if (is_named(codec, "blosc", "numcodecs.blosc")) {
            add_blosc(lib, dcpl, codec, info);
        } else if (strcmp(codec->name, "numcodecs.shuffle") == 0) {
            add_filter(lib, dcpl, H5Z_FILTER_SHUFFLE, 0, NULL);
        } else if (is_named(codec, "crc32c", "numcodecs.fletcher32")) {
            add_filter(lib, dcpl, H5Z_FILTER_FLETCHER32, 0, NULL);
        }
    }
}

/* A filter that HDF5 lacks leaves a record on the error stack. */
vol_filter vol_filter_at(h5_lib *lib, hid_t dcpl, unsigned number) {
    vol_filter filter = {.count = VOL_FILTER_VALUES};
    unsigned config;
    hid_t saved = vol_stack_save(lib);
    filter.id = lib->H5Pget_filter2(dcpl, number, &filter.flags, &filter.count, filter.values, 0,
                                    NULL, &config);
    vol_stack_restore(lib, saved);
    filter.is_cut = filter.count > VOL_FILTER_VALUES;
    if (filter.is_cut)
        filter.count = VOL_FILTER_VALUES;
    return filter;
}

/* The first values, which a filter sets itself when a dataset is made: sizes of elements and chunks
   among them, which a list that is used again has of another dataset. */
static size_t own_values(H5Z_filter_t id) {
    return id == H5Z_FILTER_SHUFFLE ? 1 : id == VOL_FILTER_BLOSC ? 4 : 0;
}

static bool is_same(const vol_filter *a, const vol_filter *b) {
    const size_t own = own_values(a->id);
    if (a->id != b->id || (a->count <= own && b->count <= own))
        return a->id == b->id;
    return a->count == b->count &&
           memcmp(a->values + own, b->values + own, (a->count - own) * sizeof a->values[0]) == 0;
}

bool vol_filters_are_of(h5_lib *lib, hid_t dcpl, const zb_array_info *info) {
    hid_t other = lib->H5Pcreate(*lib->H5P_CLS_DATASET_CREATE_ID_g);
    if (other < 0)
        return false;
    vol_filters_add(lib, other, info);
    const int count = lib->H5Pget_nfilters(dcpl);
    bool same = count >= 0 && count == lib->H5Pget_nfilters(other);
    for (unsigned i = 0; same && i < (unsigned)count; i++) {
        const vol_filter a = vol_filter_at(lib, dcpl, i), b = vol_filter_at(lib, other, i);
        same = is_same(&a, &b);
    }
    lib->H5Pclose(other);
    return same;
}

/* ---- Filters of a dataset that was made ---- */

static bool has_plugin(h5_lib *lib, hid_t dcpl) {
    const int count = lib->H5Pget_nfilters(dcpl);
    for (int i = 0; i < count; i++)
        if (vol_filter_at(lib, dcpl, (unsigned)i).id >= H5Z_FILTER_RESERVED)
            return true;
    return false;
}

/* A list of the filters and the chunk alone, for a dataset of one chunk; -1 on failure. */
static hid_t filters_alone(h5_lib *lib, hid_t dcpl, int ndim, const hsize_t *chunk) {
    const int count = lib->H5Pget_nfilters(dcpl);
    hid_t list = lib->H5Pcreate(*lib->H5P_CLS_DATASET_CREATE_ID_g);
    bool good = list >= 0 && lib->H5Pset_chunk(list, ndim, chunk) >= 0;
    for (int i = 0; good && i < count; i++) {
        const vol_filter f = vol_filter_at(lib, dcpl, (unsigned)i);
        good = !f.is_cut && lib->H5Pset_filter(list, f.id, f.flags, f.count, f.values) >= 0;
    }
    if (good)
        return list;
    vol_release_id(lib, list);
    return -1;
}

/* The type may be a committed one of a store, which HDF5's own file would not take. */
static hid_t made_of(h5_lib *lib, hid_t type, hid_t list, int ndim, const hsize_t *chunk) {
    hid_t file = vol_scratch_file(lib), dataset = -1, made = -1;
    hid_t copy = lib->H5Tcopy(type), space = lib->H5Screate_simple(ndim, chunk, NULL);
    if (file >= 0 && copy >= 0 && space >= 0)
        dataset = lib->H5Dcreate_anon(file, copy, space, list, H5P_DEFAULT);
    if (dataset >= 0)
        made = lib->H5Dget_create_plist(dataset);
    const hid_t ids[] = {dataset, space, copy, file};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        vol_release_id(lib, ids[i]);
    return made;
}

hid_t vol_filters_of_made(h5_lib *lib, hid_t type, hid_t dcpl) {
    hsize_t chunk[ZB_MAX_NDIM];
    if (!has_plugin(lib, dcpl))
        return -1;
    hid_t saved = vol_stack_save(lib), made = -1;
    const int ndim = lib->H5Pget_chunk(dcpl, ZB_MAX_NDIM, chunk);
    hid_t list = ndim > 0 ? filters_alone(lib, dcpl, ndim, chunk) : -1;
    if (list >= 0)
        made = made_of(lib, type, list, ndim, chunk);
    vol_release_id(lib, list);
    vol_stack_restore(lib, saved);
    return made;
}

/* ---- The size of a chunk ---- */

/* The last number that there is, far from those that are given out (from 32000 on nobody asks for
   one) and from those for tests. It appears in no file: only a dataset in memory has the filter. */
#define SIZE_FILTER H5Z_FILTER_MAX

#define MASKED 32 /* the filters that HDF5's masks have bits for */

/* values: the low and the high half of the bytes that there must be. */
static size_t count_bytes(unsigned flags, size_t count, const unsigned values[], size_t bytes,
                          size_t *capacity, void **buffer) {
    (void)capacity;
    (void)buffer;
    if (!(flags & H5Z_FLAG_REVERSE))
        return bytes;
    return count == 2 && bytes == ((uint64_t)values[1] << 32 | values[0]) ? bytes : 0;
}

/* HDF5 forgets the filter when it is closed, and takes it again any number of times. */
static herr_t add_size_filter(h5_lib *lib, hid_t dcpl, size_t bytes) {
    static const H5Z_class2_t filter = {.version = H5Z_CLASS_T_VERS,
                                        .id = SIZE_FILTER,
                                        .encoder_present = 1,
                                        .decoder_present = 1,
                                        .name = "size of a chunk",
                                        .filter = count_bytes};
    const unsigned values[] = {(unsigned)bytes, (unsigned)((uint64_t)bytes >> 32)};
    return lib->H5Zregister(&filter) < 0
               ? -1
               : lib->H5Pset_filter(dcpl, SIZE_FILTER, H5Z_FLAG_MANDATORY, 2, values);
}

static herr_t append(h5_lib *lib, hid_t dcpl, const vol_filter *filter) {
    if (!filter->is_cut)
        return lib->H5Pset_filter(dcpl, filter->id, filter->flags, filter->count, filter->values);
    return VOL_PUSH(lib, DATASET, UNSUPPORTED, "filter %d has more than %d values", (int)filter->id,
                    VOL_FILTER_VALUES);
}

/* The first filter is the last one that sees a chunk which is read. */
hid_t vol_size_checked(h5_lib *lib, hid_t dcpl, uint32_t mask, size_t bytes) {
    const int count = lib->H5Pget_nfilters(dcpl);
    hid_t checked = lib->H5Pcopy(dcpl);
    herr_t result = checked < 0 ? -1 : lib->H5Premove_filter(checked, H5Z_FILTER_ALL);
    if (result >= 0)
        result = add_size_filter(lib, checked, bytes);
    for (int i = 0; i < count && result >= 0; i++) {
        const vol_filter filter = vol_filter_at(lib, dcpl, (unsigned)i);
        if (i < MASKED && mask >> i & 1)
            continue;
        result = append(lib, checked, &filter);
    }
    if (result >= 0)
        return checked;
    vol_release_id(lib, checked);
    return -1;
}
