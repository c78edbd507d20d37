/* SPDX-License-Identifier: MIT */
/* Frames of every form that writers make, prefixes, bombs, and frames that must be refused. */
#include "decode.h"

#include <zstd.h>
#include "codec/table.h"
#include "codec/zstd.h"

#define OPS (zb__codec_find("zstd"))

/* The options by which a frame is written. */
typedef struct recipe {
    int level;
    bool checksum, no_content_size;
    int window_log; /* 0: the library's choice */
} recipe;

static bytes compress(recipe r, bytes data) {
    ZSTD_CCtx *context = ZSTD_createCCtx();
    bytes out = {malloc(ZSTD_compressBound(data.size)), 0};
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, r.level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, r.checksum);
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, !r.no_content_size);
    if (r.window_log)
        ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, r.window_log);
    out.size =
        ZSTD_compress2(context, out.data, ZSTD_compressBound(data.size), data.data, data.size);
    assert_false(ZSTD_isError(out.size));
    ZSTD_freeCCtx(context);
    return out;
}

/* a followed by b; both are freed. */
static bytes join(bytes a, bytes b) {
    bytes both = {malloc(a.size + b.size + 1), a.size + b.size};
    memcpy(both.data, a.data, a.size);
    memcpy(both.data + a.size, b.data, b.size);
    free(a.data);
    free(b.data);
    return both;
}

static bytes literal(const void *data, size_t size) {
    return (bytes){exact_copy(data, size), size};
}

/* A frame that does not tell its size gets it, and nothing else of it changes. */
static void sizes_are_stated(void **state) {
    static const size_t sizes[] = {1, 255, 256, 65791, 131073, 1000003};
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        bytes data = make_sample(1, sizes[s], 3);
        for (int form = 0; form < 8; form++) {
            const recipe r = {3, form & 1, form & 2, form & 4 ? 21 : 0};
            bytes in = compress(r, data), out = {malloc(in.size + ZB__ZSTD_STATED), 0};
            const bool lacks =
                ZSTD_getFrameContentSize(in.data, in.size) == ZSTD_CONTENTSIZE_UNKNOWN;
            assert_int_equal(zb__zstd_lacks_size(in.data, in.size), lacks);
            assert_int_equal(zb__zstd_state_size(in.data, in.size, data.size, out.data, &out.size),
                             lacks);
            if (lacks) {
                assert_int_equal(ZSTD_getFrameContentSize(out.data, out.size), data.size);
                assert_true(out.size <= in.size + ZB__ZSTD_STATED);
                assert_decodes(OPS, out.data, out.size, data.data, data.size);
                bytes two = join(literal(in.data, in.size), literal(in.data, in.size));
                assert_false(
                    zb__zstd_state_size(two.data, two.size, data.size, out.data, &out.size));
                free(two.data);
            }
            for (size_t cut = 0; cut < in.size && cut < 20; cut++)
                zb__zstd_lacks_size(in.data, cut); /* reads no more than that: sanitizers */
            free(in.data);
            free(out.data);
        }
        free(data.data);
    }
}

/* What the headers of a frame's blocks tell of its size: it is never denied. Where another one is
   taken for possible and stated, decoders refuse the frame. */
static void sizes_that_frames_may_hold(void **state) {
    static const size_t sizes[] = {1, 31, 32, 4095, 4096, 20000, 131073};
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (unsigned kind = 0; kind < SAMPLE_KINDS; kind++) {
            for (int level = -5; level <= 15; level += 10) {
                bytes data = make_sample(kind, sizes[s], 3);
                const recipe r = {level, false, true, level > 3 ? 17 : 10};
                bytes in = compress(r, data), out = {malloc(in.size + ZB__ZSTD_STATED), 0};
                const size_t others[] = {0, data.size - 1, data.size + 1, 2 * data.size};
                assert_true(zb__zstd_may_hold(in.data, in.size, data.size));
                assert_false(zb__zstd_may_hold(in.data, in.size, UINT64_MAX - 1));
                if (level < 0) /* which splits no blocks */
                    assert_false(zb__zstd_may_hold(in.data, in.size, data.size + (128 << 10)));
                for (size_t i = 0; i < 4; i++) {
                    if (!zb__zstd_may_hold(in.data, in.size, others[i]))
                        continue;
                    assert_true(
                        zb__zstd_state_size(in.data, in.size, others[i], out.data, &out.size));
                    assert_fails(OPS, out.data, out.size, others[i], ZB_EFORMAT, "zstd: ");
                }
                for (size_t cut = 0; cut < in.size; cut += 1 + cut / 4) {
                    bytes part = literal(in.data, cut);
                    assert_false(zb__zstd_may_hold(part.data, cut, data.size));
                    free(part.data);
                }
                free(in.data);
                free(out.data);
                free(data.data);
            }
        }
    }
}

static void frames_that_hold_noise(void **state) {
    (void)state;
    bytes data = make_sample(SAMPLE_NOISE, 300000, 1);
    bytes in = compress((recipe){3, false, true, 0}, data);
    assert_true(zb__zstd_may_hold(in.data, in.size, 300000));
    assert_false(zb__zstd_may_hold(in.data, in.size, 299999)); /* blocks that are not compressed */
    assert_false(zb__zstd_may_hold(in.data, in.size, 300001));
    bytes two = join(literal(in.data, in.size), literal(in.data, in.size));
    assert_false(zb__zstd_may_hold(two.data, two.size, 600000));
    free(two.data);
    free(in.data);
    for (int form = 0; form < 2; form++) { /* with a checksum; with a size */
        in = compress((recipe){3, form == 0, form == 0, 0}, data);
        assert_false(zb__zstd_may_hold(in.data, in.size, 300000));
        free(in.data);
    }
    free(data.data);
}

static void frames_of_all_kinds(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 100, 255, 256, 65791, 65792, 131072, 131073, 1000003};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (unsigned kind = 0; kind < SAMPLE_KINDS; kind++) {
            bytes data = make_sample(kind, sizes[s], 3);
            for (int form = 0; form < 8; form++) {
                recipe r = {form & 4 ? -5 : 3, form & 1, form & 2, form & 4 ? 21 : 0};
                bytes in = compress(r, data);
                assert_decodes(OPS, in.data, in.size, data.data, data.size);
                assert_parts_decode(OPS, in, data);
                free(in.data);
            }
            free(data.data);
        }
    }
}

static const uint8_t skippable[] = {0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'x', 'y', 'z'};

static void several_frames(void **state) {
    (void)state;
    bytes data = make_sample(SAMPLE_TEXT, 700000, 1), in = literal(skippable, sizeof skippable);
    const size_t cuts[] = {0, 300000, 300000, 400000, 700000};
    for (size_t i = 0; i + 1 < sizeof cuts / sizeof *cuts; i++) {
        bytes part = {data.data + cuts[i], cuts[i + 1] - cuts[i]};
        in = join(in, compress((recipe){.level = 1, .no_content_size = i % 2}, part));
        in = join(in, literal(skippable, sizeof skippable));
    }
    assert_decodes(OPS, in.data, in.size, data.data, data.size);
    assert_parts_decode(OPS, in, data);
    assert_fails(OPS, in.data, in.size, data.size - 1, ZB_EFORMAT, "more bytes than expected");
    assert_fails(OPS, in.data, in.size, data.size + 1, ZB_EFORMAT,
                 "decode to 700000 bytes, expected 700001");
    free(in.data);
    free(data.data);
}

/* A prefix costs the blocks that hold it: bytes behind them are not written. */
static void prefix_stops(void **state) {
    (void)state;
    bytes data = make_sample(SAMPLE_NOISE, 1 << 20, 1);
    for (int no_size = 0; no_size < 2; no_size++) {
        bytes in =
            compress((recipe){.level = 1, .no_content_size = no_size, .window_log = 17}, data);
        decoding d = decode_whole(OPS, data.size);
        d.hi = 1000;
        assert_int_equal(run_decoder(&d, in.data, in.size), ZB_OK);
        assert_memory_equal(d.out.data, data.data, 1000);
        assert_int_equal(d.out.data[data.size / 2], UNTOUCHED);
        assert_int_equal(d.out.data[data.size - 1], UNTOUCHED);
        free(d.out.data);
        free(in.data);
    }
    free(data.data);
}

/* Damage behind the prefix is not always seen; within it, or where there is a checksum, always. */
static void prefix_of_damaged_data(void **state) {
    (void)state;
    bytes data = make_sample(SAMPLE_TEXT, 1 << 20, 1);
    for (int checksum = 0; checksum < 2; checksum++) {
        bytes in = compress((recipe){.level = 3, .checksum = checksum}, data);
        in.data[in.size - 5 - 300] ^= 0x55;
        decoding d = decode_whole(OPS, data.size);
        assert_int_not_equal(run_decoder(&d, in.data, in.size), ZB_OK);
        free(d.out.data);
        d.hi = 1000;
        enum zb_code code = run_decoder(&d, in.data, in.size);
        assert_true(checksum ? code != ZB_OK : code == ZB_OK);
        free(d.out.data);
        /* Frames cut short or followed by garbage are found from their headers. */
        for (size_t size = in.size - 1; size > in.size - 20; size--) {
            assert_int_equal(run_decoder(&d, in.data, size), ZB_EFORMAT);
            free(d.out.data);
        }
        free(in.data);
    }
    free(data.data);
}

static void checksums(void **state) {
    (void)state;
    bytes data = make_sample(SAMPLE_TEXT, 5000, 1);
    bytes in = compress((recipe){.level = 3, .checksum = true}, data);
    in.data[in.size - 1] ^= 1;
    assert_fails(OPS, in.data, in.size, data.size, ZB_ECHECKSUM, "checksum does not match");
    free(in.data);
    free(data.data);
}

static void refused(void **state) {
    (void)state;
    bytes data = make_sample(SAMPLE_TEXT, 5000, 1);
    bytes good = compress((recipe){.level = 3}, data);
    assert_fails(OPS, "", 0, 0, ZB_EFORMAT, "0 bytes where a frame should be");
    bytes in = join(literal(good.data, good.size), literal("\0", 1));
    assert_fails(OPS, in.data, in.size, 5000, ZB_EFORMAT, "1 bytes where a frame should be");
    free(in.data);
    in = join(literal(good.data, good.size), literal("garbage", 7));
    assert_fails(OPS, in.data, in.size, 5000, ZB_EFORMAT, "magic number is 0x62726167");
    free(in.data);
    /* The format of version 0.7, which the library may still read. */
    assert_fails(OPS, "\x27\xb5\x2f\xfd\x00\x00\x00\x00", 8, 5000, ZB_EFORMAT,
                 "magic number is 0xfd2fb527");
    /* A skippable frame alone has no content. */
    assert_decodes(OPS, skippable, sizeof skippable, "", 0);
    assert_fails(OPS, skippable, sizeof skippable, 1, ZB_EFORMAT, "0 bytes, expected 1");
    assert_fails(OPS, skippable, sizeof skippable - 1, 0, ZB_EFORMAT, "damaged data");
    free(good.data);
    free(data.data);
}

static void dictionaries_are_refused(void **state) {
    (void)state;
    /* Single segment, dictionary 7, content of 1 byte, one raw block. */
    const uint8_t in[] = {0x28, 0xb5, 0x2f, 0xfd, 0x21, 7, 1, 0x09, 0, 0, 'x'};
    assert_fails(OPS, in, sizeof in, 1, ZB_EUNSUPPORTED, "dictionary");
    uint8_t none[sizeof in];
    memcpy(none, in, sizeof in);
    none[5] = 0; /* dictionary 0 means none */
    assert_decodes(OPS, none, sizeof none, "x", 1);
}

/* One frame of some kilobytes that decodes to 10 GiB: 10 KiB blocks of run-length zeros. */
static bytes make_bomb(bool content_size) {
    enum { BLOCKS = 81920 };
    bytes b = {malloc(16 + 4 * (size_t)BLOCKS), 0};
    const uint8_t sized[] = {0x28, 0xb5, 0x2f, 0xfd, 0xc0, 0x38, 0, 0, 0, 0x80, 2, 0, 0, 0};
    const uint8_t unsized[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38};
    b.size = content_size ? sizeof sized : sizeof unsized;
    memcpy(b.data, content_size ? sized : unsized, b.size);
    for (unsigned i = 0; i < BLOCKS; i++) {
        uint32_t header = (i == BLOCKS - 1) | 1u << 1 | 131072u << 3;
        const uint8_t block[4] = {(uint8_t)header, (uint8_t)(header >> 8), (uint8_t)(header >> 16),
                                  0};
        memcpy(b.data + b.size, block, 4);
        b.size += 4;
    }
    return b;
}

static void bombs_stop_at_the_capacity(void **state) {
    (void)state;
    for (int sized = 0; sized < 2; sized++) {
        bytes in = make_bomb(sized);
        assert_fails(OPS, in.data, in.size, 300000, ZB_EFORMAT, "more bytes than expected");
        decoding d = decode_whole(OPS, 300000); /* the same in the streaming decoder */
        d.hi = 299999;
        assert_int_equal(run_decoder(&d, in.data, in.size), ZB_EFORMAT);
        free(d.out.data);
        free(in.data);
    }
}

static void damage(void **state) {
    (void)state;
    static const recipe recipes[] = {
        {.level = 3}, {.level = 3, .checksum = true}, {.level = 19, .no_content_size = true}};
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        bytes data = make_sample(SAMPLE_TEXT, 600, (unsigned)i);
        bytes in = compress(recipes[i], data);
        assert_survives_damage(OPS, in, data.size);
        free(in.data);
        free(data.data);
    }
    /* Large enough for the streaming decoder to have several blocks. */
    bytes data = make_sample(SAMPLE_ZEROS, 400000, 1);
    data.data[200000] = 1;
    bytes in = compress((recipe){.level = 3}, data);
    assert_survives_damage(OPS, in, data.size);
    free(in.data);
    free(data.data);
}

/* Every kind of level; level 0 and a missing one are the library's default. */
static void encoded(void **state) {
    (void)state;
    static const char *const configurations[] = {"{}",
                                                 "{\"level\":0,\"checksum\":false}",
                                                 "{\"level\":1,\"checksum\":true}",
                                                 "{\"level\":3}",
                                                 "{\"level\":-7}",
                                                 "{\"level\":-131072,\"checksum\":true}",
                                                 "{\"level\":9}",
                                                 "{\"level\":22,\"checksum\":true}"};
    for (size_t i = 0; i < sizeof configurations / sizeof *configurations; i++)
        assert_round_trips(OPS, configurations[i], 4);
    bytes sample = make_sample(SAMPLE_TEXT, 100000, 1);
    size_t sizes[4];
    static const char *const levels[] = {"{\"level\":-5}", "{\"level\":1}", "{\"level\":0}",
                                         "{\"level\":19}"};
    for (int i = 0; i < 4; i++) {
        zb__codec codec = make_codec(OPS, levels[i], 1);
        bytes out = run_encoder(&codec, sample);
        zb__codec_free(&codec);
        sizes[i] = out.size;
        free(out.data);
    }
    assert_true(sizes[0] > sizes[1] && sizes[1] > sizes[2] && sizes[2] > sizes[3]);
    free(sample.data);
}

/* The frame says its content's size, and carries a checksum only when told to. */
static void encoded_header(void **state) {
    (void)state;
    static const uint8_t content[8] = {28, 0, 29, 0, 34, 0, 35, 0};
    static const uint8_t frame[17] = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 8, 0x41, 0, 0,
                                      28,   0,    29,   0,    34,   0, 35,   0};
    for (int checksum = 0; checksum < 2; checksum++) {
        zb__codec codec = make_codec(OPS, checksum ? "{\"checksum\":true}" : "{\"level\":3}", 2);
        bytes out = run_encoder(&codec, (bytes){(uint8_t *)content, sizeof content});
        zb__codec_free(&codec);
        assert_int_equal(out.size, checksum ? 21 : 17);
        assert_int_equal(out.data[4], checksum ? 0x24 : 0x20);
        assert_memory_equal(out.data + 5, frame + 5, 12);
        assert_memory_equal(out.data, frame, 4);
        free(out.data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encoded),
        cmocka_unit_test(encoded_header),
        cmocka_unit_test(frames_of_all_kinds),
        cmocka_unit_test(sizes_are_stated),
        cmocka_unit_test(sizes_that_frames_may_hold),
        cmocka_unit_test(frames_that_hold_noise),
        cmocka_unit_test(several_frames),
        cmocka_unit_test(prefix_stops),
        cmocka_unit_test(prefix_of_damaged_data),
        cmocka_unit_test(checksums),
        cmocka_unit_test(refused),
        cmocka_unit_test(dictionaries_are_refused),
        cmocka_unit_test(bombs_stop_at_the_capacity),
        cmocka_unit_test(damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
