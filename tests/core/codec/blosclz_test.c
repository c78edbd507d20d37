/* SPDX-License-Identifier: MIT */
/* BloscLZ streams made by hand, one for each kind of instruction, and the ways to damage them. */
#include "decode.h"

#include "codec/blosc.h"

static size_t decode(const uint8_t *in, size_t size, uint8_t **out, size_t capacity) {
    return decode_stream(zb__blosclz_decode, in, size, out, capacity);
}

static void check(const uint8_t *in, size_t size, const void *expected, size_t expected_size) {
    uint8_t *out;
    /* With and without room behind the end, which copies matches in another way. */
    for (size_t more = 0; more <= 64; more += 32) {
        assert_int_equal(decode(in, size, &out, expected_size + more), expected_size);
        assert_memory_equal(out, expected, expected_size);
        free(out);
    }
    if (expected_size) {
        assert_int_equal(decode(in, size, &out, expected_size - 1), 0);
        free(out);
    }
}
#define CHECK(in, expected) check(in, sizeof in, expected, sizeof expected - 1)

static void instructions(void **state) {
    (void)state;
    static const uint8_t literals[] = {0x02, 'a', 'b', 'c'};
    CHECK(literals, "abc");
    static const uint8_t version_bits[] = {0x20 | 2, 'a', 'b', 'c'};
    CHECK(version_bits, "abc");
    static const uint8_t match[] = {0x03, 'a', 'b', 'c', 'd', 2 << 5, 3};
    CHECK(match, "abcdabcd");
    static const uint8_t run[] = {0x00, 'x', 6 << 5, 0};
    CHECK(run, "xxxxxxxxx");
    static const uint8_t overlap[] = {0x01, 'x', 'y', 3 << 5, 1, 0x00, '.'};
    CHECK(overlap, "xyxyxyx.");
    static const uint8_t longer[] = {0x01, 'x', 'y', 7 << 5, 2, 1};
    CHECK(longer, "xyxyxyxyxyxyx");
}

static void long_and_far_matches(void **state) {
    (void)state;
    enum { FIRST = 9, RUN = 9 + 2 * 255 + 7, SIZE = 1 + FIRST + 21 * RUN };
    uint8_t *expected = malloc(SIZE), in[200], *to = in;
    const uint8_t literal[2] = {0x00, '!'};
    memcpy(to, literal, 2);
    to += 2;
    expected[0] = '!';
    size_t done = 1;
    const uint8_t first[4] = {6 << 5, 0, 0, 'z'}; /* eight more, and a literal */
    memcpy(to, first, 4);
    to += 4;
    memset(expected + done, '!', 8);
    expected[done + 8] = 'z';
    done += FIRST;
    for (int i = 0; i < 17; i++) { /* ten bytes back: the pattern goes on */
        const uint8_t match[5] = {7 << 5, 255, 255, 7, 9};
        memcpy(to, match, sizeof match);
        to += sizeof match;
        for (size_t k = 0; k < RUN; k++, done++)
            expected[done] = expected[done - 10];
    }
    assert_true(done > 8192 + 258);
    const uint8_t farthest_near[] = {(1 << 5) | 31, 254};     /* 8191 back */
    const uint8_t nearest_far[] = {(1 << 5) | 31, 255, 0, 0}; /* 8192 back */
    const uint8_t farther[] = {(1 << 5) | 31, 255, 1, 2};     /* 8192 + 258 back */
    const struct {
        const uint8_t *code;
        size_t size, distance;
    } far_matches[] = {{farthest_near, sizeof farthest_near, 8191},
                       {nearest_far, sizeof nearest_far, 8192},
                       {farther, sizeof farther, 8192 + 258}};
    for (size_t i = 0; i < 3; i++) {
        memcpy(to, far_matches[i].code, far_matches[i].size);
        to += far_matches[i].size;
        for (size_t k = 0; k < 3; k++, done++)
            expected[done] = expected[done - far_matches[i].distance];
    }
    check(in, (size_t)(to - in), expected, done);
    free(expected);
}

static void refused(void **state) {
    (void)state;
    static const uint8_t before_start[] = {0x00, 'a', 1 << 5, 1};
    static const uint8_t no_literal[] = {0x02, 'a', 'b'};
    static const uint8_t no_distance[] = {0x00, 'a', 1 << 5};
    static const uint8_t no_length[] = {0x00, 'a', 7 << 5, 255};
    static const uint8_t no_far_distance[] = {0x00, 'a', (1 << 5) | 31, 255, 0};
    const struct {
        const uint8_t *in;
        size_t size;
    } cases[] = {{before_start, sizeof before_start},       {no_literal, sizeof no_literal},
                 {no_distance, sizeof no_distance},         {no_length, sizeof no_length},
                 {no_far_distance, sizeof no_far_distance}, {NULL, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t *out;
        assert_int_equal(decode(cases[i].in, cases[i].size, &out, 1000), 0);
        free(out);
    }
}

/* A match whose length is told by nine million bytes of 255 is longer than 2^31, in a block of more
   than 8 MB. Decoders that add up in an int then write far outside of the block. */
static void length_that_wraps_an_int(void **state) {
    (void)state;
    size_t size = 9 << 20;
    uint8_t *in = malloc(size), *out;
    memset(in, 255, size);
    const uint8_t start[3] = {0x00, 'x', 7 << 5};
    memcpy(in, start, sizeof start);
    in[size - 2] = in[size - 1] = 0;
    assert_int_equal(decode(in, size, &out, 16 << 20), 0);
    free(out);
    free(in);
}

/* Any bytes are a stream of some kind: none may leave its buffers (decode checks, with
   AddressSanitizer). */
static void noise(void **state) {
    (void)state;
    for (unsigned seed = 0; seed < 20000; seed++) {
        bytes in = make_sample(SAMPLE_NOISE, 1 + seed % 60, seed);
        uint8_t *out;
        decode(in.data, in.size, &out, seed % 300);
        free(out);
        free(in.data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions), cmocka_unit_test(long_and_far_matches),
        cmocka_unit_test(refused),      cmocka_unit_test(length_that_wraps_an_int),
        cmocka_unit_test(noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
