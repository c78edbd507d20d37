/* SPDX-License-Identifier: MIT */
/*
 * Arrays with chunks of several extents are created as the registered document says, grow by one
 * chunk, and shrink without a change of their grid; what other programs left beyond the edge does
 * not come back, and old handles know the chunks that they share with the new array.
 */
#include "change/reshape.h"

#include "support/store.h"
#include "zarrbridge/check.h"
#include "zarrbridge/read.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

static const zb_chunk_run thirds[] = {{3, 2}, {4, 1}};
static const zb_chunk_run halves[] = {{10, 1}, {10, 1}};

/* int16 [10,20], fill 7, uncompressed. */
static zb_node *create(zb_hierarchy *hierarchy, const zb_chunk_runs *runs, const uint64_t *shard) {
    static const uint64_t inner[] = {2, 5};
    zb_array_spec spec = store_spec;
    zb_error err;
    zb_node *node = NULL;
    spec.chunk_runs = runs;
    spec.shard_shape = shard;
    if (shard)
        spec.inner_shape = inner;
    ASSERT_OK(zb_array_create(hierarchy, "a", &spec, &node, &err), err);
    return node;
}

static void expect_grid(zb_hierarchy *hierarchy, const char *expected) {
    zb_node *node = NULL;
    zb_error err;
    ASSERT_OK(zb_node_open(hierarchy, "a", &node, &err), err);
    char *text = zb_json_print(zb_json_get(zb_node_document(node), "chunk_grid"));
    assert_string_equal(text, expected);
    free(text);
    zb_node_release(node);
}

#define UNEVEN(shapes)                                                                             \
    "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":\"inline\",\"chunk_shapes\":" shapes "}}"

static void documents_are_as_registered(void **state) {
    (void)state;
    static const zb_chunk_run far[] = {{4, 1}, {1, 1000000000}}, shards[] = {{4, 1}, {6, 1}};
    static const uint64_t shard[] = {99, 5}; /* 99 is not used */
    const struct {
        zb_chunk_runs runs[2];
        const uint64_t *shard;
        const char *grid;
    } rows[] = {
        {{{thirds, 2}, {NULL, 0}}, NULL, UNEVEN("[[[3,2],4],5]")},
        {{{thirds, 2}, {halves, 2}}, NULL, UNEVEN("[[[3,2],4],[[10,2]]]")},
        {{{far, 2}, {NULL, 0}}, NULL, UNEVEN("[[4,[1,1000000000]],5]")},
        {{{shards, 2}, {NULL, 0}}, shard, UNEVEN("[[4,6],5]")},
        {{{NULL, 0}, {NULL, 0}},
         NULL,
         "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[4,5]}}"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        zb_hierarchy *hierarchy = store_new();
        zb_node_release(create(hierarchy, rows[i].runs, rows[i].shard));
        expect_grid(hierarchy, rows[i].grid);
        zb_hierarchy_release(hierarchy);
    }
}

static void specifications_are_checked(void **state) {
    (void)state;
    static const zb_chunk_run nothing[] = {{0, 1}}, never[] = {{10, 0}}, short_[] = {{3, 3}};
    static const zb_chunk_run wide[] = {{INT64_MAX, 2}};
    static const struct {
        zb_chunk_runs rows;
        enum zb_code code;
        const char *message;
    } cases[] = {
        {{nothing, 1}, ZB_EINVAL, "chunk_runs[0]: an extent or a count is 0"},
        {{never, 1}, ZB_EINVAL, "chunk_runs[0]: an extent or a count is 0"},
        {{short_, 1}, ZB_EINVAL, "chunk_shapes[0]: the chunks have 9 elements, expected at least"},
        {{wide, 1}, ZB_ELIMIT, "chunk_runs[0]: the extents of the chunks sum up to 2^63 or more"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        zb_hierarchy *hierarchy = store_new();
        const zb_chunk_runs runs[2] = {cases[i].rows, {NULL, 0}};
        zb_array_spec spec = store_spec;
        zb_node *node = NULL;
        zb_error err;
        spec.chunk_runs = runs;
        ASSERT_FAILS(zb_array_create(hierarchy, "a", &spec, &node, &err), cases[i].code, err,
                     cases[i].message);
        store_expect(hierarchy, "a/zarr.json", NULL);
        zb_hierarchy_release(hierarchy);
    }
}

/* ---- Resizing ----------------------------------------------------------------------------- */

/* All elements within rows x columns are `inside`, the others the fill value. */
static void expect(const zb_node *node, uint64_t rows, uint64_t columns, int16_t inside) {
    const uint64_t *shape = zb_node_array(node)->shape;
    int16_t *data = malloc(shape[0] * shape[1] * sizeof *data + 1);
    zb_error err;
    zb_read read = {.node = node, .view = {.data = data, .dtype = zb_node_array(node)->dtype}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    for (uint64_t i = 0; i < shape[0] * shape[1]; i++) {
        bool is_inside = i / shape[1] < rows && i % shape[1] < columns;
        if (data[i] != (is_inside ? inside : 7))
            fail_msg("element %d, %d is %d", (int)(i / shape[1]), (int)(i % shape[1]), data[i]);
    }
    free(data);
}

static int count_finding(void *context, const zb_finding *finding) {
    fprintf(stderr, "%s\n", finding->message);
    ++*(int *)context;
    return 0;
}

static void growing_adds_a_chunk(void **state) {
    (void)state;
    static const zb_chunk_run three[] = {{3, 1}, {7, 1}};
    zb_hierarchy *hierarchy = store_new();
    zb_node *node = create(hierarchy, (const zb_chunk_runs[]){{three, 2}, {NULL, 0}}, NULL);
    store_write_all(node, 1);
    node = store_resize(node, 15, 20);
    expect_grid(hierarchy, UNEVEN("[[3,7,5],5]"));
    expect(node, 10, 20, 1);
    node = store_resize(node, 15, 33); /* a dimension of one extent needs no more chunks */
    expect_grid(hierarchy, UNEVEN("[[3,7,5],5]"));
    expect(node, 10, 20, 1);
    store_write_all(node, 2);
    node = store_resize(node, 4, 33); /* the grid stays, and has room to grow */
    expect_grid(hierarchy, UNEVEN("[[3,7,5],5]"));
    expect(node, 4, 33, 2);
    node = store_resize(node, 15, 20);
    expect_grid(hierarchy, UNEVEN("[[3,7,5],5]"));
    expect(node, 4, 20, 2);
    node = store_resize(node, 0, 20);
    node = store_resize(node, 20, 20);
    expect_grid(hierarchy, UNEVEN("[[3,7,[5,2]],5]"));
    expect(node, 0, 0, 0);
    store_write_all(node, 4);
    zb_verify_summary summary;
    zb_error err;
    int findings = 0;
    ASSERT_OK(zb_hierarchy_verify(hierarchy, count_finding, &findings, &summary, &err), err);
    assert_int_equal(findings, 0);
    assert_int_equal(summary.objects, 4 * 4);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

/* The chunk that is added holds whole inner chunks, and therefore reaches over the edge. */
static void shards_stay_divided(void **state) {
    (void)state;
    static const zb_chunk_run rows[] = {{4, 1}, {6, 1}}, columns[] = {{15, 1}, {5, 1}};
    zb_hierarchy *hierarchy = store_new();
    zb_node *node = create(hierarchy, (const zb_chunk_runs[]){{rows, 2}, {columns, 2}},
                           (const uint64_t[]){4, 5});
    store_write_all(node, 1);
    node = store_resize(node, 13, 21);
    expect_grid(hierarchy, UNEVEN("[[4,6,4],[15,[5,2]]]"));
    expect(node, 10, 20, 1);
    node = store_resize(node, 14, 25);
    expect_grid(hierarchy, UNEVEN("[[4,6,4],[15,[5,2]]]"));
    expect(node, 10, 20, 1);
    store_write_all(node, 3);
    expect(node, 14, 25, 3);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

/* Another program shrank the array and left the elements; or it wrote chunks of an index that the
   grid did not have. */
static void what_others_left_is_cleared(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    zb_node *node = create(hierarchy, (const zb_chunk_runs[]){{thirds, 2}, {NULL, 0}}, NULL);
    store_write_all(node, 1);
    char *text = store_text(hierarchy, "a/zarr.json"), *shape = strstr(text, "[10, 20]");
    assert_non_null(shape);
    memcpy(shape, "[ 7, 20]", 8);
    store_set(hierarchy, "a/zarr.json", text);
    free(text);
    store_set(hierarchy, "a/c/3/0", "garbage");
    zb_node_release(node);
    zb_error err;
    ASSERT_OK(zb_node_open(hierarchy, "a", &node, &err), err);
    node = store_resize(node, 12, 20);
    expect_grid(hierarchy, UNEVEN("[[[3,2],4,2],5]"));
    expect(node, 7, 20, 1);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

/* A handle from before goes on reading its part, and may write the chunks that did not change. */
static void old_handles_go_on(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    zb_node *old = create(hierarchy, (const zb_chunk_runs[]){{thirds, 2}, {NULL, 0}}, NULL), *node;
    zb_error err;
    ASSERT_OK(zb_array_resize(old, (const uint64_t[]){14, 20}, &node, &err), err);
    store_write_all(node, 5);
    expect(old, 10, 20, 5);
    store_write_all(old, 6);
    expect(old, 10, 20, 6);
    zb_read last = {.node = node,
                    .start = (const uint64_t[]){13, 19},
                    .count = (const uint64_t[]){1, 1},
                    .view = {.data = &(int16_t){0}, .dtype = zb_node_array(node)->dtype}};
    ASSERT_OK(zb_array_read(&last, 1, &err), err);
    assert_int_equal(*(int16_t *)last.view.data, 5);
    zb_node_release(old);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

static void drafts_are_not_resized(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    store_set(hierarchy, "a/zarr.json",
              "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[10],\"data_type\":\"int16\","
              "\"chunk_grid\":{\"name\":\"rectangular\",\"configuration\":{\"chunk_shape\":[[4,6]]"
              "}},\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":7,"
              "\"codecs\":[\"bytes\"]}");
    zb_node *node = NULL, *out = NULL;
    zb_error err;
    ASSERT_OK(zb_node_open(hierarchy, "a", &node, &err), err);
    for (uint64_t rows = 5; rows < 20; rows += 10)
        ASSERT_FAILS(zb_array_resize(node, &rows, &out, &err), ZB_EUNSUPPORTED, err,
                     "the draft chunk_grid \"rectangular\" cannot be resized");
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

static void a_chunk_too_large_is_refused(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    zb_node *node = create(hierarchy, (const zb_chunk_runs[]){{thirds, 2}, {NULL, 0}}, NULL), *out;
    zb_error err;
    ASSERT_FAILS(zb_array_resize(node, (const uint64_t[]){1ull << 40, 20}, &out, &err), ZB_ELIMIT,
                 err, "chunk_bytes");
    expect_grid(hierarchy, UNEVEN("[[[3,2],4],5]"));
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_are_as_registered),
        cmocka_unit_test(specifications_are_checked),
        cmocka_unit_test(growing_adds_a_chunk),
        cmocka_unit_test(shards_stay_divided),
        cmocka_unit_test(what_others_left_is_cleared),
        cmocka_unit_test(old_handles_go_on),
        cmocka_unit_test(drafts_are_not_resized),
        cmocka_unit_test(a_chunk_too_large_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
