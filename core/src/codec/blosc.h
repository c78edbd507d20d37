/* SPDX-License-Identifier: MIT */
/* The declarations that both halves of the blosc codec share: blosc.c, which decodes, and
   blosc_encode.c. */
#ifndef ZB_CODEC_BLOSC_H
#define ZB_CODEC_BLOSC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* A container of one block that is one stream of shuffled bytes: what HDF5's filter shuffle and a
   compressor behind it make of a chunk, in blosc's wrapping. */
typedef struct zb__blosc_single {
    enum zb__blosc_format format;
    size_t typesize, decoded; /* bytes */
    const uint8_t *stream;
    size_t size; /* of the stream */
} zb__blosc_single;

#define ZB__BLOSC_AROUND 24 /* bytes besides the stream */

/* Whether there can be such a container: its stream has to be shorter than what it decodes to. */
bool zb__blosc_can_wrap(const zb__blosc_single *single);
/* Makes one; its size. */
size_t zb__blosc_wrap(const zb__blosc_single *single, uint8_t *out);
/* Whether a container is one. False for damage, too. */
bool zb__blosc_unwrap(const uint8_t *in, size_t size, zb__blosc_single *single);
/* ZB_EFORMAT, ZB_EUNSUPPORTED for a header that does not go with the sizes; decodes nothing. */
/* Whether the streams in a container have checksums: those of zlib. */
bool zb__blosc_has_sums(const uint8_t *in, size_t size);

enum zb_code zb__blosc_check(const uint8_t *in, size_t size, size_t decoded, zb_error *err);

/* BloscLZ, blosc's own compressor (an LZ77 of bytes, a relative of FastLZ), and snappy, for the
   streams inside blosc. */

/* Both decode in[0..size) into out; the decoded size, at most capacity, or 0 when the stream is
   damaged, empty or holds more. They read and write nothing beyond the two buffers, whatever the
   input. */
size_t zb__blosclz_decode(const uint8_t *in, size_t size, uint8_t *out, size_t capacity);
size_t zb__snappy_decode(const uint8_t *in, size_t size, uint8_t *out, size_t capacity);

/* Both make a stream of the matches in an LZ4 block that this process has made, which decodes to
   `decoded` bytes. They return its size, or 0 when it needs more than `capacity` bytes. */
size_t zb__blosclz_encode(const uint8_t *lz4, size_t size, uint8_t *out, size_t capacity);
size_t zb__snappy_encode(const uint8_t *lz4, size_t size, size_t decoded, uint8_t *out,
                         size_t capacity);

/* Blosc's filters, which bring like bytes, or like bits, of elements together; and their
   inverses. */

/* The instructions to use. Callers ask for the best; tests ask for each. */
enum zb__simd { ZB__SIMD_NONE, ZB__SIMD_SSE2, ZB__SIMD_AVX2 };

/* The best instructions that this processor has. */
enum zb__simd zb__simd_best(void);

/* Byte planes (byte 0 of all elements, then byte 1, ...) become elements of typesize bytes. The
   size % typesize bytes behind the last whole element are copied. Buffers do not overlap. */
void zb__unshuffle(enum zb__simd simd, size_t typesize, const uint8_t *in, size_t size,
                   uint8_t *out);

/* The same with bit planes (bit 0 of byte 0 of all elements, bit 1, ...), eight elements to a byte.
   Where the number of whole elements is not a multiple of 8, blosc leaves the block as it is. */
void zb__bitunshuffle(enum zb__simd simd, size_t typesize, const uint8_t *in, size_t size,
                      uint8_t *out);

/* The filters: elements become planes. */
void zb__shuffle(enum zb__simd simd, size_t typesize, const uint8_t *in, size_t size, uint8_t *out);
void zb__bitshuffle(enum zb__simd simd, size_t typesize, const uint8_t *in, size_t size,
                    uint8_t *out);

#endif
