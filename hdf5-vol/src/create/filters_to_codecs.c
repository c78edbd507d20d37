/* SPDX-License-Identifier: MIT */
/*
 * HDF5's filters as codecs.
 *
 * The registry of codecs has none that only shuffles; blosc shuffles and compresses in one, so
 * shuffle with deflate, zstd or lz4 becomes blosc with zlib, zstd or lz4 inside (and
 * codecs_to_filters.c shows the first as it was). Filters that are compressors of blosc become
 * blosc, too, since every reader of Zarr has it; bzip2, which it has not, is numcodecs'.
 */
#include "create/codecs_to_filters.h"
#include "create/spec.h"

#include <string.h>

#define FILTER_LZF 32000

static unsigned value_of(const vol_filter *f, size_t i, unsigned fallback) {
    return i < f->count ? f->values[i] : fallback;
}

static enum zb_code fail_filter(H5Z_filter_t id, zb_error *err) {
    static const struct {
        H5Z_filter_t id;
        const char *what;
    } reasons[] = {
        {H5Z_FILTER_SZIP, "szip; use gzip, zstd (filter 32015) or blosc (32001)"},
        {H5Z_FILTER_NBIT, "nbit; use gzip, zstd (filter 32015) or blosc (32001), or a smaller "
                          "integer type"},
        {H5Z_FILTER_SCALEOFFSET, "scaleoffset; store scaled integers with gzip, zstd (filter "
                                 "32015) or blosc (32001)"},
        {FILTER_LZF, "lzf; use blosc (filter 32001) with lz4, or gzip"},
        {VOL_FILTER_BITSHUFFLE,
         "bitshuffle (filter 32008) without a compressor of its own; give it "
         "lz4 or zstd, or use blosc (filter 32001)"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].id == id)
            return zb_fail(err, ZB_EUNSUPPORTED, "Zarr has no codec for %s", reasons[i].what);
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "Zarr has no codec for HDF5's filter %d; use gzip, zstd (filter 32015) or blosc "
                   "(32001)",
                   (int)id);
}

static void print_text(zb_json_writer *out, const char *name, const char *text) {
    zb_json_write_name(out, name);
    zb_json_write_string(out, text);
}

static void print_number(zb_json_writer *out, const char *name, int64_t number) {
    zb_json_write_name(out, name);
    zb_json_write_int64(out, number);
}

/* Begins a codec, down to its configuration. */
static void begin_codec(zb_json_writer *out, const char *name) {
    zb_json_begin_object(out);
    print_text(out, "name", name);
    zb_json_write_name(out, "configuration");
    zb_json_begin_object(out);
}

static void end_codec(zb_json_writer *out) {
    zb_json_end_object(out);
    zb_json_end_object(out);
}

static void print_shuffle(zb_json_writer *out, unsigned element_size) {
    begin_codec(out, "numcodecs.shuffle");
    print_number(out, "elementsize", element_size);
    end_codec(out);
}

static void print_blosc(zb_json_writer *out, const char *compressor, unsigned level,
                        const char *shuffle, unsigned element_size) {
    begin_codec(out, "blosc");
    print_text(out, "cname", compressor);
    print_number(out, "clevel", level > 9 ? 9 : level);
    print_text(out, "shuffle", shuffle);
    print_number(out, "typesize", element_size);
    print_number(out, "blocksize", 0);
    end_codec(out);
}

/* values: four that the filter sets itself when a dataset is made (of blosc2 the second is the size
   of a block, which depends on its own container), then level, shuffle, compressor; what is missing
   gets the filter's own default. Blosc finds the size of blocks. */
static enum zb_code print_blosc_filter(zb_json_writer *out, const vol_filter *f,
                                       unsigned element_size, zb_error *err) {
    static const char *const shuffles[] = {"noshuffle", "shuffle", "bitshuffle"};
    static const char *const compressors[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
    unsigned shuffle = value_of(f, 5, 1), compressor = value_of(f, 6, 0);
    if (shuffle > 2 || compressor > 5)
        return zb_fail(err, ZB_EINVAL, "blosc's shuffle %u or compressor %u is unknown", shuffle,
                       compressor);
    print_blosc(out, compressors[compressor], value_of(f, 4, 5), shuffles[shuffle], element_size);
    return ZB_OK;
}

/* zstd's levels reach to 22, blosc's to 9 and mean twice as much there. */
static unsigned blosc_level_of_zstd(unsigned level) {
    if (level == 0)
        level = 3; /* zstd's default */
    return level > 17 ? 9 : (level + 1) / 2;
}

/* blosc2's filters 3 and 4 are no shuffles; a container of blosc holds no others. */
static enum zb_code check_blosc2(const vol_filter *f, zb_error *err) {
    if (value_of(f, 5, 1) <= 2)
        return ZB_OK;
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "Zarr has no codec for blosc2's filter %u (filter 32026); use its shuffle or "
                   "bitshuffle",
                   f->values[5]);
}

/* Bitshuffle's own values are a block size, a compressor (2: lz4, 3: zstd) and its level. In the
   list of an existing dataset three values of the filter's stand before them. */
static enum zb_code print_bitshuffle(zb_json_writer *out, const vol_filter *f,
                                     unsigned element_size, zb_error *err) {
    const bool is_stored = f->count > 3;
    const unsigned compressor = value_of(f, is_stored ? 4 : 1, 0);
    const unsigned level = value_of(f, is_stored ? 5 : 2, 0);
    if (compressor != 2 && compressor != 3)
        return fail_filter(f->id, err);
    if (compressor == 2)
        print_blosc(out, "lz4", 5, "bitshuffle", element_size);
    else
        print_blosc(out, "zstd", blosc_level_of_zstd(level), "bitshuffle", element_size);
    return ZB_OK;
}

static void print_deflate(zb_json_writer *out, const vol_filter *f, bool shuffled,
                          unsigned element_size) {
    const unsigned level = value_of(f, 0, 6);
    if (shuffled) {
        print_blosc(out, "zlib", level, "shuffle", element_size);
        return;
    }
    begin_codec(out, "gzip");
    print_number(out, "level", level);
    end_codec(out);
}

static void print_zstd(zb_json_writer *out, const vol_filter *f, bool shuffled,
                       unsigned element_size) {
    const unsigned level = value_of(f, 0, 3);
    if (shuffled) {
        print_blosc(out, "zstd", blosc_level_of_zstd(level), "shuffle", element_size);
        return;
    }
    begin_codec(out, "zstd");
    print_number(out, "level", (int)level); /* negative ones are levels, too */
    zb_json_write_name(out, "checksum");
    zb_json_write_bool(out, false);
    end_codec(out);
}

static void print_bzip2(zb_json_writer *out, const vol_filter *f, bool shuffled,
                        unsigned element_size) {
    if (shuffled)
        print_shuffle(out, element_size);
    begin_codec(out, "numcodecs.bz2");
    print_number(out, "level", value_of(f, 0, 9));
    end_codec(out);
}

static void print_fletcher32(zb_json_writer *out) {
    zb_json_begin_object(out);
    print_text(out, "name", "crc32c");
    zb_json_end_object(out);
}

/* shuffled: the filter before was shuffle. */
static enum zb_code print_codec(zb_json_writer *out, const vol_filter *f, bool shuffled,
                                unsigned element_size, zb_error *err) {
    switch (f->id) {
    case H5Z_FILTER_DEFLATE:
        print_deflate(out, f, shuffled, element_size);
        return ZB_OK;
    case VOL_FILTER_ZSTD:
        print_zstd(out, f, shuffled, element_size);
        return ZB_OK;
    case VOL_FILTER_LZ4: /* its one value is a block size */
        print_blosc(out, "lz4", 5, shuffled ? "shuffle" : "noshuffle", element_size);
        return ZB_OK;
    case VOL_FILTER_BZIP2:
        print_bzip2(out, f, shuffled, element_size);
        return ZB_OK;
    case VOL_FILTER_BITSHUFFLE:
        return print_bitshuffle(out, f, element_size, err);
    case VOL_FILTER_BLOSC2:
        return check_blosc2(f, err) ? err->code : print_blosc_filter(out, f, element_size, err);
    case VOL_FILTER_BLOSC:
        return print_blosc_filter(out, f, element_size, err);
    case H5Z_FILTER_FLETCHER32:
        print_fletcher32(out);
        return ZB_OK;
    default:
        return fail_filter(f->id, err);
    }
}

static enum zb_code print_codecs(h5_lib *lib, hid_t dcpl, unsigned element_size,
                                 zb_json_writer *out, zb_error *err) {
    int count = lib->H5Pget_nfilters(dcpl);
    bool shuffled = false;
    enum zb_code code = ZB_OK;
    zb_json_begin_array(out);
    for (int i = 0; i < count && !code; i++) {
        const vol_filter f = vol_filter_at(lib, dcpl, (unsigned)i);
        if (f.id == H5Z_FILTER_SHUFFLE) {
            shuffled = element_size > 1; /* alone it changes nothing worth keeping */
            continue;
        }
        code = print_codec(out, &f, shuffled, element_size, err);
        shuffled = false;
    }
    zb_json_end_array(out);
    return code;
}

/* The element size counts for blosc's shuffle only, which knows sizes up to 255, and has nothing to
   do where elements are of any length. */
enum zb_code vol_codecs_of_filters(h5_lib *lib, hid_t dcpl, zb_dtype dtype, char **json,
                                   zb_error *err) {
    zb_json_writer *out = zb_json_writer_new();
    const bool is_fixed = dtype.size <= 255 && !zb_dtype_is_variable(dtype);
    enum zb_code code = print_codecs(lib, dcpl, is_fixed ? dtype.size : 1, out, err);
    *json = zb_json_writer_end(out, NULL);
    if (!*json && !code)
        code = zb_fail(err, ZB_ENOMEM, "no memory for a list of codecs");
    return code;
}
