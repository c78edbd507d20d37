/* SPDX-License-Identifier: MIT */
/* Forms by shape: shared while they are asked for, right for every shape, refused one by one. */
#include "bind.h"

#include <pthread.h>

#define LITTLE "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
#define SHARDS(inner)                                                                              \
    "[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}},"                               \
    "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":" inner                     \
    ",\"codecs\":[" LITTLE "],\"index_codecs\":[" LITTLE ",\"crc32c\"]}}]"

static zb__pipeline *new_pipeline(const char *codecs) {
    zb_error err;
    zb__pipeline *pipeline;
    ASSERT_OK(bind_pipeline(codecs, int16_type, 2, &pipeline, &err), err);
    return pipeline;
}

static const zb__chunk_layout *layout_of(const zb__pipeline *pipeline, uint64_t rows,
                                         uint64_t columns) {
    zb_error err;
    const zb__chunk_layout *layout;
    const uint64_t shape[] = {rows, columns};
    ASSERT_OK(zb__pipeline_layout(pipeline, shape, &layout, &err), err);
    return layout;
}

static void equal_shapes_share_one(void **state) {
    (void)state;
    zb__pipeline *pipeline = new_pipeline(SHARDS("[2,3]"));
    const zb__chunk_layout *a = layout_of(pipeline, 6, 4), *b = layout_of(pipeline, 3, 8),
                           *c = layout_of(pipeline, 6, 4);
    assert_ptr_equal(a, c);
    assert_ptr_not_equal(a, b);
    assert_int_equal(b->stored_shape[0], 8);
    assert_int_equal(b->shard->grid[0], 4);
    assert_int_equal(b->shard->grid[1], 1);
    assert_ptr_equal(a->shard->inner, b->shard->inner); /* for any shape of the shard */
    assert_ptr_equal(a->shard->index->pipeline, b->shard->index->pipeline);
    assert_ptr_not_equal(a->shard->index, b->shard->index); /* grids 2 x 2 and 4 x 1 */
    zb__chunk_layout_release(a);
    zb__chunk_layout_release(b);
    assert_ptr_equal(layout_of(pipeline, 6, 4), c); /* kept by the pipeline */
    zb__chunk_layout_release(c);
    zb__chunk_layout_release(c);
    zb__pipeline_free(pipeline);
}

/* More shapes than the pipeline keeps, each layout in use all the time. */
static void many_shapes(void **state) {
    (void)state;
    enum { SHAPES = 300 };
    const zb__chunk_layout *layouts[SHAPES];
    zb__pipeline *pipeline = new_pipeline(SHARDS("[2,3]"));
    for (uint64_t i = 0; i < SHAPES; i++)
        layouts[i] = layout_of(pipeline, 3 * (i + 1), 4);
    for (uint64_t round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < SHAPES; i++) {
            assert_int_equal(layouts[i]->stored_shape[1], 3 * (i + 1));
            assert_int_equal(layouts[i]->decoded_size, 3 * (i + 1) * 4 * 2);
            assert_int_equal(layouts[i]->shard->count, 2 * (i + 1));
            assert_int_equal(layouts[i]->shard->index_size, 16 * 2 * (i + 1) + 4);
            const zb__chunk_layout *again = layout_of(pipeline, 3 * (i + 1), 4);
            assert_int_equal(again->shard->count, 2 * (i + 1));
            zb__chunk_layout_release(again);
        }
    }
    const zb__chunk_layout *last = layout_of(pipeline, 3 * SHAPES, 4);
    assert_ptr_equal(layout_of(pipeline, 3 * SHAPES, 4), last);
    zb__chunk_layout_release(last);
    zb__chunk_layout_release(last);
    for (uint64_t i = 0; i < SHAPES; i++)
        zb__chunk_layout_release(layouts[i]);
    zb__pipeline_free(pipeline);
}

/* Where inner chunks do not divide the shard, those at its ends have the rest. */
static void the_last_inner_chunks_are_cut(void **state) {
    (void)state;
    static const struct {
        uint64_t shape[2], inner;
        uint64_t count, stored[2]; /* of the pipeline that is transposed: [2,3] of [5,8] */
    } rows[] = {
        {{8, 5}, 0, 9, {2, 3}}, {{8, 5}, 2, 9, {2, 2}}, {{8, 5}, 6, 9, {1, 3}},
        {{8, 5}, 8, 9, {1, 2}}, {{6, 4}, 3, 4, {2, 3}}, {{6, 5}, 4, 6, {1, 3}},
        {{7, 4}, 5, 6, {2, 1}}, {{2, 1}, 0, 1, {1, 2}}, {{3, 1}, 0, 1, {1, 3}},
    };
    zb__pipeline *pipeline = new_pipeline(SHARDS("[2,3]"));
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        const zb__chunk_layout *layout =
                                   layout_of(pipeline, rows[i / 2].shape[0], rows[i / 2].shape[1]),
                               *inner;
        zb_error err;
        assert_int_equal(layout->shard->count, rows[i / 2].count);
        ASSERT_OK(zb__shard_inner(layout->shard, rows[i / 2].inner, &inner, &err), err);
        assert_memory_equal(inner->stored_shape, rows[i / 2].stored, sizeof rows[i / 2].stored);
        zb__chunk_layout_release(layout);
    }
    zb__pipeline_free(pipeline);
}

/* At most ZB__CUT_MAX dimensions have a rest: each doubles the shapes. */
static void few_dimensions_are_cut(void **state) {
    (void)state;
    static const char codecs[] =
        "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2,2,2,2,2,2,2,2,2],"
        "\"codecs\":[\"bytes\"],\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{"
        "\"endian\":\"little\"}}]}}]";
    uint64_t shape[9] = {3, 3, 3, 3, 3, 3, 3, 3, 2};
    zb_json *json;
    zb_error err;
    zb__pipeline *pipeline;
    const zb__chunk_layout *layout, *inner;
    ASSERT_OK(zb_json_parse(codecs, strlen(codecs), &json, &err), err);
    const zb__binding binding = {.ndim = 9, .dtype = {.kind = ZB_KIND_UINT, .size = 1}};
    ASSERT_OK(zb__pipeline_bind(json, &binding, &pipeline, &err), err);
    zb_json_free(json);
    ASSERT_OK(zb__pipeline_layout(pipeline, shape, &layout, &err), err);
    ASSERT_OK(zb__shard_inner(layout->shard, layout->shard->count - 1, &inner, &err), err);
    assert_int_equal(inner->decoded_size, 2);
    zb__chunk_layout_release(layout);
    shape[8] = 3;
    ASSERT_FAILS(zb__pipeline_layout(pipeline, shape, &layout, &err), ZB_EUNSUPPORTED, err,
                 "at most 8");
    zb__pipeline_free(pipeline);
}

/* A shape that does not go with the codecs says so; the pipeline is as good as before. */
static void shapes_are_refused_one_by_one(void **state) {
    (void)state;
    static const struct {
        uint64_t shape[2];
        enum zb_code code;
        const char *text;
    } cases[] = {
        {{(uint64_t)3 << 40, (uint64_t)2 << 40}, ZB_ELIMIT, "2^64 bytes or more"},
        {{(uint64_t)3 << 20, (uint64_t)2 << 10}, ZB_ELIMIT, "index_bytes"},
    };
    zb__pipeline *pipeline = new_pipeline(SHARDS("[2,3]"));
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        zb_error err;
        const zb__chunk_layout *layout;
        ASSERT_FAILS(zb__pipeline_layout(pipeline, cases[i / 2].shape, &layout, &err),
                     cases[i / 2].code, err, cases[i / 2].text);
        layout = layout_of(pipeline, 6, 4);
        assert_int_equal(layout->shard->count, 4);
        zb__chunk_layout_release(layout);
    }
    zb__pipeline_free(pipeline);

    pipeline = new_pipeline("[" LITTLE "]");
    zb_error err;
    const zb__chunk_layout *layout;
    const uint64_t large[] = {1 << 20, 1 << 20};
    ASSERT_FAILS(zb__pipeline_layout(pipeline, large, &layout, &err), ZB_ELIMIT, err,
                 "chunk_shape: a chunk has 2199023255552 bytes, more than the limit chunk_bytes");
    zb__pipeline_free(pipeline);
}

static void *ask(void *argument) {
    const zb__pipeline *pipeline = argument;
    size_t wrong = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t n = 1 + i * 7919 % 50;
        const uint64_t shape[] = {3 * n, 4};
        const zb__chunk_layout *layout;
        if (zb__pipeline_layout(pipeline, shape, &layout, NULL)) {
            wrong++;
            continue;
        }
        wrong += layout->shard->count != 2 * n || layout->shard->inner->decoded_size != 12;
        zb__chunk_layout_release(layout);
    }
    return (void *)wrong;
}

static void from_many_threads(void **state) {
    (void)state;
    pthread_t threads[4];
    zb__pipeline *pipeline = new_pipeline(SHARDS("[2,3]"));
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, pipeline), 0);
    for (size_t i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    zb__pipeline_free(pipeline);
}

/* Parameters that only encoding needs may differ; the shape is not a part of a pipeline. */
static void chains_that_decode_alike(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"[" LITTLE ",{\"name\":\"zstd\",\"configuration\":{\"level\":1}}]",
         "[\"bytes\",{\"name\":\"zstd\",\"configuration\":{\"level\":9,\"checksum\":true}}]", true},
        {"[" LITTLE ",\"zstd\"]", "[" LITTLE ",\"gzip\"]", false},
        {"[" LITTLE ",\"zstd\"]", "[" LITTLE ",\"zstd\",\"crc32c\"]", false},
        {"[" LITTLE "]", "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}]", false},
        {"[{\"name\":\"transpose\",\"configuration\":{\"order\":\"F\"}}," LITTLE "]",
         "[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}," LITTLE "]", true},
        {"[{\"name\":\"transpose\",\"configuration\":{\"order\":\"F\"}}," LITTLE "]",
         "[" LITTLE "]", false},
        {SHARDS("[2,3]"), SHARDS("[2,3]"), true},
        {SHARDS("[2,3]"), SHARDS("[2,1]"), false},
        {SHARDS("[2,3]"), "[" LITTLE "]", false},
        {SHARDS("[2,3]"), SHARDS("[2,3],\"index_location\":\"start\""), false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zb__pipeline *a = new_pipeline(cases[i].a), *b = new_pipeline(cases[i].b);
        assert_int_equal(zb__pipeline_same(a, b), cases[i].same);
        assert_int_equal(zb__pipeline_same(b, a), cases[i].same);
        assert_true(zb__pipeline_same(a, a));
        zb__pipeline_free(a);
        zb__pipeline_free(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_shapes_share_one),        cmocka_unit_test(many_shapes),
        cmocka_unit_test(the_last_inner_chunks_are_cut), cmocka_unit_test(few_dimensions_are_cut),
        cmocka_unit_test(shapes_are_refused_one_by_one), cmocka_unit_test(from_many_threads),
        cmocka_unit_test(chains_that_decode_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
