/* SPDX-License-Identifier: MIT */
/* The crc32c codec: the payload, followed by its CRC-32C, little-endian. */
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "codec/codec.h"
#include "base/crc32c.h"
#include "zarrbridge/error.h"

#define CHECKSUM_SIZE 4

static enum zb_code crc32c_strip(const uint8_t *in, size_t size, size_t *payload, zb_error *err) {
    if (size < CHECKSUM_SIZE)
        return zb_fail(err, ZB_EFORMAT, "crc32c: %zu bytes are too few for a checksum", size);
    uint32_t crc = zb__crc32c(in, size - CHECKSUM_SIZE);
    uint32_t expected = zb__load_le32(in + size - CHECKSUM_SIZE);
    if (crc != expected)
        return zb_fail(err, ZB_ECHECKSUM, "crc32c is 0x%08x, expected 0x%08x", crc, expected);
    *payload = size - CHECKSUM_SIZE;
    return ZB_OK;
}

static enum zb_code crc32c_decode(const void *state, zb__scratch *scratch, const uint8_t *in,
                                  size_t size, zb__sink *sink, zb_error *err) {
    (void)state;
    (void)scratch;
    size_t payload = size - CHECKSUM_SIZE;
    /* The size comes first: of a chunk cut short, "too few bytes" says more than a checksum. */
    if (size >= CHECKSUM_SIZE &&
        (payload > sink->capacity || (sink->exact && payload < sink->capacity)))
        return zb_fail(err, ZB_EFORMAT, "crc32c: the data decode to %zu bytes, expected %s%zu",
                       payload, sink->exact ? "" : "at most ", sink->capacity);
    enum zb_code code = crc32c_strip(in, size, &payload, err);
    if (code)
        return code;
    size_t hi = sink->hi < payload ? sink->hi : payload;
    if (sink->lo < hi)
        memcpy(sink->data + sink->lo, in + sink->lo, hi - sink->lo);
    sink->size = payload;
    return ZB_OK;
}

static enum zb_code crc32c_append(uint8_t *data, size_t size, size_t capacity, size_t *written,
                                  zb_error *err) {
    if (capacity < CHECKSUM_SIZE || size > capacity - CHECKSUM_SIZE)
        return zb_fail(err, ZB_EINVAL, "crc32c: %zu bytes cannot be encoded into %zu", size,
                       capacity);
    uint32_t crc = zb__crc32c(data, size);
    for (int i = 0; i < CHECKSUM_SIZE; i++)
        data[size + (size_t)i] = (uint8_t)(crc >> 8 * i);
    *written = size + CHECKSUM_SIZE;
    return ZB_OK;
}

static uint64_t crc32c_encode_bound(uint64_t size) {
    return zb__bound_sum(size, CHECKSUM_SIZE);
}

static enum zb_code crc32c_encode(const void *state, zb__scratch *scratch, const uint8_t *in,
                                  size_t size, uint8_t *out, size_t capacity, size_t *written,
                                  zb_error *err) {
    (void)state;
    (void)scratch;
    if (size > 0 && size <= capacity)
        memcpy(out, in, size);
    return crc32c_append(out, size, capacity, written, err);
}

static const char *const members[] = {NULL};

const zb__codec_ops zb__codec_crc32c = {
    .name = "crc32c",
    .kind = ZB__BYTES_TO_BYTES,
    .members = members,
    .bytes = {.decode = crc32c_decode,
              .encode_bound = crc32c_encode_bound,
              .encode = crc32c_encode,
              .strip = crc32c_strip,
              .append = crc32c_append,
              .fixed_overhead = CHECKSUM_SIZE,
              .is_checksum = true,
              .cost = 40},
};
