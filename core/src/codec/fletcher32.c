/* SPDX-License-Identifier: MIT */
/*
 * The codec numcodecs.fletcher32: HDF5's Fletcher-32 behind the bytes. The bytes are added up as
 * big-endian numbers of two bytes, the last one alone counting as the high byte; both sums are
 * modulo 65535, where zero may also be written as 65535.
 */
#include <stdlib.h>

#include "codec/checksum.h"

#define MOST_PAIRS 360 /* that 32 bits can sum up before they are folded */

static uint32_t fold(uint32_t sum) {
    return (sum & 0xffff) + (sum >> 16);
}

static uint32_t sum_fletcher32(uint32_t initial, const uint8_t *data, size_t size) {
    uint32_t low = initial, high = initial;
    size_t pairs = size / 2;
    while (pairs > 0) {
        size_t batch = pairs < MOST_PAIRS ? pairs : MOST_PAIRS;
        pairs -= batch;
        for (; batch > 0; batch--, data += 2) {
            low += (uint32_t)data[0] << 8 | data[1];
            high += low;
        }
        low = fold(low);
        high = fold(high);
    }
    if (size % 2) {
        low += (uint32_t)data[0] << 8;
        high += low;
        low = fold(low);
        high = fold(high);
    }
    return fold(high) << 16 | fold(low);
}

static enum zb_code parse(const zb_json *configuration, const zb__binding *binding, void **state,
                          zb_error *err) {
    static const zb__checksum defaults = {.name = "fletcher32", .sum = sum_fletcher32};
    (void)binding;
    return zb__checksum_parse(configuration, &defaults, state, err);
}

static const char *const members[] = {NULL};

/* Not is_checksum: the sum of zeros is zero. */
const zb__codec_ops zb__codec_numcodecs_fletcher32 = {
    .name = "numcodecs.fletcher32",
    .kind = ZB__BYTES_TO_BYTES,
    .members = members,
    .parse = parse,
    .free = free,
    .bytes = {.decode = zb__checksum_decode,
              .encode_bound = zb__checksum_encode_bound,
              .encode = zb__checksum_encode,
              .fixed_overhead = ZB__CHECKSUM_SIZE,
              .cost = 600},
};
