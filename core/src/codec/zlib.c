/* SPDX-License-Identifier: MIT */
/*
 * The codec numcodecs.zlib, as zarr-python writes it: one zlib stream (RFC 1950), which is a header
 * of two bytes, a deflate stream and the Adler-32 of the content.
 *
 * Header and checksum are looked at here, so that a damaged checksum can be told from damaged data.
 */
#include <libdeflate.h>
#include <stdlib.h>

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

static enum zb_code zlib_decode(const void *state, zb__scratch *scratch, const uint8_t *in,
                                size_t size, zb__sink *sink, zb_error *err) {
    (void)state;
    size_t consumed = 0, produced = 0;
    enum zb_code code = check_header(in, size, err);
    if (!code)
        code = zb__deflate_decode("zlib", scratch, in + HEADER_SIZE, size - HEADER_SIZE, sink->data,
                                  sink->capacity, &consumed, &produced, err);
    if (code)
        return code;
    size_t trailer_at = HEADER_SIZE + consumed;
    if (size - trailer_at != TRAILER_SIZE)
        return zb_fail(err, ZB_EFORMAT, "zlib: %zu bytes where the %d of the checksum should be",
                       size - trailer_at, TRAILER_SIZE);
    sink->size = produced;
    if (sink->exact && produced != sink->capacity)
        return zb_fail(err, ZB_EFORMAT, "zlib: the data decode to %zu bytes, expected %zu",
                       produced, sink->capacity);
    return check_trailer(in + trailer_at, sink->data, produced, err);
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
    .bytes = {.decode = zlib_decode,
              .encode_bound = zlib_encode_bound,
              .encode = zlib_encode,
              .fixed_overhead = -1,
              .cost = 1600},
};
