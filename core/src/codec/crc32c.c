/* SPDX-License-Identifier: MIT */
/* The crc32c codec: the payload, followed by its CRC-32C, little-endian. */
#include "codec/crc32c.h"

#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
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

enum zb_code zb__crc32c_append(uint8_t *data, size_t size, size_t capacity, size_t *written,
                               zb_error *err) {
    if (capacity < ZB__CRC32C_SIZE || size > capacity - ZB__CRC32C_SIZE)
        return zb_fail(err, ZB_EINVAL, "crc32c: %zu bytes cannot be encoded into %zu", size,
                       capacity);
    uint32_t crc = zb__crc32c(data, size);
    for (int i = 0; i < ZB__CRC32C_SIZE; i++)
        data[size + (size_t)i] = (uint8_t)(crc >> 8 * i);
    *written = size + ZB__CRC32C_SIZE;
    return ZB_OK;
}

static uint64_t crc32c_encode_bound(uint64_t size) {
    return zb__bound_sum(size, ZB__CRC32C_SIZE);
}

static enum zb_code crc32c_encode(const zb__codec *codec, zb__scratch *scratch, const uint8_t *in,
                                  size_t size, uint8_t *out, size_t capacity, size_t *written,
                                  zb_error *err) {
    (void)codec;
    (void)scratch;
    if (size > 0 && size <= capacity)
        memcpy(out, in, size);
    return zb__crc32c_append(out, size, capacity, written, err);
}

static enum zb_code crc32c_parse(zb__codec *codec, const zb_json *configuration, uint32_t item,
                                 zb_error *err) {
    (void)codec;
    (void)configuration;
    (void)item;
    (void)err;
    return ZB_OK;
}

static const char *const members[] = {NULL};

const zb__codec_ops zb__codec_crc32c = {
    .name = "crc32c",
    .members = members,
    .parse = crc32c_parse,
    .decode = crc32c_decode,
    .encode_bound = crc32c_encode_bound,
    .encode = crc32c_encode,
    .fixed_overhead = ZB__CRC32C_SIZE,
    .partial = false,
    .cost = 40,
};
