/* SPDX-License-Identifier: MIT */
/* The crc32c codec: the payload, followed by its CRC-32C, little-endian. */
#include "codec/crc32c.h"

#include <string.h>

#include "base/bytes.h"
#include "codec/codec.h"
#include "kernel/crc32c.h"

enum zb_code zb__crc32c_verify(const uint8_t *in, size_t size, zb_error *err) {
    if (size < ZB__CRC32C_SIZE)
        return zb_fail(err, ZB_EFORMAT, "crc32c: %zu bytes are too few for a checksum", size);
    uint32_t crc = zb__crc32c(in, size - ZB__CRC32C_SIZE);
    uint32_t expected = zb__load_le32(in + size - ZB__CRC32C_SIZE);
    if (crc != expected)
        return zb_fail(err, ZB_ECHECKSUM, "crc32c is 0x%08x, expected 0x%08x", crc, expected);
    return ZB_OK;
}

static enum zb_code crc32c_decode(const zb__codec *codec, zb__scratch *scratch, const uint8_t *in,
                                  size_t size, zb__sink *sink, zb_error *err) {
    (void)codec;
    (void)scratch;
    size_t payload = size - ZB__CRC32C_SIZE;
    /* The size comes first: of a chunk cut short, "too few bytes" says more than a checksum. */
    if (size >= ZB__CRC32C_SIZE &&
        (payload > sink->capacity || (sink->exact && payload < sink->capacity)))
        return zb_fail(err, ZB_EFORMAT, "crc32c: the data decode to %zu bytes, expected %s%zu",
                       payload, sink->exact ? "" : "at most ", sink->capacity);
    enum zb_code code = zb__crc32c_verify(in, size, err);
    if (code)
        return code;
    size_t hi = sink->hi < payload ? sink->hi : payload;
    if (sink->lo < hi)
        memcpy(sink->data + sink->lo, in + sink->lo, hi - sink->lo);
    sink->size = payload;
    return ZB_OK;
}

static enum zb_code crc32c_parse(const zb_json *configuration, zb_error *err) {
    (void)configuration;
    (void)err;
    return ZB_OK;
}

static const char *const members[] = {NULL};

const zb__codec_ops zb__codec_crc32c = {
    .name = "crc32c",
    .members = members,
    .parse = crc32c_parse,
    .decode = crc32c_decode,
    .fixed_overhead = ZB__CRC32C_SIZE,
    .partial = false,
    .cost = 40,
};
