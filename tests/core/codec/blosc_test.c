/* SPDX-License-Identifier: MIT */
/* Our decoder against containers that libblosc writes: every compressor, filter, split and type
   size. */
#include "decode.h"

#include <blosc.h>

#include "codec/blosc.h"
#include "codec/table.h"
#include "util/bytes.h"
#include "util/bytes.h"
#include "util/scratch.h"

#define OPS (zb__codec_find("blosc"))

/* The options by which a container is written. */
typedef struct recipe {
    const char *compressor;
    int level, shuffle;
    size_t typesize, block_size;
    int split, threads;
} recipe;

static bytes compress(const recipe *r, bytes data) {
    bytes out = {malloc(data.size + BLOSC_MAX_OVERHEAD), 0};
    assert_non_null(out.data);
    blosc_set_splitmode(r->split);
    int size = blosc_compress_ctx(r->level, r->shuffle, r->typesize, data.size, data.data, out.data,
                                  data.size + BLOSC_MAX_OVERHEAD, r->compressor, r->block_size,
                                  r->threads);
    assert_true(size > 0);
    out.size = (size_t)size;
    return out;
}

/* Told to split always, libblosc writes small blocks that its own decoder, like ours, takes for
   unsplit ones. Returns false for those. */
static bool is_readable(const recipe *r, bytes in, bytes data) {
    uint8_t *out = calloc(1, data.size + 1);
    int size = blosc_decompress_ctx(in.data, out, data.size, 1);
    bool readable = size == (int)data.size && memcmp(out, data.data, data.size) == 0;
    free(out);
    assert_true(readable || (r->split == BLOSC_ALWAYS_SPLIT && r->typesize > 1));
    return readable;
}

static unsigned unreadable;

static void check(const recipe *r, bytes data, bool parts) {
    bytes in = compress(r, data);
    if (!is_readable(r, in, data)) {
        unreadable++;
        free(in.data);
        return;
    }
    decoding d = decode_whole(OPS, data.size);
    enum zb_code code = run_decoder(&d, in.data, in.size);
    if (code || memcmp(d.out.data, data.data, data.size) != 0)
        fail_msg("%s level %d shuffle %d typesize %zu block %zu split %d size %zu: %s",
                 r->compressor, r->level, r->shuffle, r->typesize, r->block_size, r->split,
                 data.size, code ? d.err.message : "other bytes");
    free(d.out.data);
    if (parts)
        assert_parts_decode(OPS, in, data);
    free(in.data);
}

static const char *const compressors[] = {"blosclz", "lz4", "lz4hc", "zlib", "zstd", "snappy"};
/* snappy comes last, for libraries that are built without it */
#define COMPRESSORS                                                                                \
    (sizeof compressors / sizeof *compressors - (blosc_compname_to_compcode("snappy") < 0))
static const size_t sizes[] = {0, 1, 2, 7, 63, 128, 129, 1000, 4096, 5000, 65536, 70001};
#define SIZES (sizeof sizes / sizeof *sizes)

static void all_recipes(void **state) {
    (void)state;
    static const size_t typesizes[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                       11, 12, 13, 14, 15, 16, 17, 33, 255};
    unsigned checked = 0;
    for (size_t s = 0; s < SIZES; s++) {
        for (unsigned kind = 0; kind < SAMPLE_KINDS; kind++) {
            bytes data = make_sample(kind, sizes[s], 7);
            for (size_t t = 0; t < sizeof typesizes / sizeof *typesizes; t++) {
                for (int shuffle = 0; shuffle < 3; shuffle++) {
                    /* All pairs of compressor and splitting come by, for each of the others. */
                    unsigned turn = checked++;
                    recipe r = {.compressor = compressors[turn % COMPRESSORS],
                                .level = 5,
                                .shuffle = shuffle,
                                .typesize = typesizes[t],
                                .block_size = turn % 3 == 0   ? 0
                                              : turn % 3 == 1 ? 1024
                                                              : 4000,
                                .split = 1 + (int)(turn / COMPRESSORS % 4),
                                .threads = 1};
                    check(&r, data, false);
                }
            }
            free(data.data);
        }
    }
    print_message("%u of %u containers skipped: libblosc cannot read them either\n", unreadable,
                  checked);
    assert_true(unreadable < checked / 20);
}

static void every_compressor_splits_and_shuffles(void **state) {
    (void)state;
    static const size_t typesizes[] = {1, 2, 4, 8, 16};
    for (size_t c = 0; c < COMPRESSORS; c++) {
        for (int split = 1; split <= 4; split++) {
            for (int shuffle = 0; shuffle < 3; shuffle++) {
                for (size_t t = 0; t < 5; t++) {
                    for (int level = 0; level <= 9; level += 3) {
                        bytes data = make_sample(SAMPLE_RAMP, 20011, 3);
                        recipe r = {compressors[c], level, shuffle, typesizes[t], 4096, split, 1};
                        check(&r, data, level == 3);
                        free(data.data);
                    }
                }
            }
        }
    }
}

/* With several threads the blocks lie in any order. */
static void blocks_out_of_order(void **state) {
    (void)state;
    bytes data = make_sample(SAMPLE_TEXT, 1 << 20, 5);
    for (int trial = 0; trial < 8; trial++) {
        recipe r = {"lz4", 5, 1, 4, 8192, 4, 4};
        check(&r, data, trial == 0);
    }
    free(data.data);
}

/* Only the requested blocks are touched. */
static void parts_leave_the_rest_alone(void **state) {
    (void)state;
    bytes data = make_sample(SAMPLE_RAMP, 200000, 1);
    recipe r = {"lz4", 5, 1, 2, 4096, BLOSC_NEVER_SPLIT, 1};
    bytes in = compress(&r, data);
    size_t block = zb__load_le32(in.data + 8); /* libblosc takes the option as a hint */
    assert_true(data.size > 5 * block);
    decoding d = decode_whole(OPS, data.size);
    d.lo = 3 * block + 5;
    d.hi = 5 * block;
    assert_int_equal(run_decoder(&d, in.data, in.size), ZB_OK);
    assert_memory_equal(d.out.data + 3 * block, data.data + 3 * block, 2 * block);
    for (size_t i = 0; i < data.size; i++) {
        if (i < 3 * block || i >= 5 * block)
            assert_int_equal(d.out.data[i], UNTOUCHED);
    }
    free(d.out.data);
    free(in.data);
    free(data.data);
}

/* The filters by themselves, with each set of instructions, against plain loops. */
static void filters_with_each_instruction_set(void **state) {
    (void)state;
    for (size_t typesize = 1; typesize <= 40; typesize++) {
        for (size_t size = 1; size < 9000; size = size * 3 / 2 + 5) {
            bytes in = make_sample(SAMPLE_NOISE, size, (unsigned)typesize);
            size_t n = size / typesize;
            uint8_t *bytewise = exact_copy(in.data, size), *bitwise = exact_copy(in.data, size);
            for (size_t i = 0; i < n; i++) {
                for (size_t j = 0; j < typesize; j++) {
                    uint8_t byte = 0;
                    for (size_t bit = 0; bit < 8 && n % 8 == 0; bit++)
                        byte |= (uint8_t)((in.data[(8 * j + bit) * (n / 8) + i / 8] >> (i % 8) & 1)
                                          << bit);
                    bytewise[i * typesize + j] = in.data[j * n + i];
                    if (n % 8 == 0)
                        bitwise[i * typesize + j] = byte;
                }
            }
            for (enum zb__simd simd = ZB__SIMD_NONE; simd <= zb__simd_best(); simd++) {
                uint8_t *out = calloc(1, size);
                zb__unshuffle(simd, typesize, in.data, size, out);
                assert_memory_equal(out, bytewise, size);
                zb__bitunshuffle(simd, typesize, in.data, size, out);
                assert_memory_equal(out, bitwise, size);
                free(out);
            }
            free(bytewise);
            free(bitwise);
            free(in.data);
        }
    }
}

static void damage(void **state) {
    (void)state;
    static const enum sample_kind kinds[] = {SAMPLE_TEXT, SAMPLE_RAMP, SAMPLE_ZEROS};
    for (size_t c = 0; c < COMPRESSORS; c++) {
        for (int shuffle = 0; shuffle < 3; shuffle++) {
            recipe r = {compressors[c], 9, shuffle, 4, 640, BLOSC_FORWARD_COMPAT_SPLIT, 1};
            bytes data = {NULL, 0}, in = {NULL, 0};
            /* Small inputs are often just stored: take the hardest that is compressed. */
            for (size_t k = 0; k < 3 && in.size >= data.size; k++) {
                free(data.data);
                free(in.data);
                data = make_sample(kinds[k], 1500, 1);
                in = compress(&r, data);
            }
            assert_true(in.size < data.size);
            assert_survives_damage(OPS, in, data.size);
            free(in.data);
            free(data.data);
        }
    }
}

static void put32(uint8_t *at, uint32_t value) {
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* Writes the byte, decodes, puts it back. */
static void check_header_byte(bytes in, size_t at, uint8_t value, enum zb_code code,
                              const char *text) {
    uint8_t saved = in.data[at];
    in.data[at] = value;
    assert_fails(OPS, in.data, in.size, 5000, code, text);
    in.data[at] = saved;
}

static void header_rules(void **state) {
    (void)state;
    bytes data = make_sample(SAMPLE_RAMP, 5000, 1);
    recipe r = {"lz4", 5, 1, 2, 1024, 4, 1};
    bytes in = compress(&r, data);
    check_header_byte(in, 0, 3, ZB_EUNSUPPORTED, "version is 3");
    check_header_byte(in, 0, 0, ZB_EUNSUPPORTED, "version is 0");
    check_header_byte(in, 1, 9, ZB_EUNSUPPORTED, "format 1 of version 9");
    check_header_byte(in, 2, in.data[2] | 8, ZB_EUNSUPPORTED, "flags are");
    check_header_byte(in, 2, in.data[2] | 4, ZB_EUNSUPPORTED, "flags are");
    check_header_byte(in, 2, 2 << 5, ZB_EFORMAT, "is damaged");
    check_header_byte(in, 2, 7 << 5, ZB_EUNSUPPORTED, "format 7");
    check_header_byte(in, 2, in.data[2] | 2, ZB_EFORMAT, "cannot hold 5000 stored");
    check_header_byte(in, 3, 0, ZB_EFORMAT, "typesize is 0");
    check_header_byte(in, 4, in.data[4] ^ 1, ZB_EFORMAT, "decode to 5001 bytes, expected 5000");
    check_header_byte(in, 7, 0x80, ZB_EFORMAT, "cannot hold");
    check_header_byte(in, 11, 1, ZB_EFORMAT, "block size is");
    check_header_byte(in, 12, in.data[12] ^ 1, ZB_EFORMAT, "the header says");
    check_header_byte(in, 19, 1, ZB_EFORMAT, "block 0: the block starts at byte");
    uint8_t saved[4];
    memcpy(saved, in.data + 8, 4);
    put32(in.data + 8, 0);
    assert_fails(OPS, in.data, in.size, 5000, ZB_EFORMAT, "block size is 0");
    put32(in.data + 8, 1); /* 5000 blocks, whose starts do not fit */
    assert_fails(OPS, in.data, in.size, 5000, ZB_EFORMAT, "too few for 5000 blocks");
    memcpy(in.data + 8, saved, 4);
    assert_decodes(OPS, in.data, in.size, data.data, data.size);
    free(in.data);
    free(data.data);
}

/* A frame of 64 bytes that claims 2 GiB gets no memory. */
static void claims_are_not_believed(void **state) {
    (void)state;
    uint8_t frame[64] = {2, 1, 0x10 | 1 << 5, 1};
    put32(frame + 4, 0x7fffffff);
    put32(frame + 8, 0x7fffffff);
    put32(frame + 12, sizeof frame);
    put32(frame + 16, 20);
    put32(frame + 20, 40);
    assert_fails(OPS, frame, sizeof frame, 4096, ZB_EFORMAT, "decode to 2147483647 bytes");
}

/* Where the size is only bounded, a smaller container is right and a larger one is not. */
static void bounded_sink(void **state) {
    (void)state;
    bytes data = make_sample(SAMPLE_RAMP, 3000, 1);
    recipe r = {"zstd", 5, 1, 2, 1024, 4, 1};
    bytes in = compress(&r, data);
    decoding d = decode_whole(OPS, 4000);
    d.exact = false;
    assert_int_equal(run_decoder(&d, in.data, in.size), ZB_OK);
    assert_int_equal(d.out.size, 3000);
    assert_memory_equal(d.out.data, data.data, 3000);
    free(d.out.data);
    d.capacity = d.hi = 2999;
    assert_int_equal(run_decoder(&d, in.data, in.size), ZB_EFORMAT);
    free(d.out.data);
    free(in.data);
    free(data.data);
}

/* ---- Encoding ----------------------------------------------------------------------------- */

static void encoded(void **state) {
    (void)state;
    const char *const names[] = {"lz4",  "lz4hc", "blosclz",
                                 "zstd", "zlib",  compressors[COMPRESSORS - 1]};
    static const char *const shuffles[] = {"noshuffle", "shuffle", "bitshuffle"};
    static const int item_sizes[][2] = {{1, 0}, {2, 1},  {4, 4096},      {8, 1000},
                                        {3, 0}, {16, 1}, {255, 1 << 20}, {300, INT32_MAX}};
    char text[200];
    for (int i = 0; i < 2 * 6 * 3; i++) {
        const int *size = item_sizes[i % 8];
        snprintf(text, sizeof text,
                 "{\"cname\":\"%s\",\"clevel\":%d,\"shuffle\":\"%s\",\"typesize\":%d,"
                 "\"blocksize\":%d}",
                 names[i % 6], i * 7 % 10, shuffles[i % 3], size[0], size[1]);
        assert_round_trips(OPS, text, 4);
    }
}

/* Members that are missing in the configuration get zarr-python's values; and libblosc, given the
   same, makes containers of about that size. */
static void encoded_by_default(void **state) {
    (void)state;
    bytes sample = make_sample(SAMPLE_RAMP, 50000, 1);
    for (uint32_t item = 1; item <= 8; item *= 2) {
        zb__codec codec = make_codec(OPS, "{}", item);
        recipe r = {"zstd", 5, item > 1 ? 1 : 2, item, 0, BLOSC_NEVER_SPLIT, 1};
        bytes out = run_encoder(&codec, sample), expected = compress(&r, sample);
        zb__codec_free(&codec);
        assert_int_equal(out.data[2], expected.data[2]); /* compressor and filter */
        assert_int_equal(out.data[3], item);
        assert_true(out.size <= expected.size + expected.size / 8);
        free(out.data);
        free(expected.data);
    }
    free(sample.data);
}

/* libblosc decodes the containers that we encode, and they are hardly longer than its own. */
static void others_decode(void **state) {
    (void)state;
    static const char *const shuffles[] = {"noshuffle", "shuffle", "bitshuffle"};
    static const int typesizes[] = {1, 2, 3, 4, 7, 8, 12, 16, 17, 255};
    char text[200];
    uint8_t *back = malloc(700001);
    int n = 0;
    for (size_t s = 0; s < SIZES + 1; s++) {
        for (unsigned kind = 0; kind < SAMPLE_KINDS; kind++) {
            bytes data = make_sample(kind, s < SIZES ? sizes[s] : 700001, 3);
            for (int i = 0; i < (int)COMPRESSORS * 3; i++, n++) {
                snprintf(text, sizeof text,
                         "{\"cname\":\"%s\",\"clevel\":%d,\"shuffle\":\"%s\",\"typesize\":%d,"
                         "\"blocksize\":%d}",
                         compressors[i % (int)COMPRESSORS], n % 10, shuffles[i / (int)COMPRESSORS],
                         typesizes[n % 10], n % 3 ? 0 : n * 100);
                zb__codec codec = make_codec(OPS, text, 4);
                bytes out = run_encoder(&codec, data);
                zb__codec_free(&codec);
                assert_true(out.size <= data.size + BLOSC_MAX_OVERHEAD);
                int size = blosc_decompress_ctx(out.data, back, data.size, 1);
                if (size != (int)data.size || memcmp(back, data.data, data.size) != 0)
                    fail_msg("%s, %zu bytes of kind %u: libblosc gives %d", text, data.size, kind,
                             size);
                free(out.data);
            }
            free(data.data);
        }
    }
    free(back);
}

/* Filters and their inverses, by all instructions. */
static void filters_go_back(void **state) {
    (void)state;
    for (size_t typesize = 1; typesize <= 33; typesize++) {
        for (size_t s = 0; s < SIZES; s++) {
            bytes in = make_sample(SAMPLE_NOISE, sizes[s], (unsigned)typesize);
            uint8_t *out = malloc(sizes[s] + 1), *back = malloc(sizes[s] + 1);
            for (int simd = 0; simd <= (int)zb__simd_best(); simd++) {
                zb__shuffle((enum zb__simd)simd, typesize, in.data, in.size, out);
                zb__unshuffle(ZB__SIMD_NONE, typesize, out, in.size, back);
                assert_memory_equal(back, in.data, in.size);
                zb__bitshuffle((enum zb__simd)simd, typesize, in.data, in.size, out);
                zb__bitunshuffle(ZB__SIMD_NONE, typesize, out, in.size, back);
                assert_memory_equal(back, in.data, in.size);
            }
            free(out);
            free(back);
            free(in.data);
        }
    }
}

static void not_encoded(void **state) {
    (void)state;
    uint8_t byte = 0, out[100];
    size_t size;
    zb_error err;
    /* More than a container can say; refused before anything is read. */
    zb__codec codec = make_codec(OPS, "{}", 1);
    zb__scratch *scratch = zb__scratch_take();
    assert_int_equal(
        OPS->bytes.encode(codec.state, scratch, &byte, INT32_MAX, out, sizeof out, &size, &err),
        ZB_ELIMIT);
    zb__scratch_put(scratch);
    zb__codec_free(&codec);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encoded),
        cmocka_unit_test(others_decode),
        cmocka_unit_test(filters_go_back),
        cmocka_unit_test(encoded_by_default),
        cmocka_unit_test(not_encoded),
        cmocka_unit_test(filters_with_each_instruction_set),
        cmocka_unit_test(all_recipes),
        cmocka_unit_test(every_compressor_splits_and_shuffles),
        cmocka_unit_test(blocks_out_of_order),
        cmocka_unit_test(parts_leave_the_rest_alone),
        cmocka_unit_test(damage),
        cmocka_unit_test(header_rules),
        cmocka_unit_test(claims_are_not_believed),
        cmocka_unit_test(bounded_sink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
