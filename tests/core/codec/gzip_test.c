/* SPDX-License-Identifier: MIT */
/* Members as zlib, libdeflate and others write them, and members that no reader may accept. */
#include "decode.h"

#include <libdeflate.h>

#include "codec/table.h"
#include "zarrbridge/zarrbridge.h"

#define OPS (zb__codec_find("gzip"))

static void put32(uint8_t *at, uint32_t value) {
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* Header fields, in their order in the format; NULL or 0 where absent. */
typedef struct header {
    const char *extra, *name, *comment;
    bool crc;
} header;

static bytes make_member(header h, bytes data, int level) {
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(level);
    size_t bound = libdeflate_deflate_compress_bound(compressor, data.size);
    bytes b = {malloc(bound + 1000), 10};
    const uint8_t start[10] = {
        0x1f,
        0x8b,
        8,
        (uint8_t)((h.crc ? 2 : 0) | (h.extra ? 4 : 0) | (h.name ? 8 : 0) | (h.comment ? 16 : 0)),
        1,
        2,
        3,
        4,
        2,
        255};
    memcpy(b.data, start, 10);
    if (h.extra) {
        b.data[b.size++] = (uint8_t)strlen(h.extra);
        b.data[b.size++] = 0;
        memcpy(b.data + b.size, h.extra, strlen(h.extra));
        b.size += strlen(h.extra);
    }
    for (int i = 0; i < 2; i++) {
        const char *text = i ? h.comment : h.name;
        if (text) {
            memcpy(b.data + b.size, text, strlen(text) + 1);
            b.size += strlen(text) + 1;
        }
    }
    if (h.crc) {
        uint32_t crc = libdeflate_crc32(0, b.data, b.size);
        b.data[b.size++] = (uint8_t)crc;
        b.data[b.size++] = (uint8_t)(crc >> 8);
    }
    b.size += libdeflate_deflate_compress(compressor, data.data, data.size, b.data + b.size, bound);
    put32(b.data + b.size, libdeflate_crc32(0, data.data, data.size));
    put32(b.data + b.size + 4, (uint32_t)data.size);
    b.size += 8;
    libdeflate_free_compressor(compressor);
    return b;
}

static void headers_of_all_kinds(void **state) {
    (void)state;
    static const header headers[] = {
        {0},
        {.extra = "more"},
        {.extra = ""},
        {.name = "a.bin"},
        {.comment = ""},
        {.crc = true},
        {"extra", "name", "comment", true},
    };
    for (size_t h = 0; h < sizeof headers / sizeof *headers; h++) {
        for (unsigned kind = 0; kind < SAMPLE_KINDS; kind++) {
            bytes data = make_sample(kind, kind * 3333, 1), in = make_member(headers[h], data, 6);
            assert_decodes(OPS, in.data, in.size, data.data, data.size);
            assert_parts_decode(OPS, in, data);
            free(in.data);
            free(data.data);
        }
    }
}

/* `count` members, each of a part of data. */
static bytes make_members(bytes data, size_t count) {
    bytes b = {malloc(data.size + count * 2000), 0};
    size_t part = data.size / count;
    for (size_t i = 0; i < count; i++) {
        bytes member = make_member((header){0}, (bytes){data.data + i * part, part}, 1);
        memcpy(b.data + b.size, member.data, member.size);
        b.size += member.size;
        free(member.data);
    }
    return b;
}

static void several_members(void **state) {
    (void)state;
    bytes data = make_sample(SAMPLE_TEXT, 1026, 1);
    bytes in = make_members(data, 2);
    assert_decodes(OPS, in.data, in.size, data.data, data.size);
    assert_fails(OPS, in.data, in.size, 1025, ZB_EFORMAT, "more bytes than expected");
    assert_fails(OPS, in.data, in.size, 1027, ZB_EFORMAT, "to 1026 bytes, expected 1027");
    in.data[in.size++] = 0; /* padding */
    assert_fails(OPS, in.data, in.size, 1026, ZB_EFORMAT, "1 bytes where a member should be");
    free(in.data);
    size_t limit = zb_limits_get()->gzip_members;
    data.size = 0;
    in = make_members(data, limit);
    assert_decodes(OPS, in.data, in.size, "", 0);
    free(in.data);
    in = make_members(data, limit + 1);
    assert_fails(OPS, in.data, in.size, 0, ZB_ELIMIT, "gzip_members (1024)");
    free(in.data);
    free(data.data);
}

static void refused(void **state) {
    (void)state;
    bytes data = make_sample(SAMPLE_TEXT, 1000, 1);
    bytes in = make_member((header){.crc = true}, data, 6);
    static const struct {
        size_t at;
        uint8_t flip;
        enum zb_code code;
        const char *text;
    } cases[] = {
        {0, 1, ZB_EFORMAT, "begins with 1e 8b"},     {2, 1, ZB_EFORMAT, "method is 9"},
        {3, 0x80, ZB_EFORMAT, "flags 0x82"},         {5, 1, ZB_ECHECKSUM, "crc16 of the header"},
        {12, 7, ZB_EFORMAT, "damaged or truncated"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        in.data[cases[i].at] ^= cases[i].flip;
        assert_fails(OPS, in.data, in.size, 1000, cases[i].code, cases[i].text);
        in.data[cases[i].at] ^= cases[i].flip;
    }
    in.data[in.size - 8] ^= 1;
    assert_fails(OPS, in.data, in.size, 1000, ZB_ECHECKSUM, "crc32 is 0x");
    in.data[in.size - 8] ^= 1;
    in.data[in.size - 1] ^= 1; /* the size at the end lies */
    assert_fails(OPS, in.data, in.size, 1000, ZB_EFORMAT, "its trailer says 16778216");
    in.data[in.size - 1] ^= 1;
    assert_fails(OPS, in.data, in.size - 1, 1000, ZB_EFORMAT, "within a member's trailer");
    assert_fails(OPS, in.data, 11, 1000, ZB_EFORMAT, "within a member's header");
    assert_fails(OPS, "", 0, 0, ZB_EFORMAT, "0 bytes where a member should be");
    assert_decodes(OPS, in.data, in.size, data.data, data.size);
    free(in.data);
    /* A name without an end. */
    in = make_member((header){.name = "x"}, data, 6);
    assert_fails(OPS, in.data, 11, 1000, ZB_EFORMAT, "within a member's header");
    free(in.data);
    free(data.data);
}

/* 64 MiB of zeros in 64 KiB, for a chunk of 1000 bytes. */
static void bombs_stop_at_the_capacity(void **state) {
    (void)state;
    bytes data = {calloc(1, 64 << 20), 64 << 20};
    bytes in = make_member((header){0}, data, 9);
    assert_true(in.size < 100000);
    assert_fails(OPS, in.data, in.size, 1000, ZB_EFORMAT, "more bytes than expected");
    free(in.data);
    free(data.data);
}

static void damage(void **state) {
    (void)state;
    bytes data = make_sample(SAMPLE_TEXT, 600, 1);
    bytes in = make_member((header){"extra", "name", "comment", true}, data, 6);
    assert_survives_damage(OPS, in, data.size);
    free(in.data);
    in = make_member((header){0}, data, 0); /* stored, not deflated */
    assert_survives_damage(OPS, in, data.size);
    free(in.data);
    free(data.data);
}

static void encoded(void **state) {
    (void)state;
    bytes sample = make_sample(SAMPLE_TEXT, 100000, 1);
    size_t sizes[10];
    for (int level = 0; level <= 9; level++) {
        char text[32];
        snprintf(text, sizeof text, "{\"level\":%d}", level);
        assert_round_trips(OPS, text, 2);
        zb__codec codec = make_codec(OPS, text, 2);
        bytes out = run_encoder(&codec, sample);
        zb__codec_free(&codec);
        sizes[level] = out.size;
        /* No flags, no time, operating system unknown: nothing that differs from run to run. */
        static const uint8_t start[8] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0};
        assert_memory_equal(out.data, start, sizeof start);
        assert_int_equal(out.data[9], 255);
        free(out.data);
    }
    assert_true(sizes[0] > sample.size && sizes[1] < sample.size);
    assert_true(sizes[9] < sizes[5] && sizes[5] < sizes[1]);
    zb__codec codec = make_codec(OPS, "{}", 2);
    bytes out = run_encoder(&codec, sample);
    zb__codec_free(&codec);
    assert_int_equal(out.size, sizes[5]);
    free(out.data);
    free(sample.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encoded),
        cmocka_unit_test(headers_of_all_kinds),
        cmocka_unit_test(several_members),
        cmocka_unit_test(refused),
        cmocka_unit_test(bombs_stop_at_the_capacity),
        cmocka_unit_test(damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
