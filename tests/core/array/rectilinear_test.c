/* SPDX-License-Identifier: MIT */
/* Documents with chunks of several extents: each form of the lists, sums and limits, and what an
   array tells of its grid. */
#include "array/grid.h"

#include "array/array.h"
#include "node/node.h"
#include "support/check.h"
#include "support/sample.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/hierarchy.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))
#define GRID(shapes)                                                                               \
    "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":\"inline\",\"chunk_shapes\":" shapes "}}"
#define DRAFT(shapes) "{\"name\":\"rectangular\",\"configuration\":{\"chunk_shape\":" shapes "}}"

/* The sample's shape is [10,20]. */
static void lists_and_sums(void **state) {
    (void)state;
    static const sample_row rows[] = {
        {"chunk_grid", GRID("[4,5]"), ZB_OK, NULL},
        {"chunk_grid", GRID("[[4,6],5]"), ZB_OK, NULL},
        {"chunk_grid", GRID("[[4,[3,2]],[[1,20]]]"), ZB_OK, NULL},
        {"chunk_grid", GRID("[[4,600],[[5,1000000000]]]"), ZB_OK, NULL},
        {"chunk_grid", GRID("[[10,9000000000000000000],20]"), ZB_OK, NULL}, /* never addressed */
        {"chunk_grid", GRID("[[11,9000000000000000000],20]"), ZB_OK, NULL},
        {"chunk_grid", GRID("[[9,9000000000000000000],20]"), ZB_ELIMIT, "chunk_bytes"},
        {"chunk_grid", GRID("[[4,5],20]"), ZB_EFORMAT,
         "chunk_grid: chunk_shapes[0]: the chunks have 9 elements, expected at least the 10 of"},
        {"chunk_grid", GRID("[10,[[19,1]]]"), ZB_EFORMAT, "chunk_shapes[1]: the chunks have 19"},
        {"chunk_grid", GRID("[[],5]"), ZB_EFORMAT, "chunk_shapes[0]: the list is empty"},
        {"chunk_grid", GRID("[0,5]"), ZB_EFORMAT, "chunk_shapes[0] is 0, expected an integer"},
        {"chunk_grid", GRID("[-1,5]"), ZB_EFORMAT, "chunk_shapes[0] is -1"},
        {"chunk_grid", GRID("[4.0,5]"), ZB_EFORMAT, "chunk_shapes[0] is 4.0"},
        {"chunk_grid", GRID("[\"4\",5]"), ZB_EFORMAT, "chunk_shapes[0] is \"4\""},
        {"chunk_grid", GRID("[9223372036854775808,5]"), ZB_EFORMAT, "chunk_shapes[0] is 9223"},
        {"chunk_grid", GRID("[[10,0],5]"), ZB_EFORMAT, "chunk_shapes[0]: 0 is no extent"},
        {"chunk_grid", GRID("[[[10,0]],5]"), ZB_EFORMAT, "chunk_shapes[0]: [10,0] is no extent"},
        {"chunk_grid", GRID("[[[0,10]],5]"), ZB_EFORMAT, "chunk_shapes[0]: [0,10] is no extent"},
        {"chunk_grid", GRID("[[[10]],5]"), ZB_EFORMAT, "chunk_shapes[0]: [10] is no extent"},
        {"chunk_grid", GRID("[[[5,2,1]],5]"), ZB_EFORMAT, "chunk_shapes[0]: [5,2,1] is no extent"},
        {"chunk_grid", GRID("[[[[5,2],1]],5]"), ZB_EFORMAT, "chunk_shapes[0]: [[5,2],1] is no"},
        {"chunk_grid", GRID("[[[3037000500,3037000500]],5]"), ZB_ELIMIT,
         "chunk_shapes[0]: the extents of the chunks sum up to 2^63 or more"},
        {"chunk_grid", GRID("[[1,9223372036854775807],5]"), ZB_ELIMIT, "sum up to 2^63 or more"},
        {"chunk_grid", GRID("[[10]]"), ZB_EFORMAT, "chunk_shapes is [[10]], expected an integer"},
        {"chunk_grid", GRID("[10,20,30]"), ZB_EFORMAT, "for each of the 2 dimensions"},
        {"chunk_grid", GRID("10"), ZB_EFORMAT, "chunk_shapes is 10"},
        {"chunk_grid", "\"rectilinear\"", ZB_EFORMAT, "chunk_grid: kind is missing"},
        {"chunk_grid", "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":\"inline\"}}",
         ZB_EFORMAT, "chunk_shapes is missing"},
        {"chunk_grid",
         "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":1,\"chunk_shapes\":[4,5]}}",
         ZB_EFORMAT, "kind is 1, expected \"inline\""},
        {"chunk_grid",
         "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":\"file\",\"chunk_shapes\":[4,5]}}",
         ZB_EUNSUPPORTED, "kind is \"file\", expected \"inline\""},
        {"chunk_grid",
         "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":\"inline\",\"chunk_shapes\":[4,5],"
         "\"x\":1}}",
         ZB_EUNSUPPORTED, "unknown member \"x\""},
    };
    sample_check(sample_array, rows, COUNT(rows));
}

/* The draft has no runs, and its sums are exact. */
static void the_draft(void **state) {
    (void)state;
    static const sample_row rows[] = {
        {"chunk_grid", DRAFT("[[4,6],5]"), ZB_OK, NULL},
        {"chunk_grid", DRAFT("[4,[5,5,5,5]]"), ZB_OK, NULL},
        {"chunk_grid", DRAFT("[[4,7],5]"), ZB_EFORMAT,
         "chunk_shape[0]: the chunks have 11 elements, expected the 10 of the array"},
        {"chunk_grid", DRAFT("[[4,5],5]"), ZB_EFORMAT, "chunk_shape[0]: the chunks have 9"},
        {"chunk_grid", DRAFT("[[[5,2]],5]"), ZB_EFORMAT, "chunk_shape[0]: [5,2] is no extent"},
    };
    sample_check(sample_array, rows, COUNT(rows));
}

/* Its first form has a separator in the grid, and keys without one behind the c. */
static void the_draft_by_type(void **state) {
    (void)state;
    static const struct {
        const char *grid, *keys, *name, *message; /* name: of the chunk at 1; NULL: refused */
    } rows[] = {
        {"{\"type\":\"rectangular\",\"chunk_shape\":[[2,4]]}", "", "c1", NULL},
        {"{\"type\":\"rectangular\",\"chunk_shape\":[[2,4]],\"separator\":\".\"}", "", "c1", NULL},
        {"{\"type\":\"rectangular\",\"chunk_shape\":[[2,4]]}",
         "\"chunk_key_encoding\":\"default\",", "c/1", NULL},
        {"{\"type\":\"rectangular\",\"chunk_shape\":[[2,4]],\"separator\":\"/\"}",
         "\"chunk_key_encoding\":\"default\",", "c/1", NULL},
        {"{\"type\":\"rectangular\",\"chunk_shape\":[[2,4]],\"separator\":\".\"}",
         "\"chunk_key_encoding\":\"default\",", NULL,
         "chunk_grid: separator is \".\", chunk_key_encoding has \"/\""},
        {"{\"name\":\"rectangular\",\"configuration\":{\"chunk_shape\":[[2,4]],\"separator\":\"/"
         "\"}}",
         "\"chunk_key_encoding\":\"v2\",", NULL,
         "chunk_grid: separator is \"/\", chunk_key_encoding has \".\""},
        {"{\"type\":\"rectangular\",\"chunk_shape\":[[2,4]],\"separator\":\"-\"}", "", NULL,
         "chunk_grid: separator is \"-\", expected"},
        {"{\"type\":\"rectangular\",\"chunk_shape\":[[2,5]]}", "", NULL,
         "chunk_grid: chunk_shape[0]: the chunks have 7 elements, expected the 6"},
        {"{\"type\":\"rectangular\",\"chunk_shape\":[6],\"x\":1}", "", NULL,
         "unknown member \"x\""},
        {"{\"type\":\"irregular\",\"chunk_shape\":[6]}", "", NULL, "chunk_grid: name is missing"},
        {"{\"name\":\"rectangular\",\"configuration\":{\"chunk_shape\":[[2,4]]}}", "", NULL,
         "chunk_key_encoding is missing"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text = NULL;
        zb_hierarchy *hierarchy = NULL;
        zb_node *node = NULL;
        zb_error err = {.code = ZB_OK};
        uint8_t values[6] = {0};
        assert_true(asprintf(&text,
                             "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[6],"
                             "\"data_type\":\"uint8\",\"chunk_grid\":%s,%s\"fill_value\":9,"
                             "\"codecs\":[\"bytes\"]}",
                             rows[i].grid, rows[i].keys) > 0);
        ASSERT_OK(zb_hierarchy_new_mem("test", &hierarchy, &err), err);
        ASSERT_OK(
            zb_store_mem_set(zb_hierarchy_store(hierarchy), "zarr.json", text, strlen(text), &err),
            err);
        enum zb_code code = zb_node_open(hierarchy, "", &node, &err);
        if (!rows[i].name) {
            if (code == ZB_OK || !strstr(err.message, rows[i].message))
                fail_msg("row %zu: %s", i, err.message);
        } else {
            ASSERT_OK(code, err);
            ASSERT_OK(
                zb_store_mem_set(zb_hierarchy_store(hierarchy), rows[i].name, "\1\2\3\4", 4, &err),
                err);
            zb_read read = {.node = node,
                            .view = {.data = values, .dtype = {ZB_KIND_UINT, 1, false, NULL}}};
            ASSERT_OK(zb_array_read(&read, 1, &err), err);
            assert_memory_equal(values, "\11\11\1\2\3\4", 6);
            uint64_t bytes = 0;
            ASSERT_OK(zb_array_storage_size(node, &bytes, &err), err);
            assert_int_equal(bytes, 4);
        }
        zb_node_release(node);
        zb_hierarchy_release(hierarchy);
        free(text);
    }
}

/* The regular grid as ZEP 3 shows it beside its own. */
static void the_regular_grid_by_type(void **state) {
    (void)state;
    static const char *const names[] = {"c1", "c/1"};
    for (int has_keys = 0; has_keys < 2; has_keys++) {
        char text[400];
        zb_hierarchy *hierarchy;
        zb_node *node;
        zb_error err;
        uint8_t values[4];
        snprintf(text, sizeof text,
                 "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[4],\"data_type\":"
                 "\"uint8\",\"chunk_grid\":{\"type\":\"regular\",\"chunk_shape\":[2],"
                 "\"separator\":\"/\"},%s\"fill_value\":9,\"codecs\":[\"bytes\"]}",
                 has_keys ? "\"chunk_key_encoding\":\"default\"," : "");
        ASSERT_OK(zb_hierarchy_new_mem("test", &hierarchy, &err), err);
        ASSERT_OK(
            zb_store_mem_set(zb_hierarchy_store(hierarchy), "zarr.json", text, strlen(text), &err),
            err);
        ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(hierarchy), names[has_keys], "\1\2", 2, &err),
                  err);
        ASSERT_OK(zb_node_open(hierarchy, "", &node, &err), err);
        const zb_read read = {.node = node,
                              .view = {.data = values, .dtype = {ZB_KIND_UINT, 1, false, NULL}}};
        ASSERT_OK(zb_array_read(&read, 1, &err), err);
        assert_memory_equal(values, "\11\11\1\2", 4);
        zb_node_release(node);
        zb_hierarchy_release(hierarchy);
    }
}

#define SHARD(shape)                                                                               \
    "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":" shape                    \
    ",\"codecs\":[\"bytes\"],\"index_codecs\":[\"bytes\"]}}]"

/* Where a declared extent is no multiple of the inner chunk's, also behind the array's edge, the
   array is one that is only read. */
static void shards_are_divided(void **state) {
    (void)state;
    static const struct {
        const char *grid, *codecs;
        bool is_cut;
    } rows[] = {
        {GRID("[[4,8],[6,15]]"), SHARD("[2,3]"), false},
        {GRID("[[4,8],[6,15]]"), SHARD("[4,1]"), false},
        {GRID("[[4,8],[6,14]]"), SHARD("[2,3]"), true},
        {GRID("[[4,8,5],20]"), SHARD("[2,4]"), true},
        {GRID("[[5,8],20]"), SHARD("[2,4]"), true},
        {GRID("[[4,8],20]"), SHARD("[2,21]"), true},
        {GRID("[[6,8],[14,7]]"),
         "[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}},"
         "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[7,2],\"codecs\":["
         "\"bytes\"],\"index_codecs\":[\"bytes\"]}}]",
         false},
        {GRID("[[6,7],[14,6]]"),
         "[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}},"
         "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2,1],\"codecs\":["
         "\"bytes\"],\"index_codecs\":[\"bytes\"]}}]",
         false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text = sample_array("codecs", rows[i].codecs), *whole = NULL;
        const char *grid = strstr(text, "{\"name\":\"regular\"");
        assert_non_null(grid);
        const char *rest = strstr(grid, "}}") + 2;
        assert_true(asprintf(&whole, "%.*s%s%s", (int)(grid - text), text, rows[i].grid, rest) > 0);
        zb_node *node = NULL;
        zb_error err = {.code = ZB_OK};
        enum zb_code code = sample_open(whole, &node, &err);
        if (code || node->array->is_cut != rows[i].is_cut)
            fail_msg("row %zu: %s: %s", i, zb_code_name(code), err.message);
        assert_int_equal(node->array->inner_depth, !rows[i].is_cut);
        zb_node_release(node);
        free(text);
        free(whole);
    }
}

static void an_array_tells_its_grid(void **state) {
    (void)state;
    zb_node *node = sample_uint8("[10,7,5]", GRID("[[3,3,6,9],4,[[5,1000000000]]]"));
    for (int level = ZB_GRID_CHUNKS; level <= ZB_GRID_INNER; level++) {
        assert_int_equal(zb_array_chunk_count(node, level, 0), 3);
        assert_int_equal(zb_array_chunk_count(node, level, 1), 2);
        assert_int_equal(zb_array_chunk_count(node, level, 2), 1);
        sample_expect_span(zb_array_chunk_at(node, level, 0, 1), 1, 3, 3, 3);
        sample_expect_span(zb_array_chunk_at(node, level, 0, 2), 2, 6, 6, 4); /* cut */
        sample_expect_span(zb_array_chunk_at(node, level, 0, 3), 3, 12, 9, 0);
        sample_expect_span(zb_array_chunk_at(node, level, 0, 4), 4, UINT64_MAX, 0, 0);
        sample_expect_span(zb_array_chunk_of(node, level, 0, 5), 1, 3, 3, 3);
        sample_expect_span(zb_array_chunk_of(node, level, 0, 20), 3, 12, 9, 0);
        sample_expect_span(zb_array_chunk_of(node, level, 0, 21), 4, UINT64_MAX, 0, 0);
        sample_expect_span(zb_array_chunk_of(node, level, 1, 6), 1, 4, 4, 3);
        sample_expect_span(zb_array_chunk_at(node, level, 2, 999999999), 999999999, 4999999995, 5,
                           0);
    }
    const zb_array_info *info = zb_node_array(node);
    assert_int_equal(info->chunk_shape[0], 6); /* the one of 9 is not in the array */
    assert_int_equal(info->chunk_shape[1], 4);
    assert_int_equal(info->inner_shape[0], 6);
    assert_int_equal(zb_array_run_count(node, 0), 3);
    assert_int_equal(zb_array_run_count(node, 1), 0);
    assert_int_equal(zb_array_run_count(node, 2), 1);
    assert_int_equal(zb_array_run_count(node, 3), 0);
    static const zb_chunk_run runs[] = {{3, 2}, {6, 1}, {9, 1}, {0, 0}};
    for (size_t i = 0; i < COUNT(runs); i++) {
        zb_chunk_run run = zb_array_run_at(node, 0, i);
        assert_memory_equal(&run, &runs[i], sizeof run);
    }
    assert_int_equal(zb_array_run_at(node, 2, 0).count, 1000000000);
    zb_node_release(node);
}

static void no_dimensions_and_no_elements(void **state) {
    (void)state;
    zb_node *node = sample_uint8("[]", GRID("[]"));
    assert_int_equal(zb_array_run_count(node, 0), 0);
    zb_node_release(node);
    node = sample_uint8("[0,0,0]", GRID("[4,[5,6],[[7,3]]]"));
    static const uint64_t largest[] = {4, 5, 7};
    for (uint32_t d = 0; d < 3; d++) {
        assert_int_equal(zb_array_chunk_count(node, ZB_GRID_CHUNKS, d), 0);
        assert_int_equal(zb_node_array(node)->chunk_shape[d], largest[d]);
    }
    zb_node_release(node);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_and_sums),
        cmocka_unit_test(the_draft),
        cmocka_unit_test(the_draft_by_type),
        cmocka_unit_test(the_regular_grid_by_type),
        cmocka_unit_test(shards_are_divided),
        cmocka_unit_test(an_array_tells_its_grid),
        cmocka_unit_test(no_dimensions_and_no_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
