/* SPDX-License-Identifier: MIT */
/*
 * Arrays of the types that are more than numbers, through the public calls: each is created,
 * written in parts and read back, whole, by conversion and by fields; documents and chunks of other
 * writers in either byte order.
 */
#include "support/check.h"

#include "zarrbridge/sys/hierarchy.h"
#include "zarrbridge/zarrbridge.h"

enum { N = 10 };

static const zb_dtype i1 = {.kind = ZB_KIND_INT, .size = 1}, i8 = {.kind = ZB_KIND_INT, .size = 8},
                      f4 = {.kind = ZB_KIND_FLOAT, .size = 4},
                      f8 = {.kind = ZB_KIND_FLOAT, .size = 8};

static zb_hierarchy *new_store(void) {
    zb_hierarchy *hierarchy;
    zb_error err;
    ASSERT_OK(zb_hierarchy_new_mem("test", &hierarchy, &err), err);
    return hierarchy;
}

static zb_node *create(zb_hierarchy *hierarchy, zb_dtype dtype, const void *fill, bool sharded) {
    static const uint64_t shape[] = {N}, inner[] = {2}, shard[] = {4}, chunk[] = {4};
    zb_array_spec spec = {.ndim = 1,
                          .shape = shape,
                          .inner_shape = sharded ? inner : chunk,
                          .shard_shape = sharded ? shard : NULL,
                          .dtype = dtype,
                          .fill_value = fill};
    zb_node *node;
    zb_error err;
    zb_node_delete(hierarchy, "a", NULL);
    ASSERT_OK(zb_array_create(hierarchy, "a", &spec, &node, &err), err);
    return node;
}

static enum zb_code write_box(zb_node *node, uint64_t start, uint64_t count, zb_dtype dtype,
                              const void *data, zb_error *err) {
    zb_writer *writer;
    ASSERT_OK(zb_writer_open(node, NULL, &writer, err), *err);
    zb_write write = {.start = &start, .count = &count, .dtype = dtype, .data = data};
    enum zb_code code = zb_writer_write(writer, &write, err);
    zb_error closing;
    enum zb_code closed = zb_writer_close(writer, &closing);
    return code ? code : closed;
}

static enum zb_code read_box(zb_node *node, uint64_t start, uint64_t count, zb_dtype dtype,
                             void *data, zb_values *values, zb_error *err) {
    zb_read read = {
        .node = node, .start = &start, .count = &count, .view = {data, dtype, NULL, values}};
    return zb_array_read(&read, 1, err);
}

/* A document with elements of that type in one chunk, and the chunk. */
static zb_node *put(zb_hierarchy *hierarchy, const char *type, const char *fill, const char *codecs,
                    unsigned count, const void *chunk, size_t size) {
    char *text;
    zb_node *node;
    zb_error err;
    assert_true(
        asprintf(&text,
                 "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[%u],\"data_type\":%s,"
                 "\"fill_value\":%s,\"chunk_key_encoding\":{\"name\":\"default\"},"
                 "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[%u]"
                 "}},\"codecs\":%s}",
                 count * 2, type, fill, count, codecs) > 0);
    ASSERT_OK(
        zb_store_mem_set(zb_hierarchy_store(hierarchy), "d/zarr.json", text, strlen(text), &err),
        err);
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(hierarchy), "d/c/0", chunk, size, &err), err);
    ASSERT_OK(zb_node_open(hierarchy, "d", &node, &err), err);
    free(text);
    return node;
}

#define BIG "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}]"
#define LITTLE "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]"

/* ---- Each type there and back ---- */

static const zb_dtype_detail days = {.unit = ZB_UNIT_DAY, .scale = 7},
                             seconds = {.unit = ZB_UNIT_SECOND, .scale = 1},
                             e5m2 = {.format = ZB_FORMAT_FLOAT8_E5M2},
                             brain = {.format = ZB_FORMAT_BFLOAT16};
static const zb_field inner_fields[] = {{"u", 0, {ZB_KIND_UTF32, 8, false, NULL}},
                                        {"flag", 8, {ZB_KIND_BOOL, 1, false, NULL}}};
static const zb_dtype_detail inner = {.fields = inner_fields, .field_count = 2};
static const zb_field fields[] = {{"x", 0, {ZB_KIND_FLOAT, 4, false, NULL}},
                                  {"in", 4, {ZB_KIND_STRUCT, 9, false, &inner}},
                                  {"t", 13, {ZB_KIND_DATETIME, 8, false, &seconds}}};
static const zb_dtype_detail record = {.fields = fields, .field_count = 3};

static void there_and_back(void **state) {
    (void)state;
    static const zb_dtype types[] = {
        {ZB_KIND_DATETIME, 8, false, &days},      {ZB_KIND_TIMEDELTA, 8, true, &seconds},
        {ZB_KIND_CHARS, 5, false, NULL},          {ZB_KIND_UTF32, 12, false, NULL},
        {ZB_KIND_UTF32, 12, true, NULL},          {ZB_KIND_RAW, 3, false, NULL},
        {ZB_KIND_SMALL, 1, false, &e5m2},         {ZB_KIND_SMALL, 2, true, &brain},
        {ZB_KIND_SMALL_COMPLEX, 4, true, &brain}, {ZB_KIND_COMPLEX, 4, true, NULL},
        {ZB_KIND_STRUCT, 21, false, &record},     {ZB_KIND_STRUCT, 21, true, &record},
    };
    zb_hierarchy *hierarchy = new_store();
    check_random random = check_random_new();
    for (size_t i = 0; i < 2 * sizeof types / sizeof *types; i++) {
        zb_dtype stored = types[i / 2], memory = stored;
        uint8_t data[N * 21], back[N * 21], fill[21] = {0x31}, expected[N * 21];
        zb_error err;
        memory.swapped = false;
        fill[8] = 0; /* code points stay such */
        zb_node *node = create(hierarchy, stored, fill, i % 2);
        assert_true(zb_dtype_equal(zb_node_array(node)->dtype, memory));
        assert_memory_equal(zb_node_array(node)->fill_value, fill, stored.size);
        for (size_t b = 0; b < sizeof data; b++)
            data[b] = (uint8_t)check_random_next(&random);
        for (size_t n = 0; n < N; n++) {
            if (stored.kind == ZB_KIND_STRUCT)
                data[n * 21 + 12] &= 1;
            memcpy(expected + n * stored.size, fill, stored.size);
        }
        for (size_t part = 0; part < 2; part++) { /* over the edges of chunks, then one whole one */
            const uint64_t start = part ? 4 : 1, count = part ? 4 : 6;
            memcpy(expected + start * stored.size, data, count * stored.size);
            ASSERT_OK(write_box(node, start, count, memory, data, &err), err);
        }
        memset(back, 0xaa, sizeof back);
        ASSERT_OK(read_box(node, 0, N, memory, back, NULL, &err), err);
        assert_memory_equal(back, expected, N * (size_t)stored.size);
        ASSERT_OK(read_box(node, 3, 2, memory, back, NULL, &err), err);
        assert_memory_equal(back, expected + 3 * stored.size, 2 * (size_t)stored.size);
        zb_node_release(node);
    }
    zb_hierarchy_release(hierarchy);
}

/* ---- Conversions ---- */

static void times(void **state) {
    (void)state;
    static const uint8_t chunk[] = {0, 0, 0, 0, 0, 0, 1, 2, 0x80, 0, 0, 0, 0, 0, 0, 0};
    zb_hierarchy *hierarchy = new_store();
    zb_error err;
    int64_t got[4];
    zb_node *node = put(hierarchy,
                        "{\"name\":\"numpy.datetime64\",\"configuration\":{\"unit\":\"us\","
                        "\"scale_factor\":10}}",
                        "\"NaT\"", BIG, 2, chunk, sizeof chunk);
    uint32_t scale;
    assert_int_equal(zb_dtype_unit(zb_node_array(node)->dtype, &scale), ZB_UNIT_MICROSECOND);
    assert_int_equal(scale, 10);
    ASSERT_OK(read_box(node, 0, 4, i8, got, NULL, &err), err);
    assert_memory_equal(got, ((int64_t[]){258, INT64_MIN, INT64_MIN, INT64_MIN}), sizeof got);
    ASSERT_FAILS(read_box(node, 0, 4, f8, got, NULL, &err), ZB_EUNSUPPORTED, err,
                 "numpy.datetime64 does not convert to float64");
    const int64_t more[] = {-1, 7};
    ASSERT_OK(write_box(node, 1, 2, i8, more, &err), err);
    ASSERT_OK(read_box(node, 0, 4, zb_node_array(node)->dtype, got, NULL, &err), err);
    assert_memory_equal(got, ((int64_t[]){258, -1, 7, INT64_MIN}), sizeof got);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

static void text(void **state) {
    (void)state;
    static const uint8_t chunk[] = {0, 0, 0,    0xe9, 0, 1,    0xd1, 0x1e, /* two good points */
                                    0, 0, 0xd8, 0,    0, 0x11, 0,    0};   /* two that are none */
    zb_hierarchy *hierarchy = new_store();
    zb_error err;
    char got[4][9];
    zb_node *node =
        put(hierarchy, "{\"name\":\"fixed_length_utf32\",\"configuration\":{\"length_bytes\":8}}",
            "\"\xc3\xbc\"", BIG, 2, chunk, sizeof chunk);
    ASSERT_OK(read_box(node, 0, 4, (zb_dtype){.kind = ZB_KIND_CHARS, .size = 9}, got, NULL, &err),
              err);
    assert_memory_equal(got[0], "\xc3\xa9\xf0\x9d\x84\x9e\0\0\0", 9);
    assert_memory_equal(got[1], "\xef\xbf\xbd\xef\xbf\xbd\0\0\0", 9);
    assert_memory_equal(got[2], "\xc3\xbc\0\0\0\0\0\0\0", 9);
    uint32_t points[4][3];
    ASSERT_OK(
        read_box(node, 0, 4, (zb_dtype){.kind = ZB_KIND_UTF32, .size = 12}, points, NULL, &err),
        err);
    assert_memory_equal(points[0], ((uint32_t[]){0xe9, 0x1d11e, 0}), 12);
    ASSERT_FAILS(
        read_box(node, 0, 4, (zb_dtype){.kind = ZB_KIND_CHARS, .size = 7}, got, NULL, &err),
        ZB_EUNSUPPORTED, err, "does not convert");
    /* UTF-8 becomes code points, where it fits. */
    const zb_dtype utf8 = {.kind = ZB_KIND_CHARS, .size = 6},
                   points_type = zb_node_array(node)->dtype;
    assert_true(zb_dtype_writes(utf8, points_type) && !zb_dtype_converts(utf8, points_type));
    ASSERT_OK(write_box(node, 1, 2, utf8,
                        "a\xf0\x9d\x84\x9e\0"
                        "\xc3\xbc\0\0\0\0",
                        &err),
              err);
    ASSERT_FAILS(write_box(node, 0, 2, utf8,
                           "ok\0\0\0\0"
                           "abc\0\0",
                           &err),
                 ZB_EINVAL, err,
                 "element 1 of the box has more characters than the array's type holds");
    ASSERT_FAILS(write_box(node, 0, 2, utf8,
                           "ok\0\0\0\0"
                           "\xc3\0\0\0\0",
                           &err),
                 ZB_EINVAL, err, "element 1 of the box is no UTF-8 text");
    ASSERT_OK(
        read_box(node, 0, 4, (zb_dtype){.kind = ZB_KIND_UTF32, .size = 12}, points, NULL, &err),
        err);
    assert_memory_equal(points, ((uint32_t[4][3]){{0xe9, 0x1d11e}, {'a', 0x1d11e}, {0xfc}, {0xfc}}),
                        sizeof points);
    assert_true(zb_dtype_convert(utf8, "ab\0\0\0", points_type, points, 1));
    assert_false(zb_dtype_convert(utf8, "abc\0\0", points_type, points, 1));
    zb_node_release(node);
    /* Shorter into longer, of both. */
    node = create(hierarchy, (zb_dtype){.kind = ZB_KIND_CHARS, .size = 5}, NULL, false);
    ASSERT_OK(write_box(node, 0, 2, (zb_dtype){.kind = ZB_KIND_CHARS, .size = 2}, "abcd", &err),
              err);
    ASSERT_OK(read_box(node, 0, 3, (zb_dtype){.kind = ZB_KIND_CHARS, .size = 6}, got, NULL, &err),
              err);
    assert_memory_equal(got, "ab\0\0\0\0cd\0\0\0\0\0\0\0\0\0\0", 18);
    ASSERT_FAILS(write_box(node, 0, 1, (zb_dtype){.kind = ZB_KIND_CHARS, .size = 6}, got, &err),
                 ZB_EUNSUPPORTED, err, "does not convert");
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

static void small_numbers(void **state) {
    (void)state;
    static const char *const names[] = {"int2",          "int4",         "uint2",
                                        "uint4",         "bfloat16",     "float8_e4m3",
                                        "float6_e3m2fn", "float4_e2m1fn"};
    zb_hierarchy *hierarchy = new_store();
    zb_error err;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const float in[] = {0, 1, 0.5f, 3, 100000};
        float out[N];
        int8_t bytes[N];
        zb_dtype dtype;
        assert_true(zb_dtype_from_name(names[i], &dtype));
        zb_node *node = create(hierarchy, dtype, NULL, i % 2);
        ASSERT_OK(write_box(node, 2, 5, f4, in, &err), err);
        ASSERT_OK(read_box(node, 0, N, f4, out, NULL, &err), err);
        assert_true(out[0] == 0 && out[1] == 0 && out[2] == 0 && out[3] == 1 && out[7] == 0);
        assert_true(out[4] == (i < 4 ? 0 : 0.5f));
        assert_true(out[5] == (i == 0 ? 1 : 3));
        ASSERT_OK(read_box(node, 0, 6, i1, bytes, NULL, &err), err);
        assert_true(bytes[3] == 1 && bytes[5] == (i == 0 ? 1 : 3));
        ASSERT_FAILS(write_box(node, 0, 1, i8, &(int64_t){1}, &err), ZB_EUNSUPPORTED, err,
                     "int64 does not convert to");
        zb_node_release(node);
    }
    zb_hierarchy_release(hierarchy);
}

/* ---- Structs ---- */

#define PAIR                                                                                       \
    "{\"name\":\"structured\",\"configuration\":{\"fields\":[[\"a\",\"int16\"],[\"b\","            \
    "\"float32\"],"                                                                                \
    "[\"c\",\"bool\"]]}}"

static void fields_of_structs(void **state) {
    (void)state;
    /* 258 and 1.0 and true, big-endian; the bool is stored as 4. */
    static const uint8_t chunk[] = {1, 2, 0x3f, 0x80, 0, 0, 4};
    static const zb_field one_field[] = {{"b", 0, {ZB_KIND_FLOAT, 4, false, NULL}}},
                          other_way[] = {{"c", 0, {ZB_KIND_INT, 1, false, NULL}},
                                         {"a", 8, {ZB_KIND_FLOAT, 8, true, NULL}}},
                          unknown[] = {{"a", 0, {ZB_KIND_INT, 2, false, NULL}},
                                       {"z", 2, {ZB_KIND_INT, 2, false, NULL}}},
                          more[] = {{"c", 0, {ZB_KIND_BOOL, 1, false, NULL}},
                                    {"b", 4, {ZB_KIND_FLOAT, 8, false, NULL}},
                                    {"a", 12, {ZB_KIND_INT, 4, true, NULL}},
                                    {"z", 16, {ZB_KIND_INT, 1, false, NULL}}};
    const zb_dtype_detail one_detail = {.fields = one_field, .field_count = 1},
                          other_detail = {.fields = other_way, .field_count = 2},
                          unknown_detail = {.fields = unknown, .field_count = 2},
                          more_detail = {.fields = more, .field_count = 4},
                          all_detail = {.fields = more, .field_count = 3};
    const zb_dtype one = {ZB_KIND_STRUCT, 4, false, &one_detail},
                   other = {ZB_KIND_STRUCT, 16, false, &other_detail},
                   strange = {ZB_KIND_STRUCT, 4, false, &unknown_detail},
                   extra = {ZB_KIND_STRUCT, 20, false, &more_detail},
                   all = {ZB_KIND_STRUCT, 20, false, &all_detail};
    zb_hierarchy *hierarchy = new_store();
    zb_error err;
    /* The fill value in the chunk's order: -2, 0.5, true. */
    zb_node *node = put(hierarchy, PAIR, "\"//4/AAAAAQ==\"", BIG, 1, chunk, sizeof chunk);
    float single[2];
    ASSERT_OK(read_box(node, 0, 2, one, single, NULL, &err), err);
    assert_true(single[0] == 1 && single[1] == 0.5f);
    uint8_t got[2][16];
    memset(got, 0xaa, sizeof got);
    ASSERT_OK(read_box(node, 0, 2, other, got, NULL, &err), err);
    assert_memory_equal(got[0], "\1\xaa\xaa\xaa\xaa\xaa\xaa\xaa\x40\x70\x20\0\0\0\0\0", 16);
    assert_memory_equal(got[1], "\1\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xc0\0\0\0\0\0\0\0", 16);
    uint8_t whole[2][7];
    ASSERT_OK(read_box(node, 0, 2, zb_node_array(node)->dtype, whole, NULL, &err), err);
    assert_memory_equal(whole[0], "\2\1\0\0\x80\x3f\1", 7);
    assert_memory_equal(whole[1], "\xfe\xff\0\0\0\x3f\1", 7);
    ASSERT_FAILS(read_box(node, 0, 2, strange, got, NULL, &err), ZB_EUNSUPPORTED, err,
                 "struct does not convert to struct");
    double number;
    ASSERT_FAILS(
        read_box(node, 0, 1, (zb_dtype){.kind = ZB_KIND_FLOAT, .size = 8}, &number, NULL, &err),
        ZB_EUNSUPPORTED, err, "struct does not convert to float64");
    ASSERT_FAILS(write_box(node, 0, 1, (zb_dtype){.kind = ZB_KIND_FLOAT, .size = 8}, &number, &err),
                 ZB_EUNSUPPORTED, err, "float64 does not convert to struct");
    /* To be written, a struct has all fields, and no others: nothing is lost. */
    ASSERT_FAILS(write_box(node, 0, 1, one, single, &err), ZB_EUNSUPPORTED, err,
                 "only one of them has the field");
    ASSERT_FAILS(write_box(node, 0, 1, extra, got, &err), ZB_EUNSUPPORTED, err,
                 "only one of them has the field");
    uint8_t element[20] = {9};
    memcpy(element + 4, &(double){-2.5}, 8);
    memcpy(element + 12, "\0\0\x12\x34", 4);
    ASSERT_OK(write_box(node, 1, 1, all, element, &err), err);
    ASSERT_OK(read_box(node, 0, 2, zb_node_array(node)->dtype, whole, NULL, &err), err);
    assert_memory_equal(whole[1], "\x34\x12\0\0\x20\xc0\1", 7);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

/* A struct longer than the stage of a fill, with a bool, and read in another order. */
static void long_structs(void **state) {
    (void)state;
    enum { SIZE = 6001 };
    static const zb_field two[] = {{"r", 0, {ZB_KIND_RAW, SIZE - 1, false, NULL}},
                                   {"b", SIZE - 1, {ZB_KIND_BOOL, 1, false, NULL}}},
                          back[] = {{"b", 0, {ZB_KIND_BOOL, 1, false, NULL}},
                                    {"r", 1, {ZB_KIND_RAW, SIZE - 1, false, NULL}}};
    const zb_dtype_detail two_detail = {.fields = two, .field_count = 2},
                          back_detail = {.fields = back, .field_count = 2};
    zb_hierarchy *hierarchy = new_store();
    zb_error err;
    static uint8_t fill[SIZE], got[N][SIZE];
    memset(fill, 0x5a, SIZE - 1);
    fill[SIZE - 1] = 1;
    zb_node *node =
        create(hierarchy, (zb_dtype){ZB_KIND_STRUCT, SIZE, false, &two_detail}, fill, false);
    ASSERT_OK(read_box(node, 0, N, (zb_dtype){ZB_KIND_STRUCT, SIZE, false, &back_detail}, got, NULL,
                       &err),
              err);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(got[i][0], 1);
        assert_memory_equal(got[i] + 1, fill, SIZE - 1);
    }
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

static void refused_structs(void **state) {
    (void)state;
    static const zb_field twice[] = {{"x", 0, {ZB_KIND_INT, 1, false, NULL}},
                                     {"x", 1, {ZB_KIND_INT, 1, false, NULL}}},
                          over[] = {{"x", 0, {ZB_KIND_INT, 2, false, NULL}},
                                    {"y", 1, {ZB_KIND_INT, 1, false, NULL}}},
                          outside[] = {{"x", 0, {ZB_KIND_INT, 2, false, NULL}}},
                          named[] = {{"x", 0, {ZB_KIND_STRING, sizeof(zb_slice), false, NULL}}},
                          odd[] = {{"x", 0, {ZB_KIND_INT, 3, false, NULL}}},
                          unnamed[] = {{"", 0, {ZB_KIND_INT, 1, false, NULL}}};
    static const struct {
        const zb_field *fields;
        size_t count;
        uint32_t size;
        enum zb_code code;
        const char *message;
    } rows[] = {
        {twice, 2, 2, ZB_EINVAL, "no name of its own"},
        {over, 2, 2, ZB_EINVAL, "field \"y\" lies outside the struct, or in another field"},
        {outside, 1, 1, ZB_EINVAL, "field \"x\" lies outside"},
        {named, 1, sizeof(zb_slice), ZB_EUNSUPPORTED, "no fixed size"},
        {odd, 1, 3, ZB_EINVAL, "field \"x\": no data type of kind"},
        {unnamed, 1, 1, ZB_EINVAL, "no name of its own"},
        {odd, 0, 3, ZB_EINVAL, "a struct with 0 fields"},
    };
    static const uint64_t shape[] = {1};
    zb_hierarchy *hierarchy = new_store();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const zb_dtype_detail detail = {.fields = rows[i].fields, .field_count = rows[i].count};
        zb_array_spec spec = {.ndim = 1,
                              .shape = shape,
                              .inner_shape = shape,
                              .dtype = {ZB_KIND_STRUCT, rows[i].size, false, &detail}};
        zb_node *node;
        zb_error err;
        ASSERT_FAILS(zb_array_create(hierarchy, "a", &spec, &node, &err), rows[i].code, err,
                     rows[i].message);
    }
    zb_hierarchy_release(hierarchy);
}

/* ---- Bools, bytes ---- */

/* A byte that is neither 0 nor 1 is 1 to every caller, on the straight way, by scattering and as a
   window of an uncompressed chunk. */
static void bools(void **state) {
    (void)state;
    static const uint8_t chunk[] = {0, 4, 1, 255};
    static const zb_dtype type = {.kind = ZB_KIND_BOOL, .size = 1};
    zb_hierarchy *hierarchy = new_store();
    zb_error err;
    zb_node *node = put(hierarchy, "\"bool\"", "true", "[{\"name\":\"bytes\"}]", 4, chunk, 4);
    uint8_t got[16];
    ASSERT_OK(read_box(node, 0, 4, type, got, NULL, &err), err);
    assert_memory_equal(got, "\0\1\1\1", 4);
    ASSERT_OK(read_box(node, 1, 2, type, got, NULL, &err), err);
    assert_memory_equal(got, "\1\1", 2);
    const uint64_t count = 4, start = 0;
    const int64_t stride = 2;
    zb_read spread = {
        .node = node, .start = &start, .count = &count, .view = {got, type, &stride, NULL}};
    ASSERT_OK(zb_array_read(&spread, 1, &err), err);
    assert_true(got[0] == 0 && got[2] == 1 && got[4] == 1 && got[6] == 1);
    ASSERT_OK(write_box(node, 4, 4, type, chunk, &err), err); /* and is stored as 1 */
    zb_object *object;
    zb_range range = {.length = 4, .buffer = got};
    zb_object_info info;
    ASSERT_OK(zb_object_open(zb_hierarchy_store(hierarchy), "d/c/1", &object, &info, &err), err);
    ASSERT_OK(zb_object_read(object, &range, 1, &err), err);
    assert_memory_equal(got, "\0\1\1\1", 4);
    zb_object_close(object);
    zb_node_release(node);
    /* In compressed chunks of shards. */
    node = create(hierarchy, type, NULL, true);
    ASSERT_OK(write_box(node, 0, 4, type, chunk, &err), err);
    ASSERT_OK(read_box(node, 0, 4, type, got, NULL, &err), err);
    assert_memory_equal(got, "\0\1\1\1", 4);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

static void bytes_of_any_length(void **state) {
    (void)state;
    static const zb_dtype type = {.kind = ZB_KIND_BYTES, .size = sizeof(zb_slice)};
    const zb_slice fill = {"\0\xff", 2}, in[] = {{"", 0}, {"\xff\xfe\0x", 4}, {"abc", 3}};
    for (int sharded = 0; sharded < 2; sharded++) {
        zb_hierarchy *hierarchy = new_store();
        zb_values *values;
        zb_error err;
        zb_slice out[N];
        zb_node *node = create(hierarchy, type, &fill, sharded);
        ASSERT_OK(zb_values_new(&values, &err), err);
        ASSERT_OK(write_box(node, 3, 3, type, in, &err), err);
        ASSERT_OK(read_box(node, 0, N, type, out, values, &err), err);
        for (size_t i = 0; i < N; i++) {
            const zb_slice *expected = i >= 3 && i < 6 ? &in[i - 3] : &fill;
            assert_int_equal(out[i].size, expected->size);
            assert_memory_equal(out[i].data, expected->data, expected->size);
        }
        zb_node_release(node);
        zb_values_free(values);
        zb_hierarchy_release(hierarchy);
    }
    /* Of another writer, with the other form of a fill value. */
    static const uint8_t chunk[] = {1, 0, 0, 0, 2, 0, 0, 0, 0xff, 0};
    zb_hierarchy *hierarchy = new_store();
    zb_values *values;
    zb_error err;
    zb_slice out[2];
    ASSERT_OK(zb_values_new(&values, &err), err);
    zb_node *node = put(hierarchy, "\"variable_length_bytes\"", "[7,0]",
                        "[{\"name\":\"vlen-bytes\"}]", 1, chunk, sizeof chunk);
    ASSERT_OK(read_box(node, 0, 2, type, out, values, &err), err);
    assert_int_equal(out[0].size, 2);
    assert_memory_equal(out[0].data, "\xff\0", 2);
    assert_memory_equal(out[1].data, "\7\0", 2);
    zb_node_release(node);
    zb_values_free(values);
    zb_hierarchy_release(hierarchy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(times),
        cmocka_unit_test(text),
        cmocka_unit_test(small_numbers),
        cmocka_unit_test(fields_of_structs),
        cmocka_unit_test(long_structs),
        cmocka_unit_test(refused_structs),
        cmocka_unit_test(bools),
        cmocka_unit_test(bytes_of_any_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
