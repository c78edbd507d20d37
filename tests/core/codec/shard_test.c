/* SPDX-License-Identifier: MIT */
/* sharding_indexed: its configuration, and indexes: right, permuted, swapped and damaged. */
#include "bind.h"

#include "codec/encode.h"
#include "codec/pipeline.h"
#include "codec/shard_index.h"
#include "util/scratch.h"
#include "zarrbridge/limits.h"

#define BYTES "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
#define BIG "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}"
#define CRC32C "{\"name\":\"crc32c\"}"
#define SHARD(configuration)                                                                       \
    "[{\"name\":\"sharding_indexed\",\"configuration\":{" configuration "}}]"
#define INNER "\"chunk_shape\":[3,2],\"codecs\":[" BYTES "]"
#define INDEX "\"index_codecs\":[" BYTES "," CRC32C "]"

static void configuration(void **state) {
    (void)state;
    const zb__chunk_layout *layout = bind_6x4(SHARD(INNER "," INDEX), int16_type);
    const zb__shard *shard = layout->shard;
    assert_non_null(shard);
    assert_int_equal(shard->inner_shape[0], 3);
    assert_int_equal(shard->inner_shape[1], 2);
    assert_int_equal(shard->grid[0], 2);
    assert_int_equal(shard->grid[1], 2);
    assert_int_equal(shard->count, 4);
    assert_int_equal(shard->index_size, 68);
    assert_false(shard->index_at_start);
    assert_int_equal(shard->inner->decoded_size, 12);
    assert_int_equal(layout->decoded_size, 48);
    /* As much again for gaps, and 64 KiB. */
    assert_int_equal(layout->encoded_bound, 2 * (48 + 68) + 65536);
    free_layout(layout);

    layout = bind_6x4(SHARD(INNER ",\"index_codecs\":[" BYTES "],\"index_location\":\"start\""),
                      int16_type);
    assert_true(layout->shard->index_at_start);
    assert_int_equal(layout->shard->index_size, 64);
    free_layout(layout);

    /* A transpose before it: all shapes within are of stored dimensions, here 4 x 6. */
    layout = bind_6x4("[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}},"
                      "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[1,6],"
                      "\"codecs\":[" BYTES "]," INDEX "}}]",
                      int16_type);
    assert_int_equal(layout->shard->grid[0], 4);
    assert_int_equal(layout->shard->grid[1], 1);
    free_layout(layout);

    /* No dimensions: one inner chunk. */
    layout =
        bind_shape(SHARD("\"chunk_shape\":[],\"codecs\":[" BYTES "]," INDEX), int16_type, 0, NULL);
    assert_int_equal(layout->shard->count, 1);
    assert_int_equal(layout->shard->index_size, 20);
    free_layout(layout);
}

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *codecs;
        enum zb_code code;
        const char *text;
    } cases[] = {
        {SHARD(INNER ",\"index_location\":3"), ZB_EFORMAT, "index_location is 3"},
        {SHARD("\"chunk_shape\":[3,2]," INDEX), ZB_EFORMAT, "sharding_indexed: codecs is missing"},
        {SHARD("\"codecs\":[" BYTES "]," INDEX), ZB_EFORMAT, "chunk_shape is missing"},
        {SHARD("\"chunk_shape\":[3],\"codecs\":[" BYTES "]," INDEX), ZB_EFORMAT,
         "chunk_shape is [3]"},
        {SHARD("\"chunk_shape\":[3,0],\"codecs\":[" BYTES "]," INDEX), ZB_EFORMAT,
         "chunk_shape[1] is 0"},
        {SHARD("\"chunk_shape\":[3,2.0],\"codecs\":[" BYTES "]," INDEX), ZB_EFORMAT,
         "chunk_shape[1] is 2.0"},
        {SHARD(INNER "," INDEX ",\"index_location\":\"middle\""), ZB_EFORMAT,
         "index_location is \"middle\", expected \"end\" or \"start\""},
        {SHARD(INNER "," INDEX ",\"index_location\":1"), ZB_EFORMAT, "index_location is 1"},
        {SHARD(INNER "," INDEX ",\"strategy\":1"), ZB_EUNSUPPORTED, "\"strategy\""},
        {SHARD(INNER ",\"index_codecs\":[" BYTES ",\"gzip\"]"), ZB_EFORMAT,
         "index_codecs: the size of an index must be fixed, which it is not with \"gzip\""},
        {SHARD(INNER ",\"index_codecs\":[" CRC32C "]"), ZB_EFORMAT,
         "index_codecs: codecs[0]: \"crc32c\" must"},
        {SHARD(INNER ",\"index_codecs\":[]"), ZB_EFORMAT, "index_codecs: codecs is []"},
        {SHARD("\"chunk_shape\":[3,2],\"codecs\":[]," INDEX), ZB_EFORMAT, "codecs is []"},
        {"[\"sharding_indexed\"]", ZB_EFORMAT, "chunk_shape is missing"},
        {SHARD(INNER ",\"index_codecs\":[{\"name\":\"sharding_indexed\",\"configuration\":{"
                     "\"chunk_shape\":[1,1,1],\"codecs\":[" BYTES "]," INDEX "}}]"),
         ZB_EFORMAT, "not with \"sharding_indexed\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(cases[i].codecs, cases[i].code, cases[i].text);
}

/* `depth` shards around each other, all of one inner chunk. */
static enum zb_code bind_nested(int depth, const zb__chunk_layout **out, zb_error *err) {
    char text[4000] = "", end[2000] = "";
    for (int i = 0; i < depth; i++) {
        strcat(text, "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[6,4],"
                     "\"index_codecs\":[\"bytes\"],\"codecs\":");
        strcat(end, "}}]");
    }
    strcat(text, "[\"bytes\"]");
    strcat(text, end);
    return bind_text(text, uint8_type, 2, (const uint64_t[]){6, 4}, out, err);
}

static void limits(void **state) {
    (void)state;
    zb_error err;
    const zb__chunk_layout *layout;
    int depth = (int)zb_limits_get()->shard_depth;
    ASSERT_OK(bind_nested(depth, &layout, &err), err);
    assert_non_null(layout->shard->inner->shard->inner->shard->inner->shard);
    free_layout(layout);
    ASSERT_FAILS(bind_nested(depth + 1, &layout, &err), ZB_ELIMIT, err,
                 "deeper than the limit shard_depth (4)");

    /* 2^22 entries of 16 bytes are the limit of 64 MiB; a checksum is 4 bytes too many. */
    uint64_t shape[2] = {2048, 2048};
    const char *one = SHARD("\"chunk_shape\":[1,1],\"codecs\":[" BYTES "]," INDEX);
    ASSERT_FAILS(bind_text(one, int16_type, 2, shape, &layout, &err), ZB_ELIMIT, err,
                 "the index has 67108868 bytes, more than the limit index_bytes (67108864)");
    shape[0] = shape[1] = (uint64_t)1 << 31;
    ASSERT_FAILS(bind_text(one, int16_type, 2, shape, &layout, &err), ZB_ELIMIT, err,
                 "index_bytes");
    /* A shard may be larger than a chunk, its inner chunks may not. */
    shape[0] = shape[1] = (uint64_t)1 << 17;
    const char *large = SHARD("\"chunk_shape\":[65536,65536],\"codecs\":[" BYTES "]," INDEX);
    ASSERT_FAILS(bind_text(large, int16_type, 2, shape, &layout, &err), ZB_ELIMIT, err,
                 "chunk_bytes");
    free_layout(bind_shape(SHARD("\"chunk_shape\":[16384,16384],\"codecs\":[" BYTES "]," INDEX),
                           int16_type, 2, shape));

    /* The index has one dimension more than the array. */
    uint64_t ones[ZB_MAX_NDIM];
    char text[600] = "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[1";
    for (int d = 0; d < ZB_MAX_NDIM; d++)
        ones[d] = 1;
    for (int d = 1; d < ZB_MAX_NDIM; d++)
        strcat(text, ",1");
    strcat(text, "],\"codecs\":[\"bytes\"],\"index_codecs\":[\"bytes\"]}}]");
    ASSERT_FAILS(bind_text(text, uint8_type, ZB_MAX_NDIM, ones, &layout, &err), ZB_EUNSUPPORTED,
                 err, "32 dimensions");
}

/* ---- Indexes ------------------------------------------------------------------------------ */

static enum zb_code decode_index(const char *index_codecs, const uint8_t *encoded, size_t size,
                                 uint64_t entries[8], zb_error *err) {
    char text[600];
    snprintf(text, sizeof text,
             "[{\"name\":\"sharding_indexed\",\"configuration\":{" INNER
             ",\"index_codecs\":[%s]}}]",
             index_codecs);
    const zb__chunk_layout *layout = bind_6x4(text, int16_type);
    assert_int_equal(layout->shard->index_size, size);
    zb__scratch *scratch = zb__scratch_take();
    enum zb_code code = zb__shard_index_decode(layout->shard, scratch, encoded, entries, err);
    zb__scratch_put(scratch);
    free_layout(layout);
    return code;
}

/* The index of a shard that GDAL 3.13 wrote: one inner chunk of 17 bytes, three empty ones. */
static const uint8_t golden[68] = {
    0,   0,   0,   0,   0,   0,   0,   0,   17,  0,   0,   0,   0,   0,    0,    0,    255,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,  255,  255,  255,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,  255,  255,  255,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0x65, 0x23, 0x47, 0x58};

static void index_of_another_writer(void **state) {
    (void)state;
    uint64_t entries[8];
    zb_error err;
    ASSERT_OK(decode_index(BYTES "," CRC32C, golden, sizeof golden, entries, &err), err);
    assert_int_equal(entries[0], 0);
    assert_int_equal(entries[1], 17);
    for (int i = 2; i < 8; i++)
        assert_true(entries[i] == ZB__INDEX_EMPTY);
    ASSERT_OK(decode_index(BYTES, golden, 64, entries, &err), err);
    assert_int_equal(entries[1], 17);
}

static void checksum(void **state) {
    (void)state;
    uint64_t entries[8];
    zb_error err;
    for (size_t bit = 0; bit < 8 * sizeof golden; bit++) {
        uint8_t wrong[sizeof golden];
        memcpy(wrong, golden, sizeof golden);
        wrong[bit / 8] ^= (uint8_t)(1 << bit % 8);
        ASSERT_FAILS(decode_index(BYTES "," CRC32C, wrong, sizeof wrong, entries, &err),
                     ZB_ECHECKSUM, err, "index: crc32c is 0x");
    }
}

static void half_empty_entries(void **state) {
    (void)state;
    for (size_t at = 0; at < 2; at++) {
        uint64_t entries[8];
        zb_error err;
        uint8_t encoded[64];
        memcpy(encoded, golden, sizeof encoded);
        memset(encoded + 8 * at, 0xff, 8);
        ASSERT_FAILS(
            decode_index(BYTES, encoded, sizeof encoded, entries, &err), ZB_EFORMAT, err,
            at ? "entry 0 of the index is half empty: offset 0, length 18446744073709551615"
               : "half empty: offset 18446744073709551615, length 17");
    }
}

/* Stored element i of the index, permuted by `order` (dimensions row, column, offset or length). */
static void permuted_and_swapped(void **state) {
    (void)state;
    static const uint32_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t o = 0; o < 6; o++) {
        for (int big = 0; big < 2; big++) {
            const uint32_t *order = orders[o];
            uint8_t encoded[64];
            uint64_t entries[8];
            zb_error err;
            for (uint32_t i = 0; i < 8; i++) {
                uint32_t stored[3] = {i >> 2, i >> 1 & 1, i & 1}, index[3];
                for (uint32_t k = 0; k < 3; k++)
                    index[order[k]] = stored[k];
                uint64_t value = 1000 + 4 * index[0] + 2 * index[1] + index[2];
                for (uint32_t b = 0; b < 8; b++)
                    encoded[8 * i + b] = (uint8_t)(value >> 8 * (big ? 7 - b : b));
            }
            char codecs[200];
            snprintf(codecs, sizeof codecs,
                     "{\"name\":\"transpose\",\"configuration\":{\"order\":[%u,%u,%u]}},%s",
                     order[0], order[1], order[2], big ? BIG : BYTES);
            ASSERT_OK(decode_index(codecs, encoded, sizeof encoded, entries, &err), err);
            for (uint64_t i = 0; i < 8; i++)
                assert_int_equal(entries[i], 1000 + i);
        }
    }
}

/* ---- Encoding indexes --------------------------------------------------------------------- */

/* A shard of `count` inner chunks in a row. */
static const zb__chunk_layout *bind_row(uint64_t count, const char *index_codecs) {
    char text[600];
    snprintf(
        text, sizeof text,
        "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2],\"codecs\":[" BYTES
        "],\"index_codecs\":[%s]}}]",
        index_codecs);
    return bind_shape(text, int16_type, 1, (const uint64_t[]){2 * count});
}

/* The checksums that other writers put behind these entries. */
static void encoded_as_by_other_writers(void **state) {
    (void)state;
    static const uint64_t full[4] = {0, 4, 4, 4};
    static const uint64_t empty[4] = {ZB__INDEX_EMPTY, ZB__INDEX_EMPTY, ZB__INDEX_EMPTY,
                                      ZB__INDEX_EMPTY};
    static const uint8_t full_crc[4] = {0xf6, 0xff, 0x6f, 0x8f};
    static const uint8_t empty_crc[4] = {0x43, 0xab, 0xa8, 0x62};
    zb_error err;
    const zb__chunk_layout *layout = bind_row(2, BYTES "," CRC32C);
    zb__scratch *scratch = zb__scratch_take();
    for (int i = 0; i < 2; i++) {
        uint8_t *out = malloc(36); /* no byte more */
        assert_non_null(out);
        ASSERT_OK(zb__shard_index_encode(layout->shard, scratch, i ? empty : full, out, &err), err);
        assert_memory_equal(out + 32, i ? empty_crc : full_crc, 4);
        assert_int_equal(out[8], i ? 255 : 4);
        assert_int_equal(out[0], i ? 255 : 0);
        free(out);
    }
    zb__scratch_put(scratch);
    free_layout(layout);
}

static void encoded_in_every_order(void **state) {
    (void)state;
    static const char *const orders[] = {"0,1,2", "0,2,1", "1,0,2", "1,2,0", "2,0,1", "2,1,0"};
    uint64_t entries[8];
    for (uint64_t i = 0; i < 8; i++)
        entries[i] = 0x0102030405060000 + i;
    for (int i = 0; i < 6 * 4; i++) {
        char codecs[300], text[700];
        snprintf(codecs, sizeof codecs,
                 "{\"name\":\"transpose\",\"configuration\":{\"order\":[%s]}},%s%s", orders[i / 4],
                 i & 1 ? BIG : BYTES, i & 2 ? "," CRC32C : "");
        snprintf(text, sizeof text,
                 "[{\"name\":\"sharding_indexed\",\"configuration\":{" INNER
                 ",\"index_codecs\":[%s]}}]",
                 codecs);
        const zb__chunk_layout *layout = bind_6x4(text, int16_type);
        zb__scratch *scratch = zb__scratch_take();
        uint8_t *out = malloc(layout->shard->index_size);
        uint64_t back[8];
        zb_error err;
        ASSERT_OK(zb__shard_index_encode(layout->shard, scratch, entries, out, &err), err);
        ASSERT_OK(decode_index(codecs, out, layout->shard->index_size, back, &err), err);
        assert_memory_equal(back, entries, sizeof back);
        free(out);
        zb__scratch_put(scratch);
        free_layout(layout);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encoded_as_by_other_writers),
        cmocka_unit_test(encoded_in_every_order),
        cmocka_unit_test(configuration),
        cmocka_unit_test(refused),
        cmocka_unit_test(limits),
        cmocka_unit_test(index_of_another_writer),
        cmocka_unit_test(checksum),
        cmocka_unit_test(half_empty_entries),
        cmocka_unit_test(permuted_and_swapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
