/* SPDX-License-Identifier: MIT */
/*
 * The blosc codec: a bounded decoder of the Blosc 1 container. Containers are made in
 * blosc_encode.c.
 *
 *   16 bytes  version, version of the compressor's format, flags, typesize; then, as 32-bit
 *             little-endian integers, decoded size, block size, encoded size (this header included)
 *   starts    for each block, where in the container it begins (32 bits); not present when the
 *             data are stored (ZB__BLOSC_STORED), which then follow at once
 *   blocks    each one stream, or `typesize` streams of equal decoded size when it was split; each
 *             stream is preceded by its length. A stream as long as its content is not compressed;
 *             one of snappy may be longer.
 *
 * Blocks are filtered (shuffled) one by one. The last may be smaller and is never split. Writers
 * with several threads put blocks down in the order of completion, so the starts need not ascend.
 *
 * No allocation has a size that the container states: blocks are decoded straight into their place
 * in the destination, or, when filtered, into one scratch block, which is no larger than the
 * destination. Only blocks that overlap the wanted bytes are decoded.
 */
#include "codec/blosc.h"

#include <libdeflate.h>
#include <limits.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/configuration.h"
#include "codec/deflate.h"
#include "codec/zstd.h"
#include "util/bytes.h"
#include "util/checked.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

typedef struct container {
    const uint8_t *in;
    size_t size;        /* encoded */
    size_t decoded;     /* fits an int, as do all of its parts */
    size_t block_size;  /* at least 1 unless decoded is 0 */
    size_t block_count; /* 0 when stored */
    size_t typesize;    /* 1 to 255 */
    uint8_t flags;
    enum zb__blosc_format format;
} container;

/* ---- Header ------------------------------------------------------------------------------- */

static enum zb_code check_flags(const container *c, uint8_t version, uint8_t format_version,
                                zb_error *err) {
    if (version < 1 || version > 2)
        return zb_fail(err, ZB_EUNSUPPORTED, "blosc: container version is %u, expected 1 or 2",
                       version);
    bool both = (c->flags & ZB__BLOSC_SHUFFLE) && (c->flags & ZB__BLOSC_BITSHUFFLE);
    if (c->flags & ZB__BLOSC_RESERVED || both || (version == 1 && c->flags & ZB__BLOSC_BITSHUFFLE))
        return zb_fail(err, ZB_EUNSUPPORTED, "blosc: flags are 0x%02x in a container of version %u",
                       c->flags, version);
    if (c->flags & ZB__BLOSC_STORED)
        return ZB_OK;
    if (c->format > ZB__BLOSC_ZSTD || format_version != 1)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "blosc: compressor format %d of version %u is not known", (int)c->format,
                       format_version);
    return ZB_OK;
}

static enum zb_code check_sizes(container *c, size_t said, zb_error *err) {
    if (said != c->size)
        return zb_fail(err, ZB_EFORMAT, "blosc: the data have %zu bytes, the header says %zu",
                       c->size, said);
    bool stored = c->flags & ZB__BLOSC_STORED || c->decoded == 0;
    if (c->decoded > INT32_MAX || c->size > c->decoded + ZB__BLOSC_HEADER ||
        (stored && c->size < c->decoded + ZB__BLOSC_HEADER))
        return zb_fail(err, ZB_EFORMAT, "blosc: %zu bytes cannot hold %zu %s bytes", c->size,
                       c->decoded, stored ? "stored" : "compressed");
    if (c->typesize == 0)
        return zb_fail(err, ZB_EFORMAT, "blosc: typesize is 0");
    if (stored)
        return ZB_OK;
    if (c->block_size == 0 || c->block_size > c->decoded)
        return zb_fail(err, ZB_EFORMAT, "blosc: block size is %zu, expected 1 to %zu",
                       c->block_size, c->decoded);
    c->block_count = (c->decoded - 1) / c->block_size + 1;
    if ((c->size - ZB__BLOSC_HEADER) / 4 < c->block_count)
        return zb_fail(err, ZB_EFORMAT, "blosc: %zu bytes are too few for %zu blocks", c->size,
                       c->block_count);
    return ZB_OK;
}

static enum zb_code read_header(const uint8_t *in, size_t size, container *c, zb_error *err) {
    if (size < ZB__BLOSC_HEADER)
        return zb_fail(err, ZB_EFORMAT, "blosc: %zu bytes are too few for a header", size);
    *c = (container){.in = in,
                     .size = size,
                     .decoded = zb__load_le32(in + 4),
                     .block_size = zb__load_le32(in + 8),
                     .typesize = in[3],
                     .flags = in[2],
                     .format = in[2] >> ZB__BLOSC_FORMAT_SHIFT};
    enum zb_code code = check_flags(c, in[0], in[1], err);
    return code ? code : check_sizes(c, zb__load_le32(in + 12), err);
}

enum zb_code zb__blosc_check(const uint8_t *in, size_t size, size_t decoded, zb_error *err) {
    container c = {0};
    enum zb_code code = read_header(in, size, &c, err);
    if (!code && c.decoded != decoded)
        code = zb_fail(err, ZB_EFORMAT, "blosc: the data decode to %zu bytes, expected %zu",
                       c.decoded, decoded);
    return code;
}

bool zb__blosc_has_sums(const uint8_t *in, size_t size) {
    return size >= ZB__BLOSC_HEADER && in[2] >> ZB__BLOSC_FORMAT_SHIFT == ZB__BLOSC_ZLIB;
}

/* ---- One block of one stream --- */

#define STREAM_AT ZB__BLOSC_AROUND /* behind the header, the block's start, the stream's length */

bool zb__blosc_can_wrap(const zb__blosc_single *single) {
    return single->typesize > 1 && single->typesize <= 255 &&
           single->decoded <= INT32_MAX / 3 - 255 * 4 && /* what libblosc takes as a block */
           single->decoded > ZB__BLOSC_AROUND - ZB__BLOSC_HEADER &&
           single->size <= single->decoded - (ZB__BLOSC_AROUND - ZB__BLOSC_HEADER);
}

size_t zb__blosc_wrap(const zb__blosc_single *single, uint8_t *out) {
    const size_t size = STREAM_AT + single->size;
    out[0] = 2; /* of the container's format */
    out[1] = 1; /* of the compressor's */
    out[2] = (uint8_t)(single->format << ZB__BLOSC_FORMAT_SHIFT | ZB__BLOSC_SHUFFLE |
                       ZB__BLOSC_NOT_SPLIT);
    out[3] = (uint8_t)single->typesize;
    zb__store_le32(out + 4, (uint32_t)single->decoded);
    zb__store_le32(out + 8, (uint32_t)single->decoded);
    zb__store_le32(out + 12, (uint32_t)size);
    zb__store_le32(out + 16, 20); /* the block */
    zb__store_le32(out + 20, (uint32_t)single->size);
    memcpy(out + STREAM_AT, single->stream, single->size);
    return size;
}

bool zb__blosc_unwrap(const uint8_t *in, size_t size, zb__blosc_single *single) {
    container c = {0};
    if (read_header(in, size, &c, NULL) || c.block_count != 1 || size < STREAM_AT ||
        !(c.flags & ZB__BLOSC_SHUFFLE) || c.typesize == 1 || c.decoded % c.typesize)
        return false;
    const bool split = !(c.flags & ZB__BLOSC_NOT_SPLIT) && c.typesize <= ZB__BLOSC_SPLIT_TYPESIZE &&
                       c.decoded / c.typesize >= ZB__BLOSC_SPLIT_SIZE;
    *single = (zb__blosc_single){.format = c.format,
                                 .typesize = c.typesize,
                                 .decoded = c.decoded,
                                 .stream = in + STREAM_AT,
                                 .size = size - STREAM_AT};
    return !split && zb__load_le32(in + 16) == 20 && zb__load_le32(in + 20) == single->size &&
           single->size < c.decoded;
}

/* ---- Streams and blocks ------------------------------------------------------------------- */

/* *produced gets the decoded size, or 0 when the stream is damaged. An error is returned only where
   there is more to say. */
static enum zb_code decode_stream(enum zb__blosc_format format, zb__scratch *scratch,
                                  const uint8_t *in, size_t size, uint8_t *out, size_t capacity,
                                  size_t *produced, zb_error *err) {
    size_t consumed;
    int lz4;
    struct libdeflate_decompressor *decoder;
    enum zb_code code;
    *produced = 0;
    switch (format) {
    case ZB__BLOSC_BLOSCLZ:
        *produced = zb__blosclz_decode(in, size, out, capacity);
        return ZB_OK;
    case ZB__BLOSC_LZ4:
        lz4 = LZ4_decompress_safe((const char *)in, (char *)out, (int)size, (int)capacity);
        *produced = lz4 > 0 ? (size_t)lz4 : 0;
        return ZB_OK;
    case ZB__BLOSC_ZSTD:
        return zb__zstd_decode(scratch, in, size, out, capacity, produced, err);
    case ZB__BLOSC_ZLIB:
        code = zb__deflate_decoder(scratch, &decoder, err);
        if (!code && (libdeflate_zlib_decompress_ex(decoder, in, size, out, capacity, &consumed,
                                                    produced) != LIBDEFLATE_SUCCESS ||
                      consumed != size))
            *produced = 0;
        return code;
    case ZB__BLOSC_SNAPPY:
        *produced = zb__snappy_decode(in, size, out, capacity);
        return ZB_OK;
    }
    return ZB_OK;
}

/* Decodes the streams of the block that begins at `at` into out[0..size), still filtered. */
static enum zb_code decode_streams(const container *c, zb__scratch *scratch, size_t at,
                                   size_t streams, uint8_t *out, size_t size, zb_error *err) {
    size_t part = size / streams;
    for (size_t i = 0; i < streams; i++, out += part) {
        size_t length = c->size - at < 4 ? SIZE_MAX : zb__load_le32(c->in + at);
        bool longer = length > part && c->format != ZB__BLOSC_SNAPPY;
        if (length == 0 || longer || length > c->size - at - 4)
            return zb_fail(err, ZB_EFORMAT,
                           "stream %zu at byte %zu does not fit: length %zu, decoded %zu", i, at,
                           length, part);
        at += 4;
        size_t produced = part;
        enum zb_code code = ZB_OK;
        if (length == part)
            memcpy(out, c->in + at, part);
        else
            code = decode_stream(c->format, scratch, c->in + at, length, out, part, &produced, err);
        if (code)
            return code;
        if (produced != part)
            return zb_fail(err, ZB_EFORMAT, "stream %zu at byte %zu is damaged", i, at);
        at += length;
    }
    return ZB_OK;
}

static enum zb_code decode_block(const container *c, zb__scratch *scratch, size_t block,
                                 uint8_t *out, zb_error *err) {
    size_t first = block * c->block_size;
    bool last_and_smaller = c->decoded - first < c->block_size;
    size_t size = last_and_smaller ? c->decoded - first : c->block_size;
    size_t at = zb__load_le32(c->in + ZB__BLOSC_HEADER + 4 * block);
    if (at < ZB__BLOSC_HEADER + 4 * c->block_count || at > c->size)
        return zb_fail(err, ZB_EFORMAT, "the block starts at byte %zu of %zu", at, c->size);

    /* The conditions on size are part of the format: they decided before there was a flag. */
    bool split = !(c->flags & ZB__BLOSC_NOT_SPLIT) && !last_and_smaller &&
                 c->typesize <= ZB__BLOSC_SPLIT_TYPESIZE &&
                 size / c->typesize >= ZB__BLOSC_SPLIT_SIZE;
    if (split && size % c->typesize)
        return zb_fail(err, ZB_EFORMAT, "blocks of %zu bytes are split into %zu", size,
                       c->typesize);

    bool shuffled = c->flags & ZB__BLOSC_SHUFFLE && c->typesize > 1;
    bool bitshuffled = c->flags & ZB__BLOSC_BITSHUFFLE && size >= c->typesize;
    uint8_t *filtered = shuffled || bitshuffled ? scratch->block.data : out;
    enum zb_code code =
        decode_streams(c, scratch, at, split ? c->typesize : 1, filtered, size, err);
    if (code)
        return code;
    if (shuffled)
        zb__unshuffle(zb__simd_best(), c->typesize, filtered, size, out);
    else if (bitshuffled)
        zb__bitunshuffle(zb__simd_best(), c->typesize, filtered, size, out);
    return ZB_OK;
}

static enum zb_code blosc_decode(const void *state, zb__scratch *scratch, const uint8_t *in,
                                 size_t size, zb__sink *sink, zb_error *err) {
    (void)state;
    container c = {0};
    enum zb_code code = read_header(in, size, &c, err);
    if (code)
        return code;
    if (c.decoded > sink->capacity || (sink->exact && c.decoded < sink->capacity))
        return zb_fail(err, ZB_EFORMAT, "blosc: the data decode to %zu bytes, expected %s%zu",
                       c.decoded, sink->exact ? "" : "at most ", sink->capacity);
    sink->size = c.decoded;
    size_t hi = sink->hi < c.decoded ? sink->hi : c.decoded;
    if (sink->lo >= hi)
        return ZB_OK;
    if (c.flags & ZB__BLOSC_STORED) {
        memcpy(sink->data + sink->lo, in + ZB__BLOSC_HEADER + sink->lo, hi - sink->lo);
        return ZB_OK;
    }
    if (c.flags & (ZB__BLOSC_SHUFFLE | ZB__BLOSC_BITSHUFFLE))
        code = zb__buffer_reserve(&scratch->block, c.block_size, err);
    size_t first = sink->lo / c.block_size, end = (hi - 1) / c.block_size + 1;
    for (size_t block = first; !code && block < end; block++) {
        code = decode_block(&c, scratch, block, sink->data + block * c.block_size, err);
        if (code)
            return zb_error_prefix(err, code, "blosc: block %zu", block);
    }
    if (!code && c.decoded == sink->capacity) {
        sink->lo = first * c.block_size;
        sink->hi = end * c.block_size < c.decoded ? end * c.block_size : c.decoded;
    }
    return code;
}

/* ---- Metadata ----------------------------------------------------------------------------- */

/* The codec and numcodecs.blosc differ in defaults, and in the form of `shuffle`. The container
   says all that decoding needs; these are for encoding. */
static const char *const compressors[] = {"lz4",  "lz4hc",  "blosclz", "zstd",
                                          "zlib", "snappy", NULL};
static const enum zb__blosc_format formats[] = {ZB__BLOSC_LZ4,  ZB__BLOSC_LZ4,  ZB__BLOSC_BLOSCLZ,
                                                ZB__BLOSC_ZSTD, ZB__BLOSC_ZLIB, ZB__BLOSC_SNAPPY};

#define COMPRESSOR_LZ4 0
#define COMPRESSOR_ZSTD 3

/* The size of an element for the container's `typesize`. */
static uint32_t item_size(const zb__binding *binding) {
    return zb_dtype_is_variable(binding->dtype) ? 1 : binding->dtype.size;
}

/* All members but `shuffle`. *state is made with codec->shuffle 0. */
static enum zb_code parse(const zb_json *configuration, const zb__binding *binding,
                          size_t compressor, void **state, zb_error *err) {
    zb__blosc *codec = zb__codec_new_state(sizeof *codec, state, err);
    if (!codec)
        return ZB_ENOMEM;
    uint32_t item = item_size(binding);
    int typesize = item < INT_MAX ? (int)item : INT_MAX, block_size = 0;
    codec->level = 5;
    enum zb_code code =
        zb__configuration_choice(configuration, "cname", compressors, &compressor, err);
    if (!code)
        code = zb__configuration_integer(configuration, "clevel", 0, 9, &codec->level, err);
    if (!code && zb__configuration_given(configuration, "typesize"))
        code = zb__configuration_integer(configuration, "typesize", 1, INT_MAX, &typesize, err);
    if (!code)
        code = zb__configuration_integer(configuration, "blocksize", 0, INT_MAX, &block_size, err);
    codec->compressor = compressors[compressor];
    codec->format = formats[compressor];
    codec->typesize = (size_t)typesize;
    codec->block_size = (size_t)block_size;
    return code;
}

static enum zb_code blosc_parse(const zb_json *configuration, const zb__binding *binding,
                                void **state, zb_error *err) {
    static const char *const shuffles[] = {"noshuffle", "shuffle", "bitshuffle", NULL};
    size_t shuffle = item_size(binding) > 1 ? 1 : 2;
    enum zb_code code = parse(configuration, binding, COMPRESSOR_ZSTD, state, err);
    if (!code)
        code = zb__configuration_choice(configuration, "shuffle", shuffles, &shuffle, err);
    if (!code)
        ((zb__blosc *)*state)->shuffle = (int)shuffle;
    return code;
}

/* -1 stands for bits where elements have one byte, and bytes else. */
static enum zb_code numcodecs_parse(const zb_json *configuration, const zb__binding *binding,
                                    void **state, zb_error *err) {
    int shuffle = 1;
    enum zb_code code = parse(configuration, binding, COMPRESSOR_LZ4, state, err);
    if (!code)
        code = zb__configuration_integer(configuration, "shuffle", -1, 2, &shuffle, err);
    if (!code && shuffle < 0)
        shuffle = item_size(binding) > 1 ? 1 : 2;
    if (!code)
        ((zb__blosc *)*state)->shuffle = shuffle;
    return code;
}

/* The format takes at most 255 as the size of an element, and shuffles larger ones as single
   bytes. */
static void print_typesize(zb_json_writer *writer, const char *member, zb_dtype dtype) {
    (void)member;
    bool is_number = dtype.size <= 255 && !zb_dtype_is_variable(dtype);
    zb_json_write_uint64(writer, is_number ? dtype.size : 1);
}

static const char *const members[] = {"typesize", "cname", "clevel", "shuffle", "blocksize", NULL};
static const char *const defaults[] = {NULL, "\"zstd\"", "5", "\"shuffle\"", "0"};
static const char *const numcodecs_members[] = {"cname",     "clevel",   "shuffle",
                                                "blocksize", "typesize", NULL};
static const char *const numcodecs_defaults[] = {"\"lz4\"", "5", "1", "0", NULL};

#define OPERATIONS                                                                                 \
    {.stream = ZB__STREAM_BLOSC,                                                                   \
     .decode = blosc_decode,                                                                       \
     .encode_bound = zb__blosc_encode_bound,                                                       \
     .encode = zb__blosc_encode,                                                                   \
     .fixed_overhead = -1,                                                                         \
     .is_partial = true,                                                                           \
     .cost = 500}

const zb__codec_ops zb__codec_blosc = {
    .name = "blosc",
    .kind = ZB__BYTES_TO_BYTES,
    .members = members,
    .defaults = defaults,
    .print_default = print_typesize,
    .parse = blosc_parse,
    .free = free,
    .bytes = OPERATIONS,
};

const zb__codec_ops zb__codec_numcodecs_blosc = {
    .name = "numcodecs.blosc",
    .kind = ZB__BYTES_TO_BYTES,
    .members = numcodecs_members,
    .defaults = numcodecs_defaults,
    .print_default = print_typesize,
    .parse = numcodecs_parse,
    .free = free,
    .bytes = OPERATIONS,
};
