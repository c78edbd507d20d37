/* SPDX-License-Identifier: MIT */
/* The table of codecs of all kinds. */
#include "codec/table.h"

#include "base/names.h"

/* A line for each codec NAME: the constant zb__codec_NAME, which is in the codec's own file. */
/* clang-format off */
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
    line(zfp) \
    line(numcodecs_zfpy) \
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
    line(numcodecs_bz2) \
    line(numcodecs_lzma) \
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
