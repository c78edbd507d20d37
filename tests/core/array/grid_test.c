/* SPDX-License-Identifier: MIT */
/* Grids: every element is in the cell that counting along the dimension says, and numbers at and
   beyond the limits neither overflow nor pass for a cell. */
#include "array/grid.h"

#include "support/check.h"
#include "support/sample.h"

#define LARGEST ((uint64_t)INT64_MAX)

/* ---- The grid itself ---- */

/* Goes from element to element and counts cells, as a ruler would. */
static void cells_are_as_counted(void **state) {
    (void)state;
    check_random random = check_random_new();
    for (int round = 0; round < 500; round++) {
        uint64_t extent[2] = {check_random_in(&random, 1, 9), check_random_in(&random, 1, 9)};
        uint64_t shape = check_random_in(&random, 0, 60), index = 0, start = 0;
        uint32_t d = (uint32_t)round % 2;
        zb__grid grid = zb__grid_of(2, extent);
        assert_int_equal(zb__grid_largest(&grid, d), extent[d]);
        for (uint64_t at = 0; at < shape; at++) {
            if (at == start + extent[d]) {
                index++;
                start = at;
            }
            zb__span found = zb__grid_find(&grid, d, at), named = zb__grid_at(&grid, d, index);
            uint64_t inside = shape - start < extent[d] ? shape - start : extent[d];
            assert_int_equal(found.index, index);
            assert_int_equal(found.start, start);
            assert_int_equal(found.extent, extent[d]);
            assert_memory_equal(&found, &named, sizeof found);
            assert_int_equal(zb__span_inside(found, shape), inside);
            assert_int_equal(zb__grid_inside(&grid, d, index, shape), inside);
            assert_int_equal(zb__grid_inside(&grid, d, index, start), 0);
        }
        assert_int_equal(zb__grid_count(&grid, d, shape), shape ? index + 1 : 0);
        assert_int_equal(zb__grid_pad(&grid, d, shape), shape ? start + extent[d] : 0);
        assert_int_equal(zb__grid_inside(&grid, d, index + 1, shape), 0);
    }
}

/* There are no cells that begin at 2^63 or later. */
static void no_cell_begins_beyond_the_limit(void **state) {
    (void)state;
    static const struct {
        uint64_t extent, index, start; /* start UINT64_MAX: there is no such cell */
    } rows[] = {
        {1, LARGEST, LARGEST},
        {1, LARGEST + 1, UINT64_MAX},
        {1, UINT64_MAX, UINT64_MAX},
        {2, LARGEST / 2, LARGEST - 1},
        {2, LARGEST / 2 + 1, UINT64_MAX},
        {(uint64_t)1 << 62, 1, (uint64_t)1 << 62},
        {(uint64_t)1 << 62, 2, UINT64_MAX},
        {(uint64_t)1 << 62, 4, UINT64_MAX}, /* wraps to 0 */
        {(uint64_t)1 << 62, 5, UINT64_MAX}, /* wraps to 2^62 */
        {LARGEST, 1, LARGEST},
        {LARGEST, 2, UINT64_MAX},
        {LARGEST, UINT64_MAX, UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb__grid grid = zb__grid_of(1, &rows[i].extent);
        zb__span span = zb__grid_at(&grid, 0, rows[i].index);
        bool there = rows[i].start != UINT64_MAX;
        assert_int_equal(span.index, rows[i].index);
        assert_int_equal(span.start, rows[i].start);
        assert_int_equal(span.extent, there ? rows[i].extent : 0);
        assert_int_equal(
            zb__span_inside(span, LARGEST),
            there ? LARGEST - span.start < span.extent ? LARGEST - span.start : span.extent : 0);
    }
}

/* Extents come from notes of other processes, too, and may be any number. */
static void counts_and_ends_of_any_extent(void **state) {
    (void)state;
    static const struct {
        uint64_t extent, shape, count, padded;
    } rows[] = {
        {3, 0, 0, 0},
        {1, (uint64_t)1 << 62, (uint64_t)1 << 62, (uint64_t)1 << 62},
        {3, 1, 1, 3},
        {3, 3, 1, 3},
        {3, 4, 2, 6},
        {1, LARGEST, LARGEST, LARGEST},
        {2, LARGEST, (LARGEST >> 1) + 1, LARGEST}, /* its end would be 2^63 */
        {7, LARGEST, LARGEST / 7, LARGEST},        /* 7 divides 2^63-1 */
        {LARGEST, 1, 1, LARGEST},
        {LARGEST, LARGEST, 1, LARGEST},
        {1, UINT64_MAX, UINT64_MAX, UINT64_MAX},
        {LARGEST, UINT64_MAX, 3, UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb__grid grid = zb__grid_of(1, &rows[i].extent);
        assert_int_equal(zb__grid_count(&grid, 0, rows[i].shape), rows[i].count);
        assert_int_equal(zb__grid_pad(&grid, 0, rows[i].shape), rows[i].padded);
    }
}

static void grids_are_compared(void **state) {
    (void)state;
    const uint64_t one[3] = {4, 5, 6}, other[3] = {4, 5, 7};
    zb__grid a = zb__grid_of(2, one), b = zb__grid_of(2, other), c = zb__grid_of(3, one);
    zb__grid d = zb__grid_of(3, other), nothing = zb__grid_of(0, one);
    assert_true(zb__grid_same(&a, &b));
    assert_false(zb__grid_same(&a, &c));
    assert_false(zb__grid_same(&c, &d));
    assert_true(zb__grid_same(&nothing, &nothing));
}

/* ---- The public calls ---- */

#define GRID(shape) "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":" shape "}}"

static void chunks_of_an_array(void **state) {
    (void)state;
    zb_node *node = sample_uint8("[10,0,4]", GRID("[4,5,8]"));
    for (int level = ZB_GRID_CHUNKS; level <= ZB_GRID_INNER; level++) { /* not sharded: the same */
        assert_int_equal(zb_array_chunk_count(node, level, 0), 3);
        assert_int_equal(zb_array_chunk_count(node, level, 1), 0);
        assert_int_equal(zb_array_chunk_count(node, level, 2), 1);
        sample_expect_span(zb_array_chunk_at(node, level, 0, 0), 0, 0, 4, 4);
        sample_expect_span(zb_array_chunk_at(node, level, 0, 2), 2, 8, 4, 2); /* cut by the edge */
        sample_expect_span(zb_array_chunk_at(node, level, 0, 3), 3, 12, 4, 0);
        sample_expect_span(zb_array_chunk_at(node, level, 1, 0), 0, 0, 5, 0);
        sample_expect_span(zb_array_chunk_at(node, level, 2, 0), 0, 0, 8,
                           4); /* larger than the array */
        sample_expect_span(zb_array_chunk_at(node, level, 0, UINT64_MAX), UINT64_MAX, UINT64_MAX, 0,
                           0);
        sample_expect_span(zb_array_chunk_of(node, level, 0, 7), 1, 4, 4, 4);
        sample_expect_span(zb_array_chunk_of(node, level, 0, 9), 2, 8, 4, 2);
        sample_expect_span(zb_array_chunk_of(node, level, 0, 11), 2, 8, 4,
                           2); /* outside, in its chunk */
        sample_expect_span(zb_array_chunk_of(node, level, 0, 12), 3, 12, 4, 0);
        sample_expect_span(zb_array_chunk_of(node, level, 1, 0), 0, 0, 5, 0);
        sample_expect_span(zb_array_chunk_of(node, level, 0, LARGEST + 1), 0, UINT64_MAX, 0, 0);
        sample_expect_span(zb_array_chunk_of(node, level, 0, UINT64_MAX), 0, UINT64_MAX, 0, 0);
        /* There is no such dimension. */
        assert_int_equal(zb_array_chunk_count(node, level, 3), 0);
        sample_expect_span(zb_array_chunk_at(node, level, 3, 7), 7, 0, 0, 0);
        sample_expect_span(zb_array_chunk_of(node, level, UINT32_MAX, 7), 0, 0, 0, 0);
    }
    zb_node_release(node);
}

static void chunks_of_the_largest_array(void **state) {
    (void)state;
    zb_node *node = sample_uint8("[9223372036854775807]", GRID("[4096]"));
    uint64_t last = LARGEST / 4096;
    assert_int_equal(zb_array_chunk_count(node, ZB_GRID_CHUNKS, 0), last + 1);
    sample_expect_span(zb_array_chunk_at(node, ZB_GRID_CHUNKS, 0, last), last, LARGEST - 4095, 4096,
                       4095);
    sample_expect_span(zb_array_chunk_of(node, ZB_GRID_CHUNKS, 0, LARGEST), last, LARGEST - 4095,
                       4096, 4095);
    sample_expect_span(zb_array_chunk_at(node, ZB_GRID_CHUNKS, 0, last + 1), last + 1, UINT64_MAX,
                       0, 0);
    zb_node_release(node);
}

static void no_dimensions_and_groups(void **state) {
    (void)state;
    zb_node *node = sample_uint8("[]", GRID("[]"));
    assert_int_equal(zb_array_chunk_count(node, ZB_GRID_CHUNKS, 0), 0);
    sample_expect_span(zb_array_chunk_at(node, ZB_GRID_CHUNKS, 0, 0), 0, 0, 0, 0);
    zb_node_release(node);
    char *text = sample_group("attributes", "{}");
    node = sample_node(text);
    free(text);
    assert_int_equal(zb_array_chunk_count(node, ZB_GRID_INNER, 0), 0);
    sample_expect_span(zb_array_chunk_at(node, ZB_GRID_INNER, 0, 1), 1, 0, 0, 0);
    sample_expect_span(zb_array_chunk_of(node, ZB_GRID_INNER, 0, 1), 0, 0, 0, 0);
    zb_node_release(node);
}

/* Shards in shards, with a transpose on the way: inner chunks are named in the array's order. */
static void inner_chunks_of_an_array(void **state) {
    (void)state;
#define SHARD(shape, codecs)                                                                       \
    "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":" shape                     \
    ",\"codecs\":[" codecs "],\"index_codecs\":[\"bytes\"]}}"
    static const char codecs[] =
        "[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}," SHARD(
            "[10,4]", SHARD("[5,2]", "\"bytes\"")) "]";
    char *text = sample_array("codecs", codecs), *wide = NULL;
    /* The sample's chunks are [4,5]: here shards of [8,20], chunks of [4,10] in them, of [2,5]. */
    char *grid = strstr(text, "[4,5]");
    assert_non_null(grid);
    assert_true(asprintf(&wide, "%.*s[8,20]%s", (int)(grid - text), text, grid + 5) > 0);
    zb_node *node = sample_node(wide);
    assert_int_equal(zb_array_chunk_count(node, ZB_GRID_CHUNKS, 0), 2);
    assert_int_equal(zb_array_chunk_count(node, ZB_GRID_INNER, 0), 5);
    assert_int_equal(zb_array_chunk_count(node, ZB_GRID_INNER, 1), 4);
    sample_expect_span(zb_array_chunk_of(node, ZB_GRID_CHUNKS, 0, 9), 1, 8, 8, 2);
    sample_expect_span(zb_array_chunk_of(node, ZB_GRID_INNER, 0, 9), 4, 8, 2, 2);
    sample_expect_span(zb_array_chunk_at(node, ZB_GRID_INNER, 1, 3), 3, 15, 5, 5);
    zb_node_release(node);
    free(wide);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_as_counted),
        cmocka_unit_test(no_cell_begins_beyond_the_limit),
        cmocka_unit_test(counts_and_ends_of_any_extent),
        cmocka_unit_test(grids_are_compared),
        cmocka_unit_test(chunks_of_an_array),
        cmocka_unit_test(chunks_of_the_largest_array),
        cmocka_unit_test(no_dimensions_and_groups),
        cmocka_unit_test(inner_chunks_of_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
