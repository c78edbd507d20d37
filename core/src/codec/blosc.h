/* SPDX-License-Identifier: MIT */
/* The declarations that both halves of the blosc codec share: blosc.c, which decodes, and
   blosc_encode.c. */
#ifndef ZB_CODEC_BLOSC_H
#define ZB_CODEC_BLOSC_H

#include "codec/codec.h"
#include "zarrbridge/error.h"

#define ZB__BLOSC_HEADER 16 /* bytes */

#define ZB__BLOSC_SHUFFLE 0x01
#define ZB__BLOSC_STORED 0x02
#define ZB__BLOSC_BITSHUFFLE 0x04
#define ZB__BLOSC_RESERVED 0x08
#define ZB__BLOSC_NOT_SPLIT 0x10
#define ZB__BLOSC_FORMAT_SHIFT 5 /* the compressor, in the three high bits */

enum zb__blosc_format {
    ZB__BLOSC_BLOSCLZ,
    ZB__BLOSC_LZ4,
    ZB__BLOSC_SNAPPY,
    ZB__BLOSC_ZLIB,
    ZB__BLOSC_ZSTD
};

/* Blocks are split only if typesize is at most this, and each part has at least that many bytes. */
#define ZB__BLOSC_SPLIT_TYPESIZE 16
#define ZB__BLOSC_SPLIT_SIZE 128

/* The state of a bound codec. Encoding alone needs it. */
typedef struct zb__blosc {
    const char *compressor; /* a constant */
    enum zb__blosc_format format;
    int level;   /* the configuration calls it clevel */
    int shuffle; /* 0 none, 1 bytes, 2 bits: as in libblosc */
    size_t typesize;
    size_t block_size; /* 0: the encoder's choice */
} zb__blosc;

/* As in zb__bytes_ops. */
uint64_t zb__blosc_encode_bound(uint64_t size);
enum zb_code zb__blosc_encode(const void *state, zb__scratch *scratch, const uint8_t *in,
                              size_t size, uint8_t *out, size_t capacity, size_t *written,
                              zb_error *err);

#endif
