/* SPDX-License-Identifier: MIT */
/* Splitting boxes along grids, compared with walking over every element of random boxes. */
#include "read/piece.h"

#include "support/check.h"

#define MOST 5 /* dimensions */

static void random_box(check_random *random, zb__piece *piece, uint32_t ndim, uint64_t *shape,
                       char *destination) {
    int64_t stride = 1;
    piece->next = NULL;
    piece->dst = destination;
    for (uint32_t d = ndim; d-- > 0;) {
        zb__piece_start(piece)[d] = check_random_in(random, 0, 40);
        zb__piece_count(piece, ndim)[d] = check_random_in(random, 1, ndim > 3 ? 4 : 20);
        zb__piece_step(piece, ndim)[d] = check_random_in(random, 1, 12);
        shape[d] = check_random_in(random, 1, 25);
        zb__piece_stride(piece, ndim)[d] = check_random_in(random, 0, 1) ? stride : -stride;
        if (zb__piece_stride(piece, ndim)[d] < 0)
            piece->dst += (int64_t)(zb__piece_count(piece, ndim)[d] - 1) * stride;
        stride *= (int64_t)zb__piece_count(piece, ndim)[d];
    }
}

/* Walks the elements of `part`, checks where each lies, and marks its place in the destination. */
static void mark_part(zb__piece *whole, zb__piece *part, uint32_t ndim, const uint32_t *axis,
                      const uint64_t *shape, const uint64_t *cell) {
    uint64_t elements = zb__piece_elements(part, ndim);
    for (uint64_t n = 0; n < elements; n++) {
        uint64_t rest = n;
        char *from_part = part->dst, *from_whole = whole->dst;
        for (uint32_t i = ndim; i-- > 0;) {
            uint32_t d = axis ? axis[i] : i;
            uint64_t k = rest % zb__piece_count(part, ndim)[i];
            rest /= zb__piece_count(part, ndim)[i];
            uint64_t inside = zb__piece_start(part)[i] + k * zb__piece_step(part, ndim)[i];
            assert_true(inside < shape[d]);
            uint64_t at = cell[d] * shape[d] + inside, first = zb__piece_start(whole)[d];
            uint64_t step = zb__piece_step(whole, ndim)[d];
            assert_true(at >= first && (at - first) % step == 0);
            assert_true((at - first) / step < zb__piece_count(whole, ndim)[d]);
            from_part += (int64_t)k * zb__piece_stride(part, ndim)[i];
            from_whole += (int64_t)((at - first) / step) * zb__piece_stride(whole, ndim)[d];
        }
        assert_ptr_equal(from_part, from_whole);
        assert_int_equal(*from_part, 0); /* not of another piece */
        *from_part = 1;
    }
}

static void splits_into_every_element_once(void **state) {
    (void)state;
    check_random random = check_random_new();
    for (int round = 0; round < 2000; round++) {
        uint32_t ndim = (uint32_t)check_random_in(&random, 0, MOST);
        static char destination[20 * 20 * 20 + 1];
        memset(destination, 0, sizeof destination);
        uint64_t shape[MOST];
        uint32_t axis[MOST];
        zb__arena arena = {0};
        zb__piece *whole = zb__piece_new(&arena, ndim);
        zb__target target = {.dtype = {.size = 1}};
        whole->target = &target;
        random_box(&random, whole, ndim, shape, destination);
        for (uint32_t d = 0; d < ndim; d++)
            axis[d] = (d + (uint32_t)round) % ndim;
        zb__cells cells;
        uint64_t last = 0, number;
        bool begun = false;
        zb__grid grid = zb__grid_of(ndim, shape);
        for (zb__cells_begin(&cells, whole, &grid); !cells.done; zb__cells_next(&cells)) {
            const uint32_t *permuted = round % 3 ? axis : NULL;
            zb__piece *part = zb__cells_piece(&cells, &arena, permuted);
            assert_null(part->next);
            assert_ptr_equal(part->target, &target);
            mark_part(whole, part, ndim, permuted, shape, cells.cell);
            number = 0; /* cells come in C order, each once */
            for (uint32_t d = 0; d < ndim; d++)
                number = number * 1000 + cells.cell[d];
            assert_true(!begun || number > last);
            for (uint32_t d = 0; d < ndim; d++)
                assert_int_equal(cells.start[d], cells.cell[d] * shape[d]);
            begun = true;
            last = number;
        }
        uint64_t elements = zb__piece_elements(whole, ndim), marked = 0;
        for (size_t i = 0; i < sizeof destination; i++)
            marked += (uint64_t)destination[i];
        assert_int_equal(marked, elements);
        zb__arena_free(&arena);
    }
}

static void extent_is_first_to_last_byte(void **state) {
    (void)state;
    check_random random = check_random_new();
    for (int round = 0; round < 2000; round++) {
        uint32_t ndim = (uint32_t)check_random_in(&random, 0, 4);
        uint64_t shape[MOST], lo, hi, low = UINT64_MAX, high = 0;
        size_t item = (size_t)check_random_in(&random, 1, 16);
        zb__arena arena = {0};
        zb__piece *piece = zb__piece_new(&arena, ndim);
        char nowhere;
        random_box(&random, piece, ndim, shape, &nowhere);
        for (uint32_t d = 0; d < ndim; d++)
            shape[d] = zb__piece_start(piece)[d] +
                       zb__piece_count(piece, ndim)[d] * zb__piece_step(piece, ndim)[d];
        uint64_t elements = zb__piece_elements(piece, ndim);
        for (uint64_t n = 0; n < elements; n++) {
            uint64_t rest = n, at = 0, unit = item;
            for (uint32_t d = ndim; d-- > 0;) {
                uint64_t k = rest % zb__piece_count(piece, ndim)[d];
                rest /= zb__piece_count(piece, ndim)[d];
                at += (zb__piece_start(piece)[d] + k * zb__piece_step(piece, ndim)[d]) * unit;
                unit *= shape[d];
            }
            low = at < low ? at : low;
            high = at + item > high ? at + item : high;
        }
        zb__piece_extent(piece, ndim, shape, item, &lo, &hi);
        assert_int_equal(lo, low);
        assert_int_equal(hi, high);
        zb__arena_free(&arena);
    }
}

/* Coordinates near 2^63 do not overflow. */
static void far_coordinates(void **state) {
    (void)state;
    zb__arena arena = {0};
    zb__piece *piece = zb__piece_new(&arena, 1);
    uint64_t start = (uint64_t)1 << 62, shape = 1000;
    *piece = (zb__piece){.dst = NULL};
    zb__piece_start(piece)[0] = start;
    zb__piece_count(piece, 1)[0] = 3;
    zb__piece_step(piece, 1)[0] = (uint64_t)1 << 60;
    zb__piece_stride(piece, 1)[0] = 1;
    zb__cells cells;
    zb__grid grid = zb__grid_of(1, &shape);
    zb__cells_begin(&cells, piece, &grid);
    for (uint64_t i = 0; i < 3; i++, zb__cells_next(&cells)) {
        assert_false(cells.done);
        uint64_t at = start + i * ((uint64_t)1 << 60);
        assert_int_equal(cells.cell[0], at / shape);
        assert_int_equal(cells.run[0], 1);
        zb__piece *part = zb__cells_piece(&cells, &arena, NULL);
        assert_int_equal(zb__piece_start(part)[0], at % shape);
    }
    assert_true(cells.done);
    zb__arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_into_every_element_once),
        cmocka_unit_test(extent_is_first_to_last_byte),
        cmocka_unit_test(far_coordinates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
