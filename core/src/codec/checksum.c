/* SPDX-License-Identifier: MIT */
/*
 * The codecs that put a checksum of 32 bits, little-endian, before or behind the bytes: crc32c, and
 * numcodecs' crc32, adler32, crc32c, fletcher32 and jenkins_lookup3. Of numcodecs' first two it
 * comes before the bytes unless `location` says otherwise, of all others behind them.
 */
#include "codec/checksum.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/configuration.h"
#include "util/bytes.h"
#include "util/checked.h"
#include "util/crc32c.h"
#include "util/json_excerpt.h"

typedef struct checksum {
    const char *name; /* for messages */
    uint32_t (*sum)(uint32_t initial, const uint8_t *data, size_t size);
    uint32_t initial;
    bool at_start;
} checksum;

/* ---- The sums ----------------------------------------------------------------------------- */

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

/* HDF5's Fletcher-32. The bytes are added up as big-endian numbers of two bytes, the last one alone
   counting as the high byte; both sums are modulo 65535, where zero may also be written as
   65535. */

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

/* Bob Jenkins's lookup3 hash (hashlittle, as HDF5 uses it for its metadata). */

#define BLOCK 12 /* bytes that are mixed at once */

static uint32_t rotate(uint32_t x, int bits) {
    return x << bits | x >> (32 - bits);
}

static void mix_block(uint32_t *a, uint32_t *b, uint32_t *c) {
    static const int bits[6] = {4, 6, 8, 16, 19, 4};
    uint32_t *v[3] = {a, b, c};
    for (int i = 0; i < 6; i++) {
        uint32_t *first = v[i % 3], *next = v[(i + 1) % 3], *last = v[(i + 2) % 3];
        *first -= *last;
        *first ^= rotate(*last, bits[i]);
        *last += *next;
    }
}

static void mix_last(uint32_t *a, uint32_t *b, uint32_t *c) {
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
        mix_block(&a, &b, &c);
    }
    if (size == 0)
        return c;
    uint8_t last[BLOCK] = {0};
    memcpy(last, data, size);
    a += zb__load_le32(last);
    b += zb__load_le32(last + 4);
    c += zb__load_le32(last + 8);
    mix_last(&a, &b, &c);
    return c;
}

/* ---- Decoding and encoding ---------------------------------------------------------------- */

enum zb_code zb__checksum_open(const void *state, const uint8_t **in, size_t *size, zb_error *err) {
    const checksum *codec = state;
    if (*size < ZB__CHECKSUM_SIZE)
        return zb_fail(err, ZB_EFORMAT, "%s: %zu bytes are too few for a checksum", codec->name,
                       *size);
    const size_t payload = *size - ZB__CHECKSUM_SIZE;
    const uint8_t *data = codec->at_start ? *in + ZB__CHECKSUM_SIZE : *in;
    const uint32_t expected = zb__load_le32(codec->at_start ? *in : *in + payload);
    const uint32_t sum = codec->sum(codec->initial, data, payload);
    if (sum != expected)
        return zb_fail(err, ZB_ECHECKSUM, "%s is 0x%08x, expected 0x%08x", codec->name, sum,
                       expected);
    *in = data;
    *size = payload;
    return ZB_OK;
}

size_t zb__checksum_close(const void *state, uint8_t *data, size_t size) {
    const checksum *codec = state;
    const uint32_t sum = codec->sum(codec->initial, data, size);
    if (codec->at_start)
        memmove(data + ZB__CHECKSUM_SIZE, data, size);
    zb__store_le32(codec->at_start ? data : data + size, sum);
    return size + ZB__CHECKSUM_SIZE;
}

static enum zb_code checksum_decode(const void *state, zb__scratch *scratch, const uint8_t *in,
                                    size_t size, zb__sink *sink, zb_error *err) {
    const checksum *codec = state;
    (void)scratch;
    if (size < ZB__CHECKSUM_SIZE)
        return zb_fail(err, ZB_EFORMAT, "%s: %zu bytes are too few for a checksum", codec->name,
                       size);
    /* The size comes first: of a chunk cut short, it says more than a checksum. */
    size_t payload = size - ZB__CHECKSUM_SIZE;
    if (payload > sink->capacity || (sink->exact && payload < sink->capacity))
        return zb_fail(err, ZB_EFORMAT, "%s: the data decode to %zu bytes, expected %s%zu",
                       codec->name, payload, sink->exact ? "" : "at most ", sink->capacity);
    const uint8_t *data = in;
    enum zb_code code = zb__checksum_open(state, &data, &size, err);
    if (code)
        return code;
    size_t hi = sink->hi < payload ? sink->hi : payload;
    if (sink->lo < hi)
        memcpy(sink->data + sink->lo, data + sink->lo, hi - sink->lo);
    sink->size = payload;
    return ZB_OK;
}

static uint64_t checksum_encode_bound(uint64_t size) {
    return zb__bound_sum(size, ZB__CHECKSUM_SIZE);
}

static enum zb_code checksum_encode(const void *state, zb__scratch *scratch, const uint8_t *in,
                                    size_t size, uint8_t *out, size_t capacity, size_t *written,
                                    zb_error *err) {
    const checksum *codec = state;
    (void)scratch;
    if (capacity < ZB__CHECKSUM_SIZE || size > capacity - ZB__CHECKSUM_SIZE)
        return zb_fail(err, ZB_EINVAL, "%s: %zu bytes cannot be encoded into %zu", codec->name,
                       size, capacity);
    if (size > 0)
        memcpy(codec->at_start ? out + ZB__CHECKSUM_SIZE : out, in, size);
    zb__store_le32(codec->at_start ? out : out + size, codec->sum(codec->initial, in, size));
    *written = size + ZB__CHECKSUM_SIZE;
    return ZB_OK;
}

static enum zb_code crc32c_strip(const uint8_t *in, size_t size, size_t *payload, zb_error *err) {
    if (size < ZB__CHECKSUM_SIZE)
        return zb_fail(err, ZB_EFORMAT, "crc32c: %zu bytes are too few for a checksum", size);
    uint32_t crc = zb__crc32c(in, size - ZB__CHECKSUM_SIZE);
    uint32_t expected = zb__load_le32(in + size - ZB__CHECKSUM_SIZE);
    if (crc != expected)
        return zb_fail(err, ZB_ECHECKSUM, "crc32c is 0x%08x, expected 0x%08x", crc, expected);
    *payload = size - ZB__CHECKSUM_SIZE;
    return ZB_OK;
}

static enum zb_code crc32c_append(uint8_t *data, size_t size, size_t capacity, size_t *written,
                                  zb_error *err) {
    if (capacity < ZB__CHECKSUM_SIZE || size > capacity - ZB__CHECKSUM_SIZE)
        return zb_fail(err, ZB_EINVAL, "crc32c: %zu bytes cannot be encoded into %zu", size,
                       capacity);
    zb__store_le32(data + size, zb__crc32c(data, size));
    *written = size + ZB__CHECKSUM_SIZE;
    return ZB_OK;
}

/* ---- Metadata ----------------------------------------------------------------------------- */

static enum zb_code parse(const zb_json *configuration, const checksum *defaults, void **state,
                          zb_error *err) {
    static const char *const places[] = {"start", "end", NULL};
    checksum *codec = zb__codec_new_state(sizeof *codec, state, err);
    if (!codec)
        return ZB_ENOMEM;
    *codec = *defaults;
    size_t place = codec->at_start ? 0 : 1;
    enum zb_code code = zb__configuration_choice(configuration, "location", places, &place, err);
    codec->at_start = place == 0;
    return code;
}

/* Defines parse_NAME, which begins with these values of the state. */
#define PARSER(NAME, ...)                                                                          \
    static enum zb_code parse_##NAME(const zb_json *configuration, const zb__binding *binding,     \
                                     void **state, zb_error *err) {                                \
        static const checksum defaults = {.name = #NAME, __VA_ARGS__};                             \
        (void)binding;                                                                             \
        return parse(configuration, &defaults, state, err);                                        \
    }

PARSER(crc32, .sum = sum_crc32, .at_start = true)
PARSER(adler32, .sum = sum_adler32, .initial = 1, .at_start = true)
PARSER(crc32c, .sum = sum_crc32c)
PARSER(fletcher32, .sum = sum_fletcher32)

static enum zb_code parse_jenkins(const zb_json *configuration, const zb__binding *binding,
                                  void **state, zb_error *err) {
    static const checksum defaults = {.name = "jenkins_lookup3", .sum = sum_lookup3};
    const zb_json *prefix = zb__configuration_given(configuration, "prefix");
    const zb_json *initial = zb_json_get(configuration, "initval");
    char excerpt[ZB__BRIEF_SIZE];
    uint64_t number = 0;
    (void)binding;
    if (prefix) /* bytes, which JSON has no form for: no program writes them */
        return zb_fail(err, ZB_EUNSUPPORTED, "prefix is %s, which is not supported, expected null",
                       zb__json_excerpt(prefix, excerpt));
    if (initial && (!zb_json_uint64(initial, &number) || number > UINT32_MAX))
        return zb_fail(err, ZB_EFORMAT, "initval is %s, expected an integer from 0 to 4294967295",
                       zb__json_excerpt(initial, excerpt));
    enum zb_code code = parse(NULL, &defaults, state, err);
    if (!code)
        ((checksum *)*state)->initial = (uint32_t)number;
    return code;
}

static bool checksum_same(const void *a, const void *b) {
    const checksum *x = a, *y = b;
    return x->at_start == y->at_start && x->initial == y->initial;
}

static const char *const location[] = {"location", NULL}, *const none[] = {NULL};
static const char *const jenkins_members[] = {"initval", "prefix", NULL};
static const char *const at_start[] = {"\"start\""}, *const at_end[] = {"\"end\""};
static const char *const jenkins_defaults[] = {"0", "null"};

/* tells_zeros: the sum of bytes that are all zero is another than zero. */
#define CHECKSUM(codec_name, parser, codec_members, codec_defaults, tells_zeros, codec_cost, ...)  \
    {                                                                                              \
        .name = codec_name,                                                                        \
        .kind = ZB__BYTES_TO_BYTES,                                                                \
        .members = codec_members,                                                                  \
        .defaults = codec_defaults,                                                                \
        .parse = parser,                                                                           \
        .free = free,                                                                              \
        .same = checksum_same,                                                                     \
        .bytes = {.stream = ZB__STREAM_SUM,                                                        \
                  .decode = checksum_decode,                                                       \
                  .encode_bound = checksum_encode_bound,                                           \
                  .encode = checksum_encode,                                                       \
                  .fixed_overhead = ZB__CHECKSUM_SIZE,                                             \
                  .is_checksum = tells_zeros,                                                      \
                  .cost = codec_cost,                                                              \
                  __VA_ARGS__},                                                                    \
    }

const zb__codec_ops zb__codec_crc32c = CHECKSUM("crc32c", parse_crc32c, none, NULL, true, 40,
                                                .strip = crc32c_strip, .append = crc32c_append);
const zb__codec_ops zb__codec_numcodecs_crc32 =
    CHECKSUM("numcodecs.crc32", parse_crc32, location, at_start, true, 80);
const zb__codec_ops zb__codec_numcodecs_adler32 =
    CHECKSUM("numcodecs.adler32", parse_adler32, location, at_start, true, 80);
const zb__codec_ops zb__codec_numcodecs_crc32c =
    CHECKSUM("numcodecs.crc32c", parse_crc32c, location, at_end, true, 80);
const zb__codec_ops zb__codec_numcodecs_fletcher32 =
    CHECKSUM("numcodecs.fletcher32", parse_fletcher32, none, NULL, false, 600);
const zb__codec_ops zb__codec_numcodecs_jenkins = CHECKSUM(
    "numcodecs.jenkins_lookup3", parse_jenkins, jenkins_members, jenkins_defaults, false, 600);
