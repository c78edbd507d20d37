/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a stream of any bytes-to-bytes codec. Six bytes come before the stream: the codec
 * (bits 0, 1 and 3 to 7) and whether the size is exact (bit 2), the capacity (three), and the
 * places in it where the wanted part begins and ends (in 256ths).
 */
#include "fuzz.h"
#include "fuzz_decode.h"
#include "codec/table.h"

#define HEAD 6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const names[] = {
        "zstd",
        "gzip",
        "blosc",
        "crc32c",
        "numcodecs.zlib",
        "numcodecs.lz4",
        "numcodecs.shuffle",
        "numcodecs.crc32",
        "numcodecs.adler32",
        "numcodecs.crc32c",
        "numcodecs.fletcher32",
        "numcodecs.jenkins_lookup3",
#ifdef ZB_HAVE_BZ2
        "numcodecs.bz2",
#else
        "numcodecs.lz4",
#endif
#ifdef ZB_HAVE_LZMA
        "numcodecs.lzma",
#endif
    };
    if (size < HEAD)
        return 0;
    unsigned number = (data[0] & 3u) | (data[0] >> 3 << 2);
    if (number >= sizeof names / sizeof *names)
        return 0;
    const zb__codec_ops *ops = zb__codec_find(names[number]);
    REQUIRE(ops);
    bool exact = data[0] & 4;
    size_t capacity = (size_t)data[1] | (size_t)data[2] << 8 | (size_t)(data[3] & 7) << 16;
    size_t hi = capacity * data[5] / 255, lo = hi * data[4] / 255;
    fuzz_decode(ops, data + HEAD, size - HEAD, capacity, exact, lo, hi);
    return 0;
}
