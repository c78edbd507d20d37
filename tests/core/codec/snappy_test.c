/* SPDX-License-Identifier: MIT */
/* Snappy streams made by hand, one for each kind of element, and the ways to damage them. */
#include "decode.h"

#include "codec/blosc.h"

static size_t decode(const uint8_t *in, size_t size, uint8_t **out, size_t capacity) {
    return decode_stream(zb__snappy_decode, in, size, out, capacity);
}

static void check(const uint8_t *in, size_t size, const void *expected, size_t expected_size) {
    uint8_t *out;
    for (size_t more = 0; more <= 64; more += 32) {
        assert_int_equal(decode(in, size, &out, expected_size + more), expected_size);
        assert_memory_equal(out, expected, expected_size);
        free(out);
    }
    assert_int_equal(decode(in, size, &out, expected_size - 1), 0);
    free(out);
    for (size_t cut = 0; cut < size; cut++) { /* no stream may end early */
        assert_int_equal(decode(in, cut, &out, expected_size), 0);
        free(out);
    }
}
#define CHECK(in, expected) check(in, sizeof in, expected, sizeof expected - 1)

static void elements(void **state) {
    (void)state;
    static const uint8_t literal[] = {3, 2 << 2, 'a', 'b', 'c'};
    CHECK(literal, "abc");
    static const uint8_t long_literal[] = {3, 60 << 2, 2, 'a', 'b', 'c'};
    CHECK(long_literal, "abc");
    static const uint8_t longer_literal[] = {3, 63 << 2, 2, 0, 0, 0, 'a', 'b', 'c'};
    CHECK(longer_literal, "abc");
    static const uint8_t near[] = {8, 3 << 2, 'a', 'b', 'c', 'd', 1, 4};
    CHECK(near, "abcdabcd");
    static const uint8_t run[] = {12, 0, 'x', 7 << 2 | 1, 1};
    CHECK(run, "xxxxxxxxxxxx");
    static const uint8_t middle[] = {6, 2 << 2, 'a', 'b', 'c', 2 << 2 | 2, 3, 0};
    CHECK(middle, "abcabc");
    static const uint8_t far[] = {4, 2 << 2, 'a', 'b', 'c', 3, 2, 0, 0, 0};
    CHECK(far, "abcb");
    static const uint8_t two_byte_size[] = {0x83, 0, 2 << 2, 'a', 'b', 'c'};
    CHECK(two_byte_size, "abc");
}

/* A copy from 300 back: three bits of the distance are in the first byte. */
static void high_bits_of_a_distance(void **state) {
    (void)state;
    uint8_t in[2 + 3 + 300 + 2] = {(304 & 127) | 128, 304 >> 7, 61 << 2, 299 & 255, 299 >> 8};
    for (int i = 0; i < 300; i++)
        in[5 + i] = (uint8_t)(i % 251);
    in[305] = 300 >> 8 << 5 | 1;
    in[306] = 300 & 255;
    uint8_t *out;
    assert_int_equal(decode(in, sizeof in, &out, 304), 304);
    assert_memory_equal(out, in + 5, 300);
    assert_memory_equal(out + 300, in + 5, 4);
    free(out);
}

static void damaged(void **state) {
    (void)state;
    static const struct {
        uint8_t in[12];
        size_t size;
    } cases[] = {
        {{0}, 1},                                    /* no bytes: blosc has no such stream */
        {{3, 2 << 2, 'a', 'b', 'c', 'd'}, 6},        /* a byte behind the end */
        {{4, 2 << 2, 'a', 'b', 'c'}, 5},             /* fewer bytes than it says */
        {{3, 60 << 2, 200, 'a', 'b', 'c'}, 6},       /* a literal beyond the input */
        {{8, 3 << 2, 'a', 'b', 'c', 'd', 1, 5}, 8},  /* a copy from before the start */
        {{8, 3 << 2, 'a', 'b', 'c', 'd', 1, 0}, 8},  /* from itself */
        {{7, 3 << 2, 'a', 'b', 'c', 'd', 1, 4}, 8},  /* a copy beyond the end */
        {{0x83, 0x80, 0x80, 0x80, 0x80, 0x00}, 6},   /* a size of more than 32 bits */
        {{0xff, 0xff, 0xff, 0xff, 0x7f, 0, 'a'}, 7}, /* 34 of them set */
        {{0xff, 0xff, 0xff, 0xff, 0x0f, 0, 'a'}, 7}, /* 4 GiB */
        {{4, 2 << 2, 'a', 'b', 'c', 3, 255, 255, 255, 255}, 10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t *out;
        assert_int_equal(decode(cases[i].in, cases[i].size, &out, 100), 0);
        free(out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements),
        cmocka_unit_test(high_bits_of_a_distance),
        cmocka_unit_test(damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
