/* SPDX-License-Identifier: MIT */
#include "decode.h"
#include "codec/table.h"

#define OPS (zb__codec_find("crc32c"))

static const uint8_t nine[] = "123456789\x83\x92\x06\xe3";
#define NINE_SIZE 13

static void verified(void **state) {
    (void)state;
    assert_decodes(OPS, nine, NINE_SIZE, "123456789", 9);
    assert_decodes(OPS, "\0\0\0\0", 4, "", 0);
    assert_int_equal(OPS->bytes.fixed_overhead, 4);
}

static void message_has_both_values(void **state) {
    (void)state;
    uint8_t wrong[NINE_SIZE];
    memcpy(wrong, nine, NINE_SIZE);
    wrong[12] = 0x12;
    assert_fails(OPS, wrong, NINE_SIZE, 9, ZB_ECHECKSUM,
                 "crc32c is 0xe3069283, expected 0x12069283");
}

static void wrong_sizes(void **state) {
    (void)state;
    assert_fails(OPS, nine, NINE_SIZE, 10, ZB_EFORMAT, "decode to 9 bytes, expected 10");
    assert_fails(OPS, nine, NINE_SIZE, 8, ZB_EFORMAT, "decode to 9 bytes, expected 8");
    assert_fails(OPS, nine, 3, 0, ZB_EFORMAT, "3 bytes are too few");
    assert_fails(OPS, nine, 0, 0, ZB_EFORMAT, "0 bytes are too few");
    decoding d = decode_whole(OPS, 20);
    d.exact = false;
    assert_int_equal(run_decoder(&d, nine, NINE_SIZE), ZB_OK);
    assert_int_equal(d.out.size, 9);
    free(d.out.data);
}

/* A part is as good as the whole, and so is its checksum. */
static void parts(void **state) {
    (void)state;
    bytes in = {exact_copy(nine, NINE_SIZE), NINE_SIZE}, out = {exact_copy(nine, 9), 9};
    assert_parts_decode(OPS, in, out);
    in.data[8] ^= 1;
    decoding d = decode_whole(OPS, 9);
    d.hi = 2;
    assert_int_equal(run_decoder(&d, in.data, in.size), ZB_ECHECKSUM);
    free(d.out.data);
    in.data[8] ^= 1;
    assert_survives_damage(OPS, in, 9);
    free(in.data);
    free(out.data);
}

/* Every single flipped bit is found. */
static void flipped_bits(void **state) {
    (void)state;
    uint8_t wrong[NINE_SIZE];
    for (size_t bit = 0; bit < 8 * NINE_SIZE; bit++) {
        memcpy(wrong, nine, NINE_SIZE);
        wrong[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_fails(OPS, wrong, NINE_SIZE, 9, ZB_ECHECKSUM, "crc32c is 0x");
    }
}

static void encoded(void **state) {
    (void)state;
    assert_round_trips(OPS, "{}", 1);
    zb__codec codec = make_codec(OPS, "{}", 1);
    bytes out = run_encoder(&codec, (bytes){(uint8_t *)nine, 9});
    zb__codec_free(&codec);
    assert_int_equal(out.size, NINE_SIZE);
    assert_memory_equal(out.data, nine, NINE_SIZE);
    free(out.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encoded),
        cmocka_unit_test(verified),
        cmocka_unit_test(message_has_both_values),
        cmocka_unit_test(wrong_sizes),
        cmocka_unit_test(parts),
        cmocka_unit_test(flipped_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
