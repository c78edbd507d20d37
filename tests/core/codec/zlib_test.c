/* SPDX-License-Identifier: MIT */
/* Streams as zlib and libdeflate write them, and streams that no reader may accept. */
#include "decode.h"

#include <libdeflate.h>

#include "codec/table.h"

#define OPS (zb__codec_find("numcodecs.zlib"))

static bytes make_stream(bytes data, int level) {
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(level);
    size_t bound = libdeflate_zlib_compress_bound(compressor, data.size);
    bytes b = {malloc(bound), 0};
    b.size = libdeflate_zlib_compress(compressor, data.data, data.size, b.data, bound);
    libdeflate_free_compressor(compressor);
    return b;
}

/* A chunk that zarr-python wrote: int32 0, 1, 2, 3 at level 3; and 3, 3, 3, 3 at level 0. */
static void chunks_of_zarr_python(void **state) {
    (void)state;
    static const uint8_t level_3[] = {0x78, 0x5e, 0x63, 0x60, 0x60, 0x60, 0x60, 0x04, 0x62, 0x26,
                                      0x20, 0x66, 0x06, 0x62, 0x00, 0x00, 0x38, 0x00, 0x07};
    static const uint8_t level_0[] = {0x78, 0x01, 0x01, 0x10, 0x00, 0xef, 0xff, 3, 0,
                                      0,    0,    3,    0,    0,    0,    3,    0, 0,
                                      0,    3,    0,    0,    0,    0x00, 0x88, 0, 0x0d};
    static const uint8_t ramp[16] = {0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3},
                         threes[16] = {3, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 3};
    assert_decodes(OPS, level_3, sizeof level_3, ramp, 16);
    assert_decodes(OPS, level_0, sizeof level_0, threes, 16);
}

static void all_kinds_of_data(void **state) {
    (void)state;
    for (int level = 0; level <= 12; level += 3) {
        for (unsigned kind = 0; kind < SAMPLE_KINDS; kind++) {
            bytes data = make_sample(kind, kind * 3333, 1), in = make_stream(data, level);
            assert_decodes(OPS, in.data, in.size, data.data, data.size);
            assert_parts_decode(OPS, in, data);
            free(in.data);
            free(data.data);
        }
    }
}

static void refused(void **state) {
    (void)state;
    bytes data = make_sample(SAMPLE_TEXT, 1000, 1), in = make_stream(data, 6);
    static const struct {
        size_t at;
        uint8_t flip;
        enum zb_code code;
        const char *text;
    } cases[] = {
        {0, 1, ZB_EFORMAT, "begins with 79 9c"},    /* another method */
        {0, 0x80, ZB_EFORMAT, "begins with f8 9c"}, /* too large a window */
        {1, 1, ZB_EFORMAT, "which is no header"},   /* not a multiple of 31 */
        {2, 7, ZB_EFORMAT, "damaged or truncated"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        in.data[cases[i].at] ^= cases[i].flip;
        assert_fails(OPS, in.data, in.size, 1000, cases[i].code, cases[i].text);
        in.data[cases[i].at] ^= cases[i].flip;
    }
    in.data[in.size - 1] ^= 1;
    assert_fails(OPS, in.data, in.size, 1000, ZB_ECHECKSUM, "adler32 is 0x");
    in.data[in.size - 1] ^= 1;
    assert_fails(OPS, in.data, in.size - 1, 1000, ZB_EFORMAT,
                 "3 bytes where the 4 of the checksum");
    assert_fails(OPS, in.data, in.size, 999, ZB_EFORMAT, "more bytes than expected");
    assert_fails(OPS, in.data, in.size, 1001, ZB_EFORMAT, "to 1000 bytes, expected 1001");
    assert_fails(OPS, "", 0, 0, ZB_EFORMAT, "0 bytes where a stream should be");
    uint8_t *longer = malloc(in.size + 1); /* bytes after the stream belong to nothing */
    memcpy(longer, in.data, in.size);
    longer[in.size] = 0;
    assert_fails(OPS, longer, in.size + 1, 1000, ZB_EFORMAT, "5 bytes where the 4");
    free(longer);
    in.data[1] = 0xbb; /* with a dictionary, and the header's own check right */
    assert_fails(OPS, in.data, in.size, 1000, ZB_EUNSUPPORTED, "dictionary");
    free(in.data);
    free(data.data);
}

/* 64 MiB of zeros in 64 KiB, for a chunk of 1000 bytes. */
static void bombs_stop_at_the_capacity(void **state) {
    (void)state;
    bytes data = {calloc(1, 64 << 20), 64 << 20}, in = make_stream(data, 9);
    assert_true(in.size < 100000);
    assert_fails(OPS, in.data, in.size, 1000, ZB_EFORMAT, "more bytes than expected");
    free(in.data);
    free(data.data);
}

static void damage(void **state) {
    (void)state;
    bytes data = make_sample(SAMPLE_TEXT, 600, 1);
    for (int level = 0; level <= 6; level += 6) { /* stored, deflated */
        bytes in = make_stream(data, level);
        assert_survives_damage(OPS, in, data.size);
        free(in.data);
    }
    free(data.data);
}

/* The encoded sizes by level, which the decoder of libdeflate decodes. */
static size_t encoded_size(const char *configuration, bytes sample) {
    zb__codec codec = make_codec(OPS, configuration, 2);
    bytes out = run_encoder(&codec, sample);
    struct libdeflate_decompressor *decoder = libdeflate_alloc_decompressor();
    uint8_t *back = malloc(sample.size);
    assert_int_equal(
        libdeflate_zlib_decompress(decoder, out.data, out.size, back, sample.size, NULL),
        LIBDEFLATE_SUCCESS);
    assert_memory_equal(back, sample.data, sample.size);
    libdeflate_free_decompressor(decoder);
    free(back);
    free(out.data);
    zb__codec_free(&codec);
    return out.size;
}

static void encoded(void **state) {
    (void)state;
    bytes sample = make_sample(SAMPLE_TEXT, 100000, 1);
    size_t sizes[10];
    for (int level = -1; level <= 9; level++) {
        char text[32];
        snprintf(text, sizeof text, "{\"level\":%d}", level);
        assert_round_trips(OPS, text, 2);
        if (level >= 0)
            sizes[level] = encoded_size(text, sample);
    }
    assert_true(sizes[0] > sample.size && sizes[1] < sample.size);
    assert_true(sizes[9] < sizes[5] && sizes[5] < sizes[1]);
    assert_int_equal(encoded_size("{\"level\":-1}", sample), sizes[6]);
    assert_int_equal(encoded_size("{}", sample), sizes[1]); /* as numcodecs */
    free(sample.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_of_zarr_python),
        cmocka_unit_test(all_kinds_of_data),
        cmocka_unit_test(refused),
        cmocka_unit_test(damage),
        cmocka_unit_test(bombs_stop_at_the_capacity),
        cmocka_unit_test(encoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
