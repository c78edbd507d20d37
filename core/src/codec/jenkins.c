/* SPDX-License-Identifier: MIT */
/*
 * The codec numcodecs.jenkins_lookup3: Bob Jenkins's lookup3 hash (hashlittle, as HDF5 uses it for
 * its metadata) behind the bytes.
 */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/json_brief.h"
#include "codec/checksum.h"
#include "codec/configuration.h"

#define BLOCK 12 /* bytes that are mixed at once */

static uint32_t rotate(uint32_t x, int bits) {
    return x << bits | x >> (32 - bits);
}

static void mix(uint32_t *a, uint32_t *b, uint32_t *c) {
    static const int bits[6] = {4, 6, 8, 16, 19, 4};
    uint32_t *v[3] = {a, b, c};
    for (int i = 0; i < 6; i++) {
        uint32_t *first = v[i % 3], *next = v[(i + 1) % 3], *last = v[(i + 2) % 3];
        *first -= *last;
        *first ^= rotate(*last, bits[i]);
        *last += *next;
    }
}

static void finish(uint32_t *a, uint32_t *b, uint32_t *c) {
    static const int bits[7] = {14, 11, 25, 16, 4, 14, 24};
    uint32_t *v[3] = {c, a, b};
    for (int i = 0; i < 7; i++) {
        uint32_t *into = v[i % 3], *from = v[(i + 2) % 3];
        *into ^= *from;
        *into -= rotate(*from, bits[i]);
    }
}

static uint32_t sum_lookup3(uint32_t initial, const uint8_t *data, size_t size) {
    uint32_t a = 0xdeadbeefu + (uint32_t)size + initial, b = a, c = a;
    for (; size > BLOCK; size -= BLOCK, data += BLOCK) {
        a += zb__load_le32(data);
        b += zb__load_le32(data + 4);
        c += zb__load_le32(data + 8);
        mix(&a, &b, &c);
    }
    if (size == 0)
        return c;
    uint8_t last[BLOCK] = {0};
    memcpy(last, data, size);
    a += zb__load_le32(last);
    b += zb__load_le32(last + 4);
    c += zb__load_le32(last + 8);
    finish(&a, &b, &c);
    return c;
}

static enum zb_code parse(const zb_json *configuration, const zb__binding *binding, void **state,
                          zb_error *err) {
    static const zb__checksum defaults = {.name = "jenkins_lookup3", .sum = sum_lookup3};
    const zb_json *prefix = zb__configuration_given(configuration, "prefix");
    const zb_json *initial = zb_json_get(configuration, "initval");
    char brief[ZB__BRIEF_SIZE];
    uint64_t number = 0;
    (void)binding;
    if (prefix) /* bytes, which JSON has no form for: no program writes them */
        return zb_fail(err, ZB_EUNSUPPORTED, "prefix is %s, which is not supported, expected null",
                       zb__json_brief(prefix, brief));
    if (initial && (!zb_json_uint64(initial, &number) || number > UINT32_MAX))
        return zb_fail(err, ZB_EFORMAT, "initval is %s, expected an integer from 0 to 4294967295",
                       zb__json_brief(initial, brief));
    enum zb_code code = zb__checksum_parse(NULL, &defaults, state, err);
    if (!code)
        ((zb__checksum *)*state)->initial = (uint32_t)number;
    return code;
}

static const char *const members[] = {"initval", "prefix", NULL};
static const char *const defaults[] = {"0", "null"};

const zb__codec_ops zb__codec_numcodecs_jenkins = {
    .name = "numcodecs.jenkins_lookup3",
    .kind = ZB__BYTES_TO_BYTES,
    .members = members,
    .defaults = defaults,
    .parse = parse,
    .free = free,
    .same = zb__checksum_same,
    .bytes = {.decode = zb__checksum_decode,
              .encode_bound = zb__checksum_encode_bound,
              .encode = zb__checksum_encode,
              .fixed_overhead = ZB__CHECKSUM_SIZE,
              .cost = 600},
};
