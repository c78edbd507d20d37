/* SPDX-License-Identifier: MIT */
/*
 * The gzip codec (RFC 1952): one or more members, each a header, a deflate stream, a CRC-32 and the
 * size.
 *
 * The header is read here and only the deflate stream handed to libdeflate, so that all optional
 * fields are accepted and a damaged checksum can be told from damaged data. The size at the end is
 * compared, never used: libdeflate writes into the rest of the destination and stops there.
 *
 * We write one member without name and time, so that equal chunks are equal objects.
 */
#include <inttypes.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/configuration.h"
#include "codec/deflate.h"
#include "util/bytes.h"
#include "zarrbridge/json.h"
#include "zarrbridge/limits.h"

#define HEADER_SIZE 10
#define TRAILER_SIZE 8 /* CRC-32, then the content's size modulo 2^32 */

/* Bits of the header's fourth byte; bit 0 (text) is a hint, bits 5 to 7 must be zero. */
#define FLAG_HEADER_CRC 0x02
#define FLAG_EXTRA 0x04
#define FLAG_NAME 0x08
#define FLAG_COMMENT 0x10
#define FLAGS_RESERVED 0xe0

/* Moves *at behind a text that ends with a NUL; false when it does not end. */
static bool skip_text(const uint8_t *in, size_t size, size_t *at) {
    const uint8_t *end = memchr(in + *at, 0, size - *at);
    if (end)
        *at = (size_t)(end - in) + 1;
    return end;
}

/* Moves *at behind a length of two bytes and as many bytes as it says. */
static bool skip_extra(const uint8_t *in, size_t size, size_t *at) {
    if (size - *at < 2)
        return false;
    size_t length = 2 + (size_t)zb__load_le16(in + *at);
    if (size - *at < length)
        return false;
    *at += length;
    return true;
}

/* *header_size gets the length of the member's header, with all its optional fields. */
static enum zb_code read_header(const uint8_t *in, size_t size, size_t *header_size,
                                zb_error *err) {
    if (size < HEADER_SIZE)
        return zb_fail(err, ZB_EFORMAT, "gzip: %zu bytes where a member should be", size);
    if (in[0] != 0x1f || in[1] != 0x8b)
        return zb_fail(err, ZB_EFORMAT, "gzip: a member begins with %02x %02x, expected 1f 8b",
                       in[0], in[1]);
    uint8_t flags = in[3];
    if (in[2] != 8 || flags & FLAGS_RESERVED)
        return zb_fail(err, ZB_EFORMAT,
                       "gzip: method is %u with flags 0x%02x, expected 8 (deflate)", in[2], flags);
    size_t at = HEADER_SIZE;
    bool complete = (!(flags & FLAG_EXTRA) || skip_extra(in, size, &at)) &&
                    (!(flags & FLAG_NAME) || skip_text(in, size, &at)) &&
                    (!(flags & FLAG_COMMENT) || skip_text(in, size, &at));
    if (complete && flags & FLAG_HEADER_CRC) {
        complete = size - at >= 2;
        uint16_t crc = (uint16_t)libdeflate_crc32(0, in, at);
        if (complete && zb__load_le16(in + at) != crc)
            return zb_fail(err, ZB_ECHECKSUM,
                           "gzip: crc16 of the header is 0x%04x, expected 0x%04x", crc,
                           zb__load_le16(in + at));
        at += 2;
    }
    if (!complete)
        return zb_fail(err, ZB_EFORMAT, "gzip: the data end within a member's header");
    *header_size = at;
    return ZB_OK;
}

static enum zb_code check_trailer(const uint8_t *trailer, const uint8_t *content, size_t size,
                                  zb_error *err) {
    uint32_t crc = libdeflate_crc32(0, content, size);
    uint32_t expected = zb__load_le32(trailer);
    if (crc != expected)
        return zb_fail(err, ZB_ECHECKSUM, "gzip: crc32 is 0x%08x, expected 0x%08x", crc, expected);
    if (zb__load_le32(trailer + 4) != (uint32_t)size)
        return zb_fail(err, ZB_EFORMAT, "gzip: a member decodes to %zu bytes, its trailer says %u",
                       size, zb__load_le32(trailer + 4));
    return ZB_OK;
}

/* Decodes the member at in[0..size), which may be followed by others; *consumed and *produced get
   its encoded and decoded size. */
static enum zb_code decode_member(zb__scratch *scratch, const uint8_t *in, size_t size,
                                  uint8_t *out, size_t capacity, size_t *consumed, size_t *produced,
                                  zb_error *err) {
    size_t header_size = 0, stream_size = 0;
    enum zb_code code = read_header(in, size, &header_size, err);
    if (!code)
        code = zb__deflate_decode("gzip", scratch, in + header_size, size - header_size, out,
                                  capacity, &stream_size, produced, err);
    if (code)
        return code;
    size_t trailer_at = header_size + stream_size;
    if (size - trailer_at < TRAILER_SIZE)
        return zb_fail(err, ZB_EFORMAT, "gzip: the data end within a member's trailer");
    *consumed = trailer_at + TRAILER_SIZE;
    return check_trailer(in + trailer_at, out, *produced, err);
}

enum zb_code zb__gzip_open(zb__scratch *scratch, const uint8_t *in, size_t size, uint8_t *out,
                           size_t capacity, zb__deflated *opened, zb_error *err) {
    size_t header_size = 0, consumed = 0;
    *opened = (zb__deflated){.content = out};
    enum zb_code code = read_header(in, size, &header_size, err);
    if (!code)
        code =
            decode_member(scratch, in, size, out, capacity, &consumed, &opened->content_size, err);
    if (!code && consumed != size)
        code = zb_fail(err, ZB_EUNSUPPORTED, "gzip: there are several members");
    if (code)
        return code;
    opened->stream = in + header_size;
    opened->stream_size = consumed - header_size - TRAILER_SIZE;
    return ZB_OK;
}

size_t zb__gzip_close(const zb__deflated *opened, int level, uint8_t *out) {
    /* No name and no time; hints about the level; no system. */
    const uint8_t header[HEADER_SIZE] = {
        0x1f, 0x8b, 8, 0, 0, 0, 0, 0, level < 2 ? 4 : level >= 8 ? 2 : 0, 255};
    uint8_t *trailer = out + HEADER_SIZE + opened->stream_size;
    memcpy(out, header, HEADER_SIZE);
    memcpy(out + HEADER_SIZE, opened->stream, opened->stream_size);
    zb__store_le32(trailer, libdeflate_crc32(0, opened->content, opened->content_size));
    zb__store_le32(trailer + 4, (uint32_t)opened->content_size);
    return HEADER_SIZE + opened->stream_size + TRAILER_SIZE;
}

static enum zb_code gzip_decode(const void *state, zb__scratch *scratch, const uint8_t *in,
                                size_t size, zb__sink *sink, zb_error *err) {
    (void)state;
    uint64_t limit = zb_limits_get()->gzip_members, count = 0;
    size_t done = 0, at = 0;
    enum zb_code code = ZB_OK;
    do {
        size_t consumed = 0, produced = 0;
        if (!code && count++ == limit)
            code = zb_fail(err, ZB_ELIMIT,
                           "gzip: more members than the limit gzip_members (%" PRIu64 ") allows",
                           limit);
        if (!code)
            code = decode_member(scratch, in + at, size - at, sink->data + done,
                                 sink->capacity - done, &consumed, &produced, err);
        if (code)
            return code;
        at += consumed;
        done += produced;
    } while (at < size);
    sink->size = done;
    if (sink->exact && done != sink->capacity)
        return zb_fail(err, ZB_EFORMAT, "gzip: the data decode to %zu bytes, expected %zu", done,
                       sink->capacity);
    return ZB_OK;
}

/* ---- Encoding ----------------------------------------------------------------------------- */

static uint64_t gzip_encode_bound(uint64_t size) {
    /* The bound holds for any level. Half of the address space leaves the library's sum room. */
    return size > SIZE_MAX / 2 ? UINT64_MAX : libdeflate_gzip_compress_bound(NULL, (size_t)size);
}

static enum zb_code gzip_encode(const void *state, zb__scratch *scratch, const uint8_t *in,
                                size_t size, uint8_t *out, size_t capacity, size_t *written,
                                zb_error *err) {
    struct libdeflate_compressor *encoder;
    enum zb_code code = zb__deflate_encoder(scratch, *(const int *)state, &encoder, err);
    if (code)
        return code;
    *written = libdeflate_gzip_compress(encoder, in, size, out, capacity);
    return *written ? ZB_OK
                    : zb_fail(err, ZB_EINVAL, "gzip: %zu bytes cannot be encoded into %zu", size,
                              capacity);
}

/* ---- Metadata ----------------------------------------------------------------------------- */

static enum zb_code gzip_parse(const zb_json *configuration, const zb__binding *binding,
                               void **state, zb_error *err) {
    (void)binding;
    return zb__configuration_state(configuration, "level", 0, ZB__DEFLATE_LEVELS - 1, 5, state,
                                   err);
}

static enum zb_code numcodecs_parse(const zb_json *configuration, const zb__binding *binding,
                                    void **state, zb_error *err) {
    (void)binding;
    return zb__configuration_state(configuration, "level", 0, ZB__DEFLATE_LEVELS - 1, 1, state,
                                   err);
}

static const char *const members[] = {"level", NULL};
static const char *const defaults[] = {"5"};
static const char *const numcodecs_defaults[] = {"1"};

#define OPERATIONS                                                                                 \
    {.stream = ZB__STREAM_GZIP,                                                                    \
     .decode = gzip_decode,                                                                        \
     .encode_bound = gzip_encode_bound,                                                            \
     .encode = gzip_encode,                                                                        \
     .fixed_overhead = -1,                                                                         \
     .cost = 1600}

const zb__codec_ops zb__codec_gzip = {
    .name = "gzip",
    .kind = ZB__BYTES_TO_BYTES,
    .members = members,
    .defaults = defaults,
    .parse = gzip_parse,
    .free = free,
    .bytes = OPERATIONS,
};

const zb__codec_ops zb__codec_numcodecs_gzip = {
    .name = "numcodecs.gzip",
    .kind = ZB__BYTES_TO_BYTES,
    .members = members,
    .defaults = numcodecs_defaults,
    .parse = numcodecs_parse,
    .free = free,
    .bytes = OPERATIONS,
};
