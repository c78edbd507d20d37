/* SPDX-License-Identifier: MIT */
/*
 * The codecs numcodecs.crc32, numcodecs.adler32 and numcodecs.crc32c. The first two put their
 * checksum before the bytes unless `location` says otherwise, the last behind them.
 */
#include <libdeflate.h>
#include <stdlib.h>

#include "codec/checksum.h"
#include "base/crc32c.h"

static uint32_t sum_crc32(uint32_t initial, const uint8_t *data, size_t size) {
    return libdeflate_crc32(initial, data, size);
}

static uint32_t sum_adler32(uint32_t initial, const uint8_t *data, size_t size) {
    return libdeflate_adler32(initial, data, size);
}

static uint32_t sum_crc32c(uint32_t initial, const uint8_t *data, size_t size) {
    (void)initial;
    return zb__crc32c(data, size);
}

static enum zb_code parse_crc32(const zb_json *configuration, const zb__binding *binding,
                                void **state, zb_error *err) {
    static const zb__checksum defaults = {.name = "crc32", .sum = sum_crc32, .at_start = true};
    (void)binding;
    return zb__checksum_parse(configuration, &defaults, state, err);
}

static enum zb_code parse_adler32(const zb_json *configuration, const zb__binding *binding,
                                  void **state, zb_error *err) {
    static const zb__checksum defaults = {
        .name = "adler32", .sum = sum_adler32, .initial = 1, .at_start = true};
    (void)binding;
    return zb__checksum_parse(configuration, &defaults, state, err);
}

static enum zb_code parse_crc32c(const zb_json *configuration, const zb__binding *binding,
                                 void **state, zb_error *err) {
    static const zb__checksum defaults = {.name = "crc32c", .sum = sum_crc32c};
    (void)binding;
    return zb__checksum_parse(configuration, &defaults, state, err);
}

static const char *const members[] = {"location", NULL};
static const char *const at_start[] = {"\"start\""};
static const char *const at_end[] = {"\"end\""};

/* None of the three gives zero for bytes that are all zero. */
#define CHECKSUM(codec_name, parser, location)                                                     \
    {                                                                                              \
        .name = codec_name,                                                                        \
        .kind = ZB__BYTES_TO_BYTES,                                                                \
        .members = members,                                                                        \
        .defaults = location,                                                                      \
        .parse = parser,                                                                           \
        .free = free,                                                                              \
        .same = zb__checksum_same,                                                                 \
        .bytes = {.decode = zb__checksum_decode,                                                   \
                  .encode_bound = zb__checksum_encode_bound,                                       \
                  .encode = zb__checksum_encode,                                                   \
                  .fixed_overhead = ZB__CHECKSUM_SIZE,                                             \
                  .is_checksum = true,                                                             \
                  .cost = 80},                                                                     \
    }

const zb__codec_ops zb__codec_numcodecs_crc32 = CHECKSUM("numcodecs.crc32", parse_crc32, at_start);
const zb__codec_ops zb__codec_numcodecs_adler32 =
    CHECKSUM("numcodecs.adler32", parse_adler32, at_start);
const zb__codec_ops zb__codec_numcodecs_crc32c = CHECKSUM("numcodecs.crc32c", parse_crc32c, at_end);
