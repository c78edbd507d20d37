/* SPDX-License-Identifier: MIT */
/*
 * The codec numcodecs.zlib, as zarr-python writes it: one zlib stream (RFC 1950), which is a header
 * of two bytes, a deflate stream and the Adler-32 of the content.
 *
 * Header and checksum are looked at here, so that a damaged checksum can be told from damaged data.
 */
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/configuration.h"
#include "codec/deflate.h"

#define HEADER_SIZE 2
#define TRAILER_SIZE 4
#define LEVEL_OF_ZLIB 6 /* the level that -1 stands for */

/* ---- Decoding ----------------------------------------------------------------------------- */

static enum zb_code check_header(const uint8_t *in, size_t size, zb_error *err) {
    if (size < HEADER_SIZE)
        return zb_fail(err, ZB_EFORMAT, "zlib: %zu bytes where a stream should be", size);
    bool is_deflate = (in[0] & 15) == 8 && in[0] >> 4 <= 7; /* with a window of at most 32 KiB */
    if (!is_deflate || (in[0] << 8 | in[1]) % 31)
        return zb_fail(err, ZB_EFORMAT,
                       "zlib: the stream begins with %02x %02x, which is no header", in[0], in[1]);
    if (in[1] & 0x20)
        return zb_fail(err, ZB_EUNSUPPORTED, "zlib: the stream needs a dictionary");
    return ZB_OK;
}

static enum zb_code check_trailer(const uint8_t *in, const uint8_t *content, size_t size,
                                  zb_error *err) {
    uint32_t adler = libdeflate_adler32(1, content, size);
    uint32_t expected =
        (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
    return adler == expected ? ZB_OK
                             : zb_fail(err, ZB_ECHECKSUM,
                                       "zlib: adler32 is 0x%08x, expected 0x%08x", adler, expected);
}

/* All but the checksum. */
static enum zb_code decode_stream(zb__scratch *scratch, const uint8_t *in, size_t size,
                                  uint8_t *out, size_t capacity, zb__deflated *opened,
                                  zb_error *err) {
    *opened = (zb__deflated){.content = out};
    enum zb_code code = check_header(in, size, err);
    if (!code)
        code = zb__deflate_decode("zlib", scratch, in + HEADER_SIZE, size - HEADER_SIZE, out,
                                  capacity, &opened->stream_size, &opened->content_size, err);
    if (code)
        return code;
    opened->stream = in + HEADER_SIZE;
    const size_t rest = size - HEADER_SIZE - opened->stream_size;
    return rest == TRAILER_SIZE
               ? ZB_OK
               : zb_fail(err, ZB_EFORMAT, "zlib: %zu bytes where the %d of the checksum should be",
                         rest, TRAILER_SIZE);
}

enum zb_code zb__zlib_open(zb__scratch *scratch, const uint8_t *in, size_t size, uint8_t *out,
                           size_t capacity, zb__deflated *opened, zb_error *err) {
    enum zb_code code = decode_stream(scratch, in, size, out, capacity, opened, err);
    return code ? code
                : check_trailer(opened->stream + opened->stream_size, out, opened->content_size,
                                err);
}

/* 0x78: deflate with a window of 32 KiB; then a hint about the level, which makes both a multiple
   of 31. */
size_t zb__zlib_close(const zb__deflated *opened, int level, uint8_t *out) {
    const uint32_t adler = libdeflate_adler32(1, opened->content, opened->content_size);
    const uint8_t trailer[TRAILER_SIZE] = {(uint8_t)(adler >> 24), (uint8_t)(adler >> 16),
                                           (uint8_t)(adler >> 8), (uint8_t)adler};
    level = level < 0 ? LEVEL_OF_ZLIB : level;
    out[0] = 0x78;
    out[1] = level < 2 ? 0x01 : level < 6 ? 0x5e : level == 6 ? 0x9c : 0xda;
    memcpy(out + HEADER_SIZE, opened->stream, opened->stream_size);
    memcpy(out + HEADER_SIZE + opened->stream_size, trailer, TRAILER_SIZE);
    return HEADER_SIZE + opened->stream_size + TRAILER_SIZE;
}

static enum zb_code zlib_decode(const void *state, zb__scratch *scratch, const uint8_t *in,
                                size_t size, zb__sink *sink, zb_error *err) {
    zb__deflated opened;
    (void)state;
    enum zb_code code = decode_stream(scratch, in, size, sink->data, sink->capacity, &opened, err);
    if (code)
        return code;
    sink->size = opened.content_size;
    if (sink->exact && opened.content_size != sink->capacity)
        return zb_fail(err, ZB_EFORMAT, "zlib: the data decode to %zu bytes, expected %zu",
                       opened.content_size, sink->capacity);
    return check_trailer(opened.stream + opened.stream_size, sink->data, opened.content_size, err);
}

/* ---- Encoding ----------------------------------------------------------------------------- */

static uint64_t zlib_encode_bound(uint64_t size) {
    /* The bound holds for any level. Half of the address space leaves the library's sum room. */
    return size > SIZE_MAX / 2 ? UINT64_MAX : libdeflate_zlib_compress_bound(NULL, (size_t)size);
}

static enum zb_code zlib_encode(const void *state, zb__scratch *scratch, const uint8_t *in,
                                size_t size, uint8_t *out, size_t capacity, size_t *written,
                                zb_error *err) {
    struct libdeflate_compressor *encoder;
    int level = *(const int *)state < 0 ? LEVEL_OF_ZLIB : *(const int *)state;
    enum zb_code code = zb__deflate_encoder(scratch, level, &encoder, err);
    if (code)
        return code;
    *written = libdeflate_zlib_compress(encoder, in, size, out, capacity);
    return *written ? ZB_OK
                    : zb_fail(err, ZB_EINVAL, "zlib: %zu bytes cannot be encoded into %zu", size,
                              capacity);
}

/* ---- Metadata ----------------------------------------------------------------------------- */

static enum zb_code zlib_parse(const zb_json *configuration, const zb__binding *binding,
                               void **state, zb_error *err) {
    (void)binding;
    return zb__configuration_state(configuration, "level", -1, ZB__DEFLATE_LEVELS - 1, 1, state,
                                   err);
}

static const char *const members[] = {"level", NULL};
static const char *const defaults[] = {"1"};

const zb__codec_ops zb__codec_zlib = {
    .name = "numcodecs.zlib",
    .kind = ZB__BYTES_TO_BYTES,
    .members = members,
    .defaults = defaults,
    .parse = zlib_parse,
    .free = free,
    .bytes = {.stream = ZB__STREAM_ZLIB,
              .decode = zlib_decode,
              .encode_bound = zlib_encode_bound,
              .encode = zlib_encode,
              .fixed_overhead = -1,
              .cost = 1600},
};
