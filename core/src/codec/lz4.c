/* SPDX-License-Identifier: MIT */
/*
 * The codec numcodecs.lz4: the decoded size as 32 bits, little-endian, then one LZ4 block. An
 * acceleration of at most 1 stands for 1.
 */
#include <limits.h>
#include <lz4.h>
#include <stdlib.h>

#include "codec/codec.h"
#include "codec/configuration.h"
#include "util/bytes.h"
#include "util/checked.h"

#define HEADER_SIZE 4

static enum zb_code lz4_decode(const void *state, zb__scratch *scratch, const uint8_t *in,
                               size_t size, zb__sink *sink, zb_error *err) {
    (void)state;
    (void)scratch;
    if (size < HEADER_SIZE)
        return zb_fail(err, ZB_EFORMAT, "lz4: %zu bytes are too few for a header", size);
    size_t said = zb__load_le32(in);
    if (said > sink->capacity || said > LZ4_MAX_INPUT_SIZE ||
        (sink->exact && said < sink->capacity))
        return zb_fail(err, ZB_EFORMAT, "lz4: the data decode to %zu bytes, expected %s%zu", said,
                       sink->exact ? "" : "at most ", sink->capacity);
    uint8_t nothing; /* the library wants a place even for no bytes */
    int block = size - HEADER_SIZE > INT_MAX ? -1 : (int)(size - HEADER_SIZE);
    int made = block < 0
                   ? -1
                   : LZ4_decompress_safe((const char *)in + HEADER_SIZE,
                                         (char *)(said ? sink->data : &nothing), block, (int)said);
    if (made < 0 || (size_t)made != said)
        return zb_fail(err, ZB_EFORMAT, "lz4: damaged or truncated data");
    sink->size = said;
    return ZB_OK;
}

static uint64_t lz4_encode_bound(uint64_t size) {
    return size > LZ4_MAX_INPUT_SIZE
               ? UINT64_MAX
               : zb__bound_sum((uint64_t)LZ4_compressBound((int)size), HEADER_SIZE);
}

static enum zb_code lz4_encode(const void *state, zb__scratch *scratch, const uint8_t *in,
                               size_t size, uint8_t *out, size_t capacity, size_t *written,
                               zb_error *err) {
    (void)scratch;
    int made = 0;
    if (size <= LZ4_MAX_INPUT_SIZE && capacity >= HEADER_SIZE) {
        size_t room = capacity - HEADER_SIZE;
        made = LZ4_compress_fast((const char *)in, (char *)out + HEADER_SIZE, (int)size,
                                 room < INT_MAX ? (int)room : INT_MAX, *(const int *)state);
    }
    if (made <= 0)
        return zb_fail(err, ZB_EINVAL, "lz4: %zu bytes cannot be encoded into %zu", size, capacity);
    zb__store_le32(out, (uint32_t)size);
    *written = HEADER_SIZE + (size_t)made;
    return ZB_OK;
}

static enum zb_code lz4_parse(const zb_json *configuration, const zb__binding *binding,
                              void **state, zb_error *err) {
    (void)binding;
    return zb__configuration_state(configuration, "acceleration", INT_MIN, INT_MAX, 1, state, err);
}

static const char *const members[] = {"acceleration", NULL};
static const char *const defaults[] = {"1"};

const zb__codec_ops zb__codec_numcodecs_lz4 = {
    .name = "numcodecs.lz4",
    .kind = ZB__BYTES_TO_BYTES,
    .members = members,
    .defaults = defaults,
    .parse = lz4_parse,
    .free = free,
    .bytes = {.decode = lz4_decode,
              .encode_bound = lz4_encode_bound,
              .encode = lz4_encode,
              .fixed_overhead = -1,
              .cost = 400},
};
