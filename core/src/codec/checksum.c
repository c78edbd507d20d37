/* SPDX-License-Identifier: MIT */
/* See checksum.h. */
#include "codec/checksum.h"

#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "codec/configuration.h"

enum zb_code zb__checksum_parse(const zb_json *configuration, const zb__checksum *defaults,
                                void **state, zb_error *err) {
    static const char *const places[] = {"start", "end", NULL};
    zb__checksum *codec = zb__codec_new_state(sizeof *codec, state, err);
    if (!codec)
        return ZB_ENOMEM;
    *codec = *defaults;
    size_t place = codec->at_start ? 0 : 1;
    enum zb_code code = zb__configuration_choice(configuration, "location", places, &place, err);
    codec->at_start = place == 0;
    return code;
}

bool zb__checksum_same(const void *a, const void *b) {
    const zb__checksum *x = a, *y = b;
    return x->at_start == y->at_start && x->initial == y->initial;
}

enum zb_code zb__checksum_decode(const void *state, zb__scratch *scratch, const uint8_t *in,
                                 size_t size, zb__sink *sink, zb_error *err) {
    const zb__checksum *codec = state;
    (void)scratch;
    if (size < ZB__CHECKSUM_SIZE)
        return zb_fail(err, ZB_EFORMAT, "%s: %zu bytes are too few for a checksum", codec->name,
                       size);
    size_t payload = size - ZB__CHECKSUM_SIZE;
    if (payload > sink->capacity || (sink->exact && payload < sink->capacity))
        return zb_fail(err, ZB_EFORMAT, "%s: the data decode to %zu bytes, expected %s%zu",
                       codec->name, payload, sink->exact ? "" : "at most ", sink->capacity);
    const uint8_t *data = codec->at_start ? in + ZB__CHECKSUM_SIZE : in;
    uint32_t expected = zb__load_le32(codec->at_start ? in : in + payload);
    uint32_t sum = codec->sum(codec->initial, data, payload);
    if (sum != expected)
        return zb_fail(err, ZB_ECHECKSUM, "%s is 0x%08x, expected 0x%08x", codec->name, sum,
                       expected);
    size_t hi = sink->hi < payload ? sink->hi : payload;
    if (sink->lo < hi)
        memcpy(sink->data + sink->lo, data + sink->lo, hi - sink->lo);
    sink->size = payload;
    return ZB_OK;
}

uint64_t zb__checksum_encode_bound(uint64_t size) {
    return zb__bound_sum(size, ZB__CHECKSUM_SIZE);
}

enum zb_code zb__checksum_encode(const void *state, zb__scratch *scratch, const uint8_t *in,
                                 size_t size, uint8_t *out, size_t capacity, size_t *written,
                                 zb_error *err) {
    const zb__checksum *codec = state;
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
