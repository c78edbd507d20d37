/* SPDX-License-Identifier: MIT */
/* The table of codecs of all kinds. */
#include "codec/table.h"

#include <string.h>

#include "util/names.h"

/* A line for each codec NAME: the constant zb__codec_NAME, which is in the codec's own file. Those
   whose library this build lacks are refused (below), and their files not compiled. */
/* clang-format off */
#ifdef ZB_HAVE_BZ2
#define BZ2(line) line(numcodecs_bz2)
#else
#define BZ2(line)
#endif
#ifdef ZB_HAVE_LZMA
#define LZMA(line) line(numcodecs_lzma)
#else
#define LZMA(line)
#endif
#ifdef ZB_HAVE_ZFP
#define ZFP(line) line(zfp) line(numcodecs_zfpy)
#else
#define ZFP(line)
#endif
#define CODECS(line) \
    line(transpose) \
    line(bitround) \
    line(scale_offset) \
    line(cast_value) \
    line(reshape) \
    line(numcodecs_delta) \
    line(numcodecs_fixedscaleoffset) \
    line(numcodecs_quantize) \
    line(numcodecs_astype) \
    line(numcodecs_packbits) \
    line(bytes) \
    line(field_bytes) \
    line(packbits) \
    line(vlen_utf8) \
    line(vlen_bytes) \
    ZFP(line) \
    line(sharding_indexed) \
    line(zstd) \
    line(gzip) \
    line(blosc) \
    line(crc32c) \
    line(zlib) \
    line(numcodecs_gzip) \
    line(numcodecs_zstd) \
    line(numcodecs_blosc) \
    line(numcodecs_lz4) \
    BZ2(line) \
    LZMA(line) \
    line(numcodecs_shuffle) \
    line(numcodecs_crc32) \
    line(numcodecs_adler32) \
    line(numcodecs_crc32c) \
    line(numcodecs_fletcher32) \
    line(numcodecs_jenkins)
/* clang-format on */

#define DECLARE(name) extern const zb__codec_ops zb__codec_##name;
#define ADDRESS(name) &zb__codec_##name,

CODECS(DECLARE)

static const zb__codec_ops *const table[] = {CODECS(ADDRESS) NULL};

const zb__codec_ops *zb__codec_at(size_t i) {
    return table[i];
}

const zb__codec_ops *zb__codec_find(const char *name) {
    for (size_t i = 0; table[i]; i++) {
        const char *old_name = table[i]->old_name;
        if (zb__name_is(table[i]->name, name) || (old_name && zb__name_is(old_name, name)))
            return table[i];
    }
    return NULL;
}

/* ---- Codecs that are refused -------------------------------------------------------------- */

#define REWRITE "; rewrite the array with zarr-python and a codec of docs/format-support.md"

/* As for the data type of that name (types/dtype.c). */
#define OPTIONAL                                                                                   \
    "a draft whose elements may be null; write the values and the mask as two arrays, with zarrs"

#define LACKS(program, library)                                                                    \
    "this build has no " program "; build zarrbridge with " library " to have it"

/* Where this build has a codec, it is found in the table above. */
static const struct {
    const char *name, *reason;
} refused[] = {
    {"numcodecs.bz2", LACKS("bzip2", "libbz2")},
    {"numcodecs.lzma", LACKS("lzma", "liblzma")},
    {"zfp", LACKS("zfp", "libzfp")},
    {"numcodecs.zfpy", LACKS("zfp", "libzfp")},
    {"optional", OPTIONAL},
    {"zarrs.optional", OPTIONAL},
    {"gribberish", "its chunks are GRIB messages: open the GRIB files themselves with GDAL"},
    {"pcodec", "pcodec has no C library" REWRITE},
    {"numcodecs.pcodec", "pcodec has no C library" REWRITE},
    {"numcodecs.json2", "objects of Python are not read" REWRITE},
    {"numcodecs.pickle", "it would run code from the store: never read"},
    {"n5_default", "no program is known that writes it"},
    {"conditional", "no program is known that writes it"},
};

const char *zb__codec_refusal(const char *name) {
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (strcmp(refused[i].name, name) == 0)
            return refused[i].reason;
    }
    return NULL;
}
