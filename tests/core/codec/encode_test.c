/* SPDX-License-Identifier: MIT */
/*
 * Whole chunks and shards through every form of pipeline: encoded in a buffer of exactly the bound,
 * stored as the one chunk of an array in memory, and read back by the library's reader.
 */
#include "bind.h"

#include "util/scratch.h"
#include "codec/table.h"
#include "codec/encode.h"
#include "types/scatter.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/hierarchy.h"

#define LE "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
#define BE "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}"
#define CRC "{\"name\":\"crc32c\"}"
#define ZSTD "{\"name\":\"zstd\",\"configuration\":{\"level\":1,\"checksum\":true}}"
#define ZLIB "{\"name\":\"numcodecs.zlib\",\"configuration\":{\"level\":2}}"
#define GZIP "{\"name\":\"gzip\",\"configuration\":{\"level\":4}}"
#define BLOSC                                                                                      \
    "{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\",\"clevel\":5,\"shuffle\":"           \
    "\"shuffle\",\"typesize\":2,\"blocksize\":0}}"
#define TURN(order) "{\"name\":\"transpose\",\"configuration\":{\"order\":[" order "]}}"
#define SHARD_OF(shape, codecs, index, more)                                                       \
    "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[" shape                    \
    "],\"codecs\":[" codecs "],\"index_codecs\":[" index "]" more "}}"
#define START ",\"index_location\":\"start\""

#define GUARD 64
#define GUARD_BYTE 0xa5

/* Chunks of shape 4 x 6 x 8. */
static const uint64_t shape[3] = {4, 6, 8};
#define ELEMENTS (4 * 6 * 8)

static const char *const forms[] = {
    LE,
    BE,
    LE "," CRC,
    LE "," CRC "," CRC,
    LE "," ZSTD,
    BE "," GZIP,
    LE "," BLOSC,
    BE "," ZLIB,
    LE "," ZLIB "," CRC "," ZLIB,
    LE "," ZSTD "," CRC,
    LE "," CRC "," ZSTD,
    LE "," GZIP "," CRC "," ZSTD "," CRC "," CRC "," BLOSC,
    TURN("2,0,1") "," LE,
    TURN("2,0,1") "," TURN("1,0,2") "," BE "," ZSTD,
    /* shards: index at both ends, in every dress */
    SHARD_OF("2,3,4", LE, LE "," CRC, ""),
    SHARD_OF("2,3,4", LE, LE "," CRC, START),
    SHARD_OF("2,3,4", LE "," ZSTD, LE, ""),
    SHARD_OF("2,3,4", LE "," ZLIB, LE, ""),
    SHARD_OF("2,3,4", BE "," GZIP, BE "," CRC, START),
    SHARD_OF("1,1,1", LE "," BLOSC, TURN("3,1,0,2") "," BE "," CRC "," CRC, ""),
    SHARD_OF("4,6,8", LE "," ZSTD "," CRC, TURN("0,2,1,3") "," LE, START),
    /* transposes around, inside and both */
    TURN("1,2,0") "," SHARD_OF("3,4,2", LE "," ZSTD, LE "," CRC, ""),
    SHARD_OF("2,3,4", TURN("2,1,0") "," LE, LE "," CRC, ""),
    TURN("1,2,0") "," SHARD_OF("3,8,1", TURN("1,0,2") "," BE "," CRC, LE "," CRC, START),
    /* codecs around */
    SHARD_OF("2,3,4", LE, LE "," CRC, "") "," CRC,
    SHARD_OF("2,3,4", BE "," GZIP "," ZSTD, LE "," CRC, START) "," ZSTD,
    TURN("2,1,0") "," SHARD_OF("4,3,2", TURN("2,1,0") "," BE, LE, "") "," GZIP "," CRC "," ZSTD,
    /* nested */
    SHARD_OF("2,6,4", SHARD_OF("1,3,4", LE, LE, START), LE "," CRC, ""),
    SHARD_OF("2,6,4", TURN("2,0,1") "," SHARD_OF("2,1,3", TURN("1,2,0") "," BE "," ZSTD, BE, ""),
             LE "," CRC, START),
    SHARD_OF("4,6,4", SHARD_OF("2,6,4", SHARD_OF("2,3,1", BE, LE, "") "," GZIP, LE, START) "," CRC,
             LE "," CRC, "") "," ZSTD,
};
#define FORMS (sizeof forms / sizeof *forms)

/* ---- A chunk, its encoding and the way back ----------------------------------------------- */

static const zb_dtype types[] = {
    {.kind = ZB_KIND_UINT, .size = 1},  {.kind = ZB_KIND_INT, .size = 2},
    {.kind = ZB_KIND_FLOAT, .size = 8}, {.kind = ZB_KIND_COMPLEX, .size = 16},
    {.kind = ZB_KIND_RAW, .size = 3},
};
#define TYPES (sizeof types / sizeof *types)

static const char *fill_text(zb_dtype dtype) {
    return dtype.kind == ZB_KIND_RAW       ? "[7,7,8]"
           : dtype.kind == ZB_KIND_COMPLEX ? "[1.5,\"NaN\"]"
           : dtype.kind == ZB_KIND_FLOAT   ? "-0.0"
                                           : "77";
}

/* An array of one chunk: a store in memory that holds its document. */
typedef struct one_chunk {
    zb_hierarchy *store;
    zb_node *node;
    const zb_array_info *info;
    const zb__chunk_layout *form; /* of our own, equal to the array's */
} one_chunk;

static one_chunk new_one_chunk(const char *form, zb_dtype dtype) {
    one_chunk c;
    zb_error err;
    char name[ZB_DTYPE_NAME_SIZE], codecs[3000], document[4000];
    snprintf(codecs, sizeof codecs, "[%s]", form);
    snprintf(document, sizeof document,
             "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[4,6,8],\"data_type\":\"%s\","
             "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[4,6,8]}},"
             "\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":%s,\"codecs\":%s}",
             zb_dtype_name(dtype, name), fill_text(dtype), codecs);
    ASSERT_OK(zb_hierarchy_new_mem("memory", &c.store, &err), err);
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(c.store), "zarr.json", document, strlen(document),
                               &err),
              err);
    ASSERT_OK(zb_node_open(c.store, "", &c.node, &err), err);
    c.info = zb_node_array(c.node);
    c.form = bind_shape(codecs, dtype, 3, shape);
    return c;
}

static void free_one_chunk(one_chunk *c) {
    free_layout(c->form);
    zb_node_release(c->node);
    zb_hierarchy_release(c->store);
}

/* Random elements; a share of the single inner blocks of 2 x 3 x 4, and of whole slices, is
   fill. */
static void make_elements(const one_chunk *c, check_random *random, uint64_t share, uint8_t *out) {
    size_t item = c->info->dtype.size;
    bool fills[2 * 2 * 2];
    for (int i = 0; i < 8; i++)
        fills[i] = check_random_in(random, 1, 100) <= share;
    for (size_t i = 0; i < ELEMENTS; i++, out += item) {
        size_t block = i / 96 * 4 + i / 24 % 2 * 2 + i / 4 % 2;
        if (fills[block]) {
            memcpy(out, c->info->fill_value, item);
            continue;
        }
        for (size_t b = 0; b < item; b++)
            out[b] = (uint8_t)check_random_in(random, 0, 3);
    }
}

/* The input of encoding: stored dimensions, the pipeline's byte order. */
static uint8_t *serialise(const one_chunk *c, const uint8_t *elements) {
    const zb__chunk_layout *form = c->form;
    const zb__pipeline *pipeline = form->pipeline;
    int64_t item = pipeline->dtype.size, to[3], from[3];
    int64_t ours[3] = {48 * item, 8 * item, item};
    for (uint32_t i = 3; i-- > 0; item *= (int64_t)form->stored_shape[i]) {
        to[i] = item;
        from[i] = ours[pipeline->axis[i]];
    }
    zb__box_copy copy = {.ndim = 3,
                         .count = form->stored_shape,
                         .src_strides = from,
                         .dst_strides = to,
                         .src_dtype = c->info->dtype,
                         .dst_dtype = pipeline->dtype};
    uint8_t *out = malloc(form->decoded_size);
    assert_non_null(out);
    zb__scatter(&copy, elements, out);
    return out;
}

/* The fill value in the pipeline's byte order. */
static void pipeline_fill(const one_chunk *c, uint8_t fill[16]) {
    zb__convert(c->info->dtype, c->info->fill_value, 0, c->form->pipeline->dtype, fill, 0, 1);
}

typedef struct encoded {
    uint8_t *data; /* capacity bytes and the guard */
    size_t capacity, size;
} encoded;

static enum zb_code encode(const one_chunk *c, const uint8_t *elements, bool store_empty,
                           size_t capacity, encoded *out, zb_error *err) {
    uint8_t fill[16];
    uint8_t *serialised = serialise(c, elements);
    pipeline_fill(c, fill);
    *out = (encoded){malloc(capacity + GUARD), capacity, SIZE_MAX};
    memset(out->data, GUARD_BYTE, capacity + GUARD);
    zb__scratch *scratch = zb__scratch_take();
    enum zb_code code = zb__chunk_encode(c->form, scratch, serialised, fill, store_empty, out->data,
                                         capacity, &out->size, err);
    zb__scratch_put(scratch);
    free(serialised);
    for (size_t i = 0; i < GUARD; i++)
        assert_int_equal(out->data[capacity + i], GUARD_BYTE);
    return code;
}

static encoded encode_within_bound(const one_chunk *c, const uint8_t *elements, bool store_empty) {
    uint64_t bound = zb__chunk_encode_bound(c->form);
    zb_error err;
    encoded out;
    assert_true(bound <= c->form->encoded_bound); /* readers accept the forms that writers may
                                                     write */
    ASSERT_OK(encode(c, elements, store_empty, (size_t)bound, &out, &err), err);
    assert_true(out.size <= bound);
    return out;
}

static void assert_reads(one_chunk *c, const encoded *e, const uint8_t *elements) {
    zb_error err;
    size_t bytes = ELEMENTS * c->info->dtype.size;
    uint8_t *out = malloc(bytes);
    if (e->size)
        ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(c->store), "c/0/0/0", e->data, e->size, &err),
                  err);
    zb_cache_clear();
    zb_read read = {.node = c->node, .view = {.data = out, .dtype = c->info->dtype}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    assert_memory_equal(out, elements, bytes);
    free(out);
}

/* ---- Tests -------------------------------------------------------------------------------- */

static void round_trips(void **state) {
    (void)state;
    static const uint64_t shares[] = {0, 50, 90};
    check_random random = check_random_new();
    uint8_t elements[ELEMENTS * 16];
    for (size_t i = 0; i < FORMS * TYPES * 6; i++) {
        one_chunk c = new_one_chunk(forms[i / 6 / TYPES], types[i / 6 % TYPES]);
        make_elements(&c, &random, shares[i % 3], elements);
        encoded e = encode_within_bound(&c, elements, i % 6 < 3);
        assert_reads(&c, &e, elements);
        free(e.data);
        free_one_chunk(&c);
    }
}

/* All fill: left out, unless it is to be stored; then every inner chunk is there. */
static void all_fill(void **state) {
    (void)state;
    uint8_t elements[ELEMENTS * 16];
    check_random random = check_random_new();
    for (size_t i = 0; i < FORMS * TYPES; i++) {
        one_chunk c = new_one_chunk(forms[i / TYPES], types[i % TYPES]);
        make_elements(&c, &random, 100, elements);
        encoded e = encode_within_bound(&c, elements, false);
        assert_int_equal(e.size, 0);
        free(e.data);
        e = encode_within_bound(&c, elements, true);
        assert_true(e.size > 0);
        assert_reads(&c, &e, elements);
        free(e.data);
        /* One bit of one element makes a difference: of a NaN, and of the sign of zero, too. */
        elements[check_random_in(&random, 0, ELEMENTS * c.info->dtype.size - 1)] ^= 0x80;
        e = encode_within_bound(&c, elements, false);
        assert_true(e.size > 0);
        assert_reads(&c, &e, elements);
        free(e.data);
        free_one_chunk(&c);
    }
}

/* Less room than the bound is an error or enough, never memory outside the buffer. */
static void too_little_room(void **state) {
    (void)state;
    uint8_t elements[ELEMENTS * 16];
    check_random random = check_random_new();
    for (size_t form = 0; form < FORMS; form++) {
        one_chunk c = new_one_chunk(forms[form], types[1]);
        make_elements(&c, &random, 10, elements);
        encoded e = encode_within_bound(&c, elements, false);
        size_t needed = e.size;
        free(e.data);
        for (size_t capacity = 0; capacity < needed; capacity += capacity < 80 ? 1 : 37) {
            zb_error err = {0};
            enum zb_code code = encode(&c, elements, false, capacity, &e, &err);
            assert_int_equal(code, ZB_EINVAL);
            assert_int_equal(err.code, code);
            free(e.data);
        }
        free_one_chunk(&c);
    }
}

/* The shard that GDAL 3.13 writes for the corner of an array of 6 x 6 elements 0 to 35. */
static void golden_shard(void **state) {
    (void)state;
    static const int16_t elements[16] = {28, 29, 0, 0, 34, 35};
    static const uint8_t start[33] = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 8, 0x41, 0, 0, 28, 0,
                                      29,   0,    34,   0,    35,   0, 0,    0, 0, 0,  0,
                                      0,    0,    0,    17,   0,    0, 0,    0, 0, 0,  0};
    static const uint8_t end[4] = {0x65, 0x23, 0x47, 0x58};
    const int16_t fill = 0;
    const zb__chunk_layout *form =
        bind_shape("[" SHARD_OF("2,2", LE ",{\"name\":\"zstd\",\"configuration\":{\"level\":3}}",
                                LE "," CRC, "") "]",
                   int16_type, 2, (const uint64_t[]){4, 4});
    uint8_t in[32], out[1000];
    for (int i = 0; i < 16; i++) {
        in[2 * i] = (uint8_t)elements[i];
        in[2 * i + 1] = 0;
    }
    size_t size;
    zb_error err;
    zb__scratch *scratch = zb__scratch_take();
    ASSERT_OK(zb__chunk_encode(form, scratch, in, &fill, false, out, sizeof out, &size, &err), err);
    zb__scratch_put(scratch);
    free_layout(form);
    assert_int_equal(size, 85);
    assert_memory_equal(out, start, sizeof start);
    for (size_t i = sizeof start; i < 81; i++)
        assert_int_equal(out[i], 255);
    assert_memory_equal(out + 81, end, 4);
}

/* The encoded size of 192 KiB in which nothing but runs of four bytes comes again: every second
   group of four is one of those before. */
static size_t size_of_short_matches(const char *codec) {
    enum { SIZE = 192 << 10 };
    char text[200];
    snprintf(text, sizeof text, "[" LE ",{\"name\":\"zstd\",\"configuration\":%s}]", codec);
    const zb__chunk_layout *form = bind_shape(text, uint8_type, 1, (const uint64_t[]){SIZE});
    const size_t capacity = (size_t)zb__chunk_encode_bound(form);
    uint8_t *in = malloc(SIZE), *out = malloc(capacity);
    uint32_t noise = 1;
    for (size_t i = 0; i < SIZE; i++) {
        noise = noise * 1664525 + 1013904223;
        in[i] = (uint8_t)(noise >> 24);
    }
    for (size_t i = 4096; i < SIZE; i += 8)
        memcpy(in + i, in + i - 4096 + 4, 4);
    const uint8_t fill = 0;
    size_t size;
    zb_error err;
    zb__scratch *scratch = zb__scratch_take();
    ASSERT_OK(zb__chunk_encode(form, scratch, in, &fill, false, out, capacity, &size, &err), err);
    zb__scratch_put(scratch);
    free_layout(form);
    free(in);
    free(out);
    return size;
}

/* Tiles of pictures are to be read as fast as a TIFF's. */
static void level_3_does_without_short_matches(void **state) {
    (void)state;
    assert_true(size_of_short_matches("{\"level\":3}") > 192 << 10);
    assert_true(size_of_short_matches("{\"level\":0}") > 192 << 10);
    assert_true(size_of_short_matches("{\"level\":12}") < 190 << 10); /* there is what to find */
}

static void fill_is_compared_bit_by_bit(void **state) {
    (void)state;
    uint8_t data[333];
    for (size_t item = 1; item <= 24; item++) {
        size_t n = sizeof data / item;
        const uint8_t *fill = data + (n - 1) * item;
        for (size_t i = 0; i < n * item; i++)
            data[i] = (uint8_t)(i % item * 3);
        assert_true(zb__is_all(data, n, fill, item));
        assert_true(zb__is_all(data, 0, fill, item));
        for (size_t i = 0; i < (n - 1) * item; i++) {
            data[i] ^= 1;
            assert_false(zb__is_all(data, n, fill, item));
            assert_true(zb__is_all(data, i / item, fill, item));
            data[i] ^= 1;
        }
        uint8_t other[24] = {1};
        assert_false(zb__is_all(data, n, other, item));
    }
}

/* A number that does not fit 64 bits is not a bound. */
static void bounds(void **state) {
    (void)state;
    const uint64_t huge[2] = {1 << 25, 1 << 25};
    const char *text = "[" SHARD_OF("32768,32768", LE, LE, "") "," CRC "]";
    const zb__chunk_layout *form = bind_shape(text, uint8_type, 2, huge);
    uint64_t body = ((uint64_t)1 << 50) + (16 << 20);
    assert_true(zb__chunk_encode_bound(form) == body + 4);
    zb__codec *codec = &form->pipeline->codecs[0];
    const zb__codec_ops *own = codec->ops;
    for (size_t i = 0; zb__codec_at(i); i++) {
        if (zb__codec_at(i)->kind != ZB__BYTES_TO_BYTES)
            continue;
        codec->ops = zb__codec_at(i);
        form->shard->count = 1 << 20;
        uint64_t bound = zb__chunk_encode_bound(form);
        /* shuffle adds nothing, and an LZ4 block does not hold that much */
        assert_true(bound >= body && (bound < 2 * body || bound == UINT64_MAX));
        form->shard->count = UINT64_MAX / 3;
        assert_true(zb__chunk_encode_bound(form) == UINT64_MAX);
    }
    codec->ops = own;
    free_layout(form);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(all_fill),
        cmocka_unit_test(too_little_room),
        cmocka_unit_test(golden_shard),
        cmocka_unit_test(level_3_does_without_short_matches),
        cmocka_unit_test(fill_is_compared_bit_by_bit),
        cmocka_unit_test(bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
