/* SPDX-License-Identifier: MIT */
/* Runs of cells: every element and every index leads to the cell that counting gives, runs of 10^9
   cells are one entry, and sums at the limit neither wrap nor pass. */
#include "array/grid.h"

#include "support/check.h"

#define LARGEST ((uint64_t)INT64_MAX)
#define MOST 40

static void cells_are_as_counted(void **state) {
    (void)state;
    check_random random = check_random_new();
    for (int round = 0; round < 300; round++) {
        uint64_t extent[MOST], start = 0;
        uint32_t cells = 0;
        zb__runs runs = {.count = 0};
        zb_error err;
        while (cells < MOST - 3) {
            uint64_t one = check_random_in(&random, 1, 4), n = check_random_in(&random, 1, 3);
            ASSERT_OK(zb__runs_add(&runs, one, n, &err), err);
            for (uint64_t i = 0; i < n; i++)
                extent[cells++] = one;
        }
        assert_int_equal(zb__runs_cells(&runs), cells);
        for (uint32_t i = 0; i < cells; start += extent[i++]) {
            zb__span at = zb__runs_at(&runs, i);
            assert_int_equal(at.index, i);
            assert_int_equal(at.start, start);
            assert_int_equal(at.extent, extent[i]);
            for (uint64_t element = start; element < start + extent[i]; element++) {
                zb__span found = zb__runs_find(&runs, element);
                assert_memory_equal(&found, &at, sizeof at);
            }
        }
        assert_int_equal(zb__runs_end(&runs), start);
        for (uint64_t behind = 0; behind < 3; behind++) {
            zb__span found = zb__runs_find(&runs, start + behind);
            zb__span at = zb__runs_at(&runs, cells + behind);
            assert_int_equal(found.index, cells);
            assert_int_equal(at.index, cells + behind);
            assert_int_equal(found.extent + at.extent, 0);
            assert_true(found.start == UINT64_MAX && at.start == UINT64_MAX);
        }
        for (size_t i = 1; i < runs.count; i++)
            assert_int_not_equal(runs.run[i].extent, runs.run[i - 1].extent);
        zb__runs_free(&runs);
    }
}

static void many_cells_are_one_run(void **state) {
    (void)state;
    zb__runs runs = {.count = 0};
    zb_error err;
    ASSERT_OK(zb__runs_add(&runs, 3, 1000000000, &err), err);
    ASSERT_OK(zb__runs_add(&runs, 3, 1, &err), err);
    ASSERT_OK(zb__runs_add(&runs, 5, 4000000000, &err), err);
    assert_int_equal(runs.count, 2);
    assert_int_equal(zb__run_cells(&runs, 0), 1000000001);
    assert_int_equal(zb__run_cells(&runs, 1), 4000000000);
    zb__span last = zb__runs_at(&runs, 5000000000);
    assert_int_equal(last.start, 3000000003 + 5 * (uint64_t)3999999999);
    assert_int_equal(zb__runs_find(&runs, last.start + 4).index, 5000000000);
    assert_int_equal(zb__runs_find(&runs, 3000000002).index, 1000000000);
    zb__runs_free(&runs);
}

static void sums_end_below_the_limit(void **state) {
    (void)state;
    static const uint64_t too_far[][2] = {{1, LARGEST},
                                          {LARGEST, 1},
                                          {2, LARGEST / 2 + 1},
                                          {LARGEST, LARGEST},
                                          {1ull << 32, 1ull << 32}};
    zb__runs runs = {.count = 0};
    zb_error err;
    ASSERT_OK(zb__runs_add(&runs, 1, 1, &err), err);
    for (size_t i = 0; i < sizeof too_far / sizeof *too_far; i++)
        ASSERT_FAILS(zb__runs_add(&runs, too_far[i][0], too_far[i][1], &err), ZB_ELIMIT, err,
                     "sum up to 2^63 or more");
    ASSERT_OK(zb__runs_add(&runs, LARGEST - 1, 1, &err), err);
    assert_int_equal(zb__runs_end(&runs), LARGEST);
    assert_int_equal(zb__runs_cells(&runs), 2);
    zb__runs_free(&runs);
}

/* The largest cell that an array has: those behind its edge are in the document alone. */
static void the_largest_cell_is_in_the_array(void **state) {
    (void)state;
    zb__runs runs = {.count = 0};
    zb_error err;
    ASSERT_OK(zb__runs_add(&runs, 2, 2, &err), err);
    ASSERT_OK(zb__runs_add(&runs, 7, 1, &err), err);
    ASSERT_OK(zb__runs_add(&runs, 1000, 1, &err), err);
    static const uint64_t rows[][2] = {{0, 2}, {1, 2}, {4, 2}, {5, 7}, {11, 7}, {12, 1000}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(zb__runs_largest(&runs, rows[i][0]), rows[i][1]);
    zb__runs_free(&runs);
}

/* Runs of these extents, up to a 0. */
static zb__runs runs_of(const uint64_t *extents) {
    zb__runs runs = {.count = 0};
    zb_error err;
    for (; *extents; extents++)
        ASSERT_OK(zb__runs_add(&runs, *extents, 1, &err), err);
    return runs;
}

static void runs_are_compared(void **state) {
    (void)state;
    static const struct {
        uint64_t a[6], a_extent, b[6], b_extent;
        bool agree;
    } rows[] = {
        {{3, 7}, 7, {3, 7}, 7, true},
        {{3, 7}, 7, {3, 7, 5}, 7, true}, /* one went on */
        {{3, 7}, 7, {3, 7, 7}, 7, true},
        {{3, 7}, 7, {3, 8}, 8, false},
        {{3, 7}, 7, {3, 3, 4}, 4, false},
        {{4, 4}, 4, {0}, 4, true}, /* divided by one extent */
        {{0}, 4, {4, 4}, 4, true},
        {{0}, 5, {4, 4}, 4, false},
        {{4, 4, 2}, 4, {0}, 4, false},
        {{4, 4, 2}, 4, {4, 4}, 4, true},
        {{4, 4, 2}, 4, {4, 4, 4, 2}, 4, false},
        {{0}, 4, {0}, 4, true},
        {{0}, 4, {0}, 5, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb__runs a = runs_of(rows[i].a), b = runs_of(rows[i].b);
        if (zb__runs_agree(&a, rows[i].a_extent, &b, rows[i].b_extent) != rows[i].agree ||
            zb__runs_agree(&b, rows[i].b_extent, &a, rows[i].a_extent) != rows[i].agree)
            fail_msg("row %zu", i);
        zb__runs_free(&a);
        zb__runs_free(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_as_counted),
        cmocka_unit_test(many_cells_are_one_run),
        cmocka_unit_test(sums_end_below_the_limit),
        cmocka_unit_test(the_largest_cell_is_in_the_array),
        cmocka_unit_test(runs_are_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
