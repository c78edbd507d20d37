/* SPDX-License-Identifier: MIT */
/*
 * Arrays of strings through the public calls: random boxes written and read, in plain chunks,
 * shards, and shards inside codecs; what was not written is the fill value; memory that runs out.
 */
#include "support/check.h"
#include "support/starve.h"
#include "zarrbridge/sys/hierarchy.h"

enum { H = 13, W = 17 };

/* The model: what each element is, as a number from which its text is made. */
typedef struct world {
    zb_hierarchy *store;
    zb_node *node;
    int number[H][W];
} world;

static const zb_dtype text_type = {.kind = ZB_KIND_STRING, .size = sizeof(zb_slice)};

/* -1 is the fill value. Lengths from 0 to 3000 bytes, most of them short. */
static size_t make_text(int number, char *out) {
    if (number < 0)
        return (size_t)sprintf(out, "fill é");
    size_t length = number % 7 == 0 ? 0 : (size_t)(number * 37 % (number % 50 == 1 ? 3000 : 20));
    for (size_t i = 0; i < length; i++)
        out[i] = (char)('a' + (number + (int)i) % 26);
    return length;
}

static void expect(const zb_slice *slice, int number) {
    char text[3000];
    size_t size = make_text(number, text);
    assert_int_equal(slice->size, size);
    assert_memory_equal(slice->data, text, size);
}

#define REGULAR(shape) "\"regular\",\"configuration\":{\"chunk_shape\":" shape "}}"
#define UNEVEN(shapes)                                                                             \
    "\"rectilinear\",\"configuration\":{\"kind\":\"inline\",\"chunk_shapes\":" shapes "}}"

static const char *const documents[] = {
    REGULAR("[4,5]") ",\"codecs\":[\"vlen-utf8\"]",
    REGULAR(
        "[4,5]") ",\"codecs\":[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]"
                 "}},\"vlen-utf8\",{\"name\":\"zstd\",\"configuration\":{\"level\":1}},\"crc32c\"]",
    REGULAR("[8,10]") ",\"codecs\":[{\"name\":\"sharding_indexed\",\"configuration\":{"
                      "\"chunk_shape\":[2,5],\"codecs\":[\"vlen-utf8\",\"zstd\"],\"index_codecs\":["
                      "\"bytes\","
                      "\"crc32c\"]}}]",
    REGULAR("[8,10]") ",\"codecs\":[{\"name\":\"sharding_indexed\",\"configuration\":{"
                      "\"chunk_shape\":[4,5],\"codecs\":[{\"name\":\"transpose\",\"configuration\":"
                      "{\"order\":[1,0]}}"
                      ",\"vlen-utf8\"],\"index_codecs\":[\"bytes\"],\"index_location\":\"start\"}},"
                      "\"gzip\"]",
    UNEVEN("[[3,10],[[5,2],7]]") ",\"codecs\":[\"vlen-utf8\",\"zstd\"]",
    UNEVEN("[[2,8,6],[10,15]]") ",\"codecs\":[{\"name\":\"sharding_indexed\",\"configuration\":"
                                "{\"chunk_shape\":[2,5],\"codecs\":[\"vlen-utf8\"],"
                                "\"index_codecs\":[\"bytes\"]}}]",
};
enum { DOCUMENTS = sizeof documents / sizeof *documents };

static world open_world(const char *codecs) {
    world w;
    char *text = NULL;
    zb_error err;
    assert_true(asprintf(&text,
                         "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[%d,%d],"
                         "\"data_type\":\"string\",\"fill_value\":\"fill é\","
                         "\"chunk_key_encoding\":{\"name\":\"default\"},\"chunk_grid\":{\"name\":"
                         "%s}",
                         H, W, codecs) > 0);
    ASSERT_OK(zb_hierarchy_new_mem("test", &w.store, &err), err);
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(w.store), "zarr.json", text, strlen(text), &err),
              err);
    ASSERT_OK(zb_node_open(w.store, "", &w.node, &err), err);
    for (int i = 0; i < H * W; i++)
        w.number[i / W][i % W] = -1;
    free(text);
    return w;
}

static void close_world(world *w) {
    zb_node_release(w->node);
    zb_hierarchy_release(w->store);
}

/* Writes random strings to a box; the caller's memory is gone afterwards. */
static enum zb_code write_box(world *w, zb_writer *writer, const uint64_t *start,
                              const uint64_t *count, const uint64_t *step, int seed,
                              zb_error *err) {
    static zb_slice slices[H * W]; /* not allocated: memory may run out */
    static char texts[H * W * 3000];
    size_t n = (size_t)(count[0] * count[1]);
    for (size_t i = 0; i < n; i++)
        slices[i] = (zb_slice){texts + i * 3000, make_text(seed + (int)i * 11, texts + i * 3000)};
    zb_write write = {
        .start = start, .count = count, .step = step, .data = slices, .dtype = text_type};
    enum zb_code code = zb_writer_write(writer, &write, err);
    for (size_t i = 0; i < n && code == ZB_OK; i++)
        w->number[start[0] + i / count[1] * step[0]][start[1] + i % count[1] * step[1]] =
            seed + (int)i * 11;
    memset(texts, 'X', n * 3000);
    return code;
}

static enum zb_code read_box(const world *w, const uint64_t *start, const uint64_t *count,
                             const uint64_t *step, zb_error *err) {
    static zb_slice slices[H * W];
    /* Transposed at the destination. */
    const int64_t strides[] = {sizeof *slices, (int64_t)(count[0] * sizeof *slices)};
    zb_values *values = NULL;
    enum zb_code code = zb_values_new(&values, err);
    zb_read read = {.node = w->node,
                    .start = start,
                    .count = count,
                    .step = step,
                    .view = {slices, text_type, strides, values}};
    if (code == ZB_OK)
        code = zb_array_read(&read, 1, err);
    for (uint64_t y = 0; y < count[0] && code == ZB_OK; y++) {
        for (uint64_t x = 0; x < count[1]; x++)
            expect(&slices[x * count[0] + y],
                   w->number[start[0] + y * step[0]][start[1] + x * step[1]]);
    }
    zb_values_free(values);
    return code;
}

static void random_box(check_random *random, uint64_t *start, uint64_t *count, uint64_t *step) {
    static const uint64_t shape[] = {H, W};
    for (int d = 0; d < 2; d++) {
        start[d] = check_random_in(random, 0, shape[d] - 1);
        step[d] = check_random_in(random, 1, 2);
        count[d] = check_random_in(random, 1, (shape[d] - start[d] - 1) / step[d] + 1);
    }
}

static void read_all(const world *w) {
    static const uint64_t start[] = {0, 0}, count[] = {H, W}, step[] = {1, 1};
    zb_error err;
    ASSERT_OK(read_box(w, start, count, step, &err), err);
}

#ifdef __SANITIZE_THREAD__ /* pays dearly for fresh memory, of which text takes much */
enum { ROUNDS = 3 };
#else
enum { ROUNDS = 12 };
#endif

static void random_boxes(void **state) {
    (void)state;
    for (int k = 0; k < DOCUMENTS; k++) {
        check_random random = check_random_new();
        world w = open_world(documents[k]);
        read_all(&w); /* nothing is stored: the fill value */
        for (int round = 0; round < ROUNDS; round++) {
            zb_writer *writer;
            zb_error err;
            uint64_t start[2], count[2], step[2];
            ASSERT_OK(zb_writer_open(w.node, NULL, &writer, &err), err);
            for (int box = 0; box < 6; box++) {
                random_box(&random, start, count, step);
                ASSERT_OK(write_box(&w, writer, start, count, step,
                                    (int)check_random_in(&random, 0, 9999), &err),
                          err);
            }
            ASSERT_OK(zb_writer_close(writer, &err), err);
            for (int box = 0; box < 6; box++) {
                random_box(&random, start, count, step);
                ASSERT_OK(read_box(&w, start, count, step, &err), err);
            }
            read_all(&w);
        }
        close_world(&w);
        zb_cache_clear();
    }
}

static void points_and_refusals(void **state) {
    (void)state;
    world w = open_world(documents[2]);
    zb_writer *writer;
    zb_values *values;
    zb_error err;
    static const uint64_t start[] = {0, 0}, count[] = {H, W}, one[] = {1, 1};
    ASSERT_OK(zb_writer_open(w.node, NULL, &writer, &err), err);
    ASSERT_OK(write_box(&w, writer, start, count, one, 5, &err), err);
    ASSERT_OK(zb_writer_flush(writer, &err), err);
    static const uint64_t coords[] = {12, 16, 0, 0, 7, 3, 12, 16};
    zb_slice slices[4];
    ASSERT_OK(zb_values_new(&values, &err), err);
    zb_points points = {.node = w.node,
                        .coords = coords,
                        .count = 4,
                        .view = {.data = slices, .dtype = text_type, .values = values}};
    ASSERT_OK(zb_array_read_points(&points, &err), err);
    for (int i = 0; i < 4; i++)
        expect(&slices[i], w.number[coords[2 * i]][coords[2 * i + 1]]);
    zb_values_free(values);

    points.view.values = NULL;
    ASSERT_FAILS(zb_array_read_points(&points, &err), ZB_EINVAL, err, "no zb_values");
    zb_read read = {.node = w.node, .count = one, .view = {.data = slices, .dtype = text_type}};
    ASSERT_FAILS(zb_array_read(&read, 1, &err), ZB_EINVAL, err, "no zb_values");
    read.view.dtype = (zb_dtype){.kind = ZB_KIND_INT, .size = 4};
    ASSERT_FAILS(zb_array_read(&read, 1, &err), ZB_EUNSUPPORTED, err,
                 "string does not convert to int32");
    /* Nothing of a box with a bad text is written. */
    const zb_slice bad[] = {{"good", 4}, {"\xff", 1}};
    static const uint64_t two[] = {1, 2};
    zb_write write = {.start = start, .count = two, .data = bad, .dtype = text_type};
    ASSERT_FAILS(zb_writer_write(writer, &write, &err), ZB_EINVAL, err, "element 1 of the box");
    ASSERT_OK(zb_writer_close(writer, &err), err);
    read_all(&w);
    close_world(&w);
}

static void created_resized_and_verified(void **state) {
    (void)state;
    zb_hierarchy *hierarchy;
    zb_node *node, *larger, *smaller;
    zb_error err;
    static const uint64_t shape[] = {6}, inner[] = {2}, shard[] = {4}, less[] = {3}, more[] = {8};
    const zb_slice fill = {"none", 4};
    zb_array_spec spec = {.ndim = 1,
                          .shape = shape,
                          .inner_shape = inner,
                          .shard_shape = shard,
                          .dtype = text_type,
                          .fill_value = &fill};
    ASSERT_OK(zb_hierarchy_new_mem("test", &hierarchy, &err), err);
    ASSERT_OK(zb_array_create(hierarchy, "a", &spec, &node, &err), err);
    const zb_slice *stored = zb_node_array(node)->fill_value;
    assert_int_equal(stored->size, 4);
    assert_memory_equal(stored->data, "none", 4);
    const zb_slice slices[] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 1}};
    zb_writer *writer;
    zb_write write = {.data = slices, .dtype = text_type};
    ASSERT_OK(zb_writer_open(node, NULL, &writer, &err), err);
    ASSERT_OK(zb_writer_write(writer, &write, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    ASSERT_OK(zb_array_resize(node, less, &smaller, &err), err);
    ASSERT_OK(zb_array_resize(smaller, more, &larger, &err), err);
    zb_slice back[8];
    zb_values *values;
    ASSERT_OK(zb_values_new(&values, &err), err);
    zb_read read = {.node = larger, .view = {back, text_type, NULL, values}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    for (int i = 0; i < 8; i++) {
        const zb_slice *expected = i < 3 ? &slices[i] : &fill;
        assert_int_equal(back[i].size, expected->size);
        assert_memory_equal(back[i].data, expected->data, back[i].size);
    }
    zb_values_free(values);
    const zb_slice nul = {"a\0b", 3};
    spec.fill_value = &nul;
    zb_node *none;
    ASSERT_FAILS(zb_array_create(hierarchy, "b", &spec, &none, &err), ZB_EINVAL, err, "has a NUL");
    /* A program that has no use for strings is told so. */
    zb_node *refused;
    zb_hierarchy_set_kinds(hierarchy, ZB_PLAIN_KINDS);
    ASSERT_FAILS(zb_node_open(hierarchy, "a", &refused, &err), ZB_EUNSUPPORTED, err,
                 "data_type \"string\" is not supported here");
    zb_node_release(node);
    zb_node_release(smaller);
    zb_node_release(larger);
    zb_hierarchy_release(hierarchy);
}

/* Writes a part, flushes, and reads it, with an error when memory runs out anywhere. */
static enum zb_code write_and_read(world *w, zb_error *err) {
    static const uint64_t start[] = {3, 3}, count[] = {7, 9}, one[] = {1, 1};
    zb_writer *writer;
    enum zb_code code = zb_writer_open(w->node, NULL, &writer, err);
    if (code)
        return code;
    code = write_box(w, writer, start, count, one, 77, err);
    if (!code)
        code = zb_writer_flush(writer, err);
    zb_writer_abandon(writer);
    return code ? code : read_box(w, start, count, one, err);
}

/* Each allocation fails once. With the thread sanitizer, which takes long over large blocks and
   learns nothing from one thread, each thirteenth. */
#ifdef __SANITIZE_THREAD__
enum { STEP = 13 };
#else
enum { STEP = 1 };
#endif

static void memory_runs_out(void **state) {
    (void)state;
    for (int k = 0; k < DOCUMENTS; k++) {
        world w = open_world(documents[k]);
        zb_error err;
        size_t places = 0;
        for (;; places += STEP) {
            zb_cache_clear();
            starve_begin(places);
            enum zb_code code = write_and_read(&w, &err);
            if (starve_end() == 0) {
                assert_int_equal(code, ZB_OK);
                break;
            }
            if (code != ZB_OK && code != ZB_ENOMEM)
                fail_msg("allocation %zu: %s %s", places, zb_code_name(code), err.message);
        }
        assert_true(places > 20);
        close_world(&w);
    }
}

int main(void) {
    setenv("ZARRBRIDGE_THREADS", "1", 1); /* support/starve.h counts without a lock */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_boxes),
        cmocka_unit_test(points_and_refusals),
        cmocka_unit_test(created_resized_and_verified),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
