/* SPDX-License-Identifier: MIT */
#include "decode.h"
#include "util/scratch.h"
#include "codec/codec.h"

uint8_t *exact_copy(const void *data, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    if (size)
        memcpy(copy, data, size);
    return copy;
}

size_t decode_stream(size_t (*decode)(const uint8_t *in, size_t size, uint8_t *out,
                                      size_t capacity),
                     const uint8_t *in, size_t size, uint8_t **out, size_t capacity) {
    uint8_t *input = exact_copy(in, size);
    *out = malloc(capacity ? capacity : 1);
    size_t decoded = decode(input, size, *out, capacity);
    assert_true(decoded <= capacity);
    free(input);
    return decoded;
}

bytes make_sample(enum sample_kind kind, size_t size, unsigned seed) {
    static const char text[] = "a chunk is what a key holds; a shard is a chunk of chunks. ";
    bytes b = {malloc(size ? size : 1), size};
    uint32_t state = seed * 2654435761u + 1;
    assert_non_null(b.data);
    for (size_t i = 0; i < size; i++) {
        state = state * 1664525u + 1013904223u;
        b.data[i] = kind == SAMPLE_ZEROS  ? 0
                    : kind == SAMPLE_RAMP ? (uint8_t)(i % 4 == 0 ? i / 4 : i / 1024)
                    : kind == SAMPLE_NOISE
                        ? (uint8_t)(state >> 24)
                        : (uint8_t)(text[i % (sizeof text - 1)] ^ (state >> 24 < 4));
    }
    return b;
}

decoding decode_whole(const zb__codec_ops *ops, size_t capacity) {
    return (decoding){.ops = ops, .capacity = capacity, .hi = capacity, .exact = true};
}

enum zb_code run_decoder(decoding *d, const void *in, size_t size) {
    uint8_t *input = exact_copy(in, size);
    d->out = (bytes){malloc(d->capacity ? d->capacity : 1), d->capacity};
    assert_non_null(d->out.data);
    memset(d->out.data, UNTOUCHED, d->capacity);
    zb__sink sink = {.data = d->out.data,
                     .capacity = d->capacity,
                     .exact = d->exact,
                     .lo = d->lo,
                     .hi = d->hi,
                     .size = SIZE_MAX};
    zb__codec codec = make_codec(d->ops, "{}", 1);
    zb__scratch *scratch = zb__scratch_take();
    assert_non_null(scratch);
    enum zb_code code = d->ops->bytes.decode(codec.state, scratch, input, size, &sink, &d->err);
    zb__scratch_put(scratch);
    zb__codec_free(&codec);
    free(input);
    if (!code) {
        assert_true(sink.size <= d->capacity);
        if (d->exact)
            assert_true(sink.size >= d->hi);
        d->out.size = sink.size;
    } else {
        assert_int_equal(d->err.code, code);
    }
    return code;
}

void assert_decodes(const zb__codec_ops *ops, const void *in, size_t size, const void *expected,
                    size_t expected_size) {
    decoding d = decode_whole(ops, expected_size);
    if (run_decoder(&d, in, size))
        fail_msg("%s: %s", ops->name, d.err.message);
    assert_int_equal(d.out.size, expected_size);
    assert_memory_equal(d.out.data, expected, expected_size);
    free(d.out.data);
}

void assert_fails(const zb__codec_ops *ops, const void *in, size_t size, size_t expected_size,
                  enum zb_code code, const char *text) {
    decoding d = decode_whole(ops, expected_size);
    enum zb_code got = run_decoder(&d, in, size);
    free(d.out.data);
    if (got != code || !strstr(d.err.message, text))
        fail_msg("%s: got %s \"%s\", expected %s with \"%s\"", ops->name, zb_code_name(got),
                 got ? d.err.message : "", zb_code_name(code), text);
}

void assert_parts_decode(const zb__codec_ops *ops, bytes in, bytes expected) {
    for (size_t trial = 0; trial < 24; trial++) {
        decoding d = decode_whole(ops, expected.size);
        d.hi = trial < 8 ? expected.size * trial / 8 : (trial * 7919 * 101) % (expected.size + 1);
        d.lo = trial % 3 == 0 ? 0 : d.hi * (trial % 3) / 3;
        if (run_decoder(&d, in.data, in.size))
            fail_msg("%s [%zu, %zu): %s", ops->name, d.lo, d.hi, d.err.message);
        assert_memory_equal(d.out.data + d.lo, expected.data + d.lo, d.hi - d.lo);
        free(d.out.data);
    }
}

/* No input gives more bytes than asked for: run_decoder checks. */
static void decode_damaged(const zb__codec_ops *ops, const uint8_t *in, size_t size,
                           size_t expected_size, bool must_fail) {
    for (int part = 0; part < 2; part++) {
        decoding d = decode_whole(ops, expected_size);
        if (part) {
            d.lo = expected_size / 3;
            d.hi = expected_size / 2;
        }
        enum zb_code code = run_decoder(&d, in, size);
        if (must_fail && !part && !code)
            fail_msg("%s: %zu bytes of a longer stream were accepted", ops->name, size);
        free(d.out.data);
    }
}

void assert_survives_damage(const zb__codec_ops *ops, bytes in, size_t expected_size) {
    for (size_t size = 0; size < in.size; size++)
        decode_damaged(ops, in.data, size, expected_size, true);
    uint8_t *copy = exact_copy(in.data, in.size);
    for (size_t i = 0; i < in.size; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            copy[i] ^= (uint8_t)(1u << bit);
            decode_damaged(ops, copy, in.size, expected_size, false);
            copy[i] ^= (uint8_t)(1u << bit);
        }
        copy[i] ^= 0xff;
        decode_damaged(ops, copy, in.size, expected_size, false);
        copy[i] ^= 0xff;
    }
    free(copy);
}

/* ---- Encoding ----------------------------------------------------------------------------- */

#define GUARD 64

zb__codec make_codec(const zb__codec_ops *ops, const char *configuration, uint32_t item) {
    zb_error err;
    zb_json *json;
    zb__codec codec = {.ops = ops};
    const zb__binding binding = {.ndim = 1, .dtype = {.kind = ZB_KIND_RAW, .size = item}};
    if (zb_json_parse(configuration, strlen(configuration), &json, &err) ||
        (ops->parse && ops->parse(json, &binding, &codec.state, &err)))
        fail_msg("%s %s: %s", ops->name, configuration, err.message);
    zb_json_free(json); /* the codec keeps nothing of it */
    return codec;
}

/* Encodes into a buffer of this capacity, and looks at the bytes behind it. */
static enum zb_code encode_into(const zb__codec *codec, bytes in, size_t capacity, bytes *out,
                                zb_error *err) {
    uint8_t *input = exact_copy(in.data, in.size);
    *out = (bytes){malloc(capacity + GUARD), SIZE_MAX};
    assert_non_null(out->data);
    memset(out->data, UNTOUCHED, capacity + GUARD);
    zb__scratch *scratch = zb__scratch_take();
    assert_non_null(scratch);
    enum zb_code code = codec->ops->bytes.encode(codec->state, scratch, input, in.size, out->data,
                                                 capacity, &out->size, err);
    zb__scratch_put(scratch);
    assert_memory_equal(input, in.data, in.size);
    free(input);
    for (size_t i = 0; i < GUARD; i++) {
        if (out->data[capacity + i] != UNTOUCHED)
            fail_msg("%s: %zu bytes encoded into %zu touch byte %zu", codec->ops->name, in.size,
                     capacity, capacity + i);
    }
    if (!code)
        assert_true(out->size <= capacity);
    return code;
}

bytes run_encoder(const zb__codec *codec, bytes in) {
    uint64_t bound = codec->ops->bytes.encode_bound(in.size);
    zb_error err;
    bytes out;
    assert_true(bound >= in.size && bound < 2 * in.size + (64 << 10));
    if (encode_into(codec, in, (size_t)bound, &out, &err))
        fail_msg("%s, %zu bytes: %s", codec->ops->name, in.size, err.message);
    return out;
}

static void round_trip(const zb__codec *codec, bytes sample) {
    bytes once = run_encoder(codec, sample), again = run_encoder(codec, sample), other;
    assert_decodes(codec->ops, once.data, once.size, sample.data, sample.size);
    assert_int_equal(once.size, again.size);
    assert_memory_equal(once.data, again.data, once.size);
    zb_error err = {0};
    assert_int_equal(encode_into(codec, sample, 3 * sample.size + 100000, &other, &err), ZB_OK);
    assert_int_equal(other.size, once.size);
    assert_memory_equal(other.data, once.data, once.size);
    free(other.data);
    for (size_t less = 1; less <= once.size; less = less * 3 + 1) {
        enum zb_code code = encode_into(codec, sample, once.size - less, &other, &err);
        assert_true(code == ZB_EINVAL || code == ZB_OK);
        if (code == ZB_OK) /* a compressor that tries harder with less room */
            assert_decodes(codec->ops, other.data, other.size, sample.data, sample.size);
        free(other.data);
    }
    free(once.data);
    free(again.data);
}

void assert_round_trips(const zb__codec_ops *ops, const char *configuration, uint32_t item) {
    static const size_t sizes[] = {0, 1, 2, 7, 64, 129, 1000, 4097, 150001};
    zb__codec codec = make_codec(ops, configuration, item);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
            bytes sample = make_sample((enum sample_kind)kind, sizes[i], (unsigned)i);
            round_trip(&codec, sample);
            free(sample.data);
        }
    }
    for (unsigned shift = 32; shift < 64; shift++)
        assert_true(ops->bytes.encode_bound((uint64_t)1 << shift) >= (uint64_t)1 << shift);
    assert_true(ops->bytes.encode_bound(UINT64_MAX) == UINT64_MAX);
    zb__codec_free(&codec);
}
