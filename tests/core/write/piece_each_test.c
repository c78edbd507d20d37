/* SPDX-License-Identifier: MIT */
/* The pieces of a region: they cover it, do not overlap, and say whether their shard is whole. */
#include "support/check.h"
#include "zarrbridge/change.h"
#include "zarrbridge/write.h"

enum { ROWS = 20, COLUMNS = 30 }; /* in shards of 8 x 16 */

static zb_node *create(zb_hierarchy **mem) {
    const uint64_t shape[2] = {ROWS, COLUMNS}, inner[2] = {4, 4}, shard[2] = {8, 16};
    zb_array_spec spec = {.ndim = 2,
                          .shape = shape,
                          .inner_shape = inner,
                          .shard_shape = shard,
                          .dtype = {.kind = ZB_KIND_UINT, .size = 1}};
    zb_error err;
    zb_node *node = NULL;
    ASSERT_OK(zb_hierarchy_new_mem("mem", mem, &err), err);
    ASSERT_OK(zb_array_create(*mem, "", &spec, &node, &err), err);
    return node;
}

typedef struct seen {
    int pieces, whole, most;
    int marks[ROWS][COLUMNS];
} seen;

static int take(void *context, const zb_piece *piece) {
    seen *s = context;
    uint64_t inside = 1, covered = piece->count[0] * piece->count[1];
    static const uint64_t shape[2] = {ROWS, COLUMNS}, shard[2] = {8, 16};
    for (int d = 0; d < 2; d++) {
        uint64_t left = shape[d] - piece->index[d] * shard[d];
        assert_int_equal(piece->start[d] / shard[d], piece->index[d]);
        assert_int_equal((piece->start[d] + piece->count[d] - 1) / shard[d], piece->index[d]);
        inside *= left < shard[d] ? left : shard[d];
    }
    assert_int_equal(piece->is_whole, covered == inside);
    for (uint64_t i = 0; i < piece->count[0]; i++) {
        for (uint64_t j = 0; j < piece->count[1]; j++)
            s->marks[piece->start[0] + i][piece->start[1] + j]++;
    }
    s->whole += piece->is_whole;
    return ++s->pieces == s->most;
}

static void pieces_cover_a_region_once(void **state) {
    (void)state;
    check_random random = check_random_new();
    zb_hierarchy *mem;
    zb_node *node = create(&mem);
    zb_error err;
    for (int round = 0; round < 300; round++) {
        seen s = {.most = -1};
        uint64_t start[2] = {check_random_in(&random, 0, ROWS),
                             check_random_in(&random, 0, COLUMNS)};
        uint64_t count[2] = {check_random_in(&random, 0, ROWS - start[0]),
                             check_random_in(&random, 0, COLUMNS - start[1])};
        ASSERT_OK(zb_array_piece_each(node, start, count, 0, take, &s, &err), err);
        for (uint64_t i = 0; i < ROWS; i++) {
            for (uint64_t j = 0; j < COLUMNS; j++)
                assert_int_equal(s.marks[i][j], i >= start[0] && i < start[0] + count[0] &&
                                                    j >= start[1] && j < start[1] + count[1]);
        }
    }
    seen all = {.most = -1}, two = {.most = 2};
    ASSERT_OK(zb_array_piece_each(node, NULL, NULL, 0, take, &all, &err), err);
    assert_int_equal(all.pieces, 6);
    assert_int_equal(all.whole, 6);
    ASSERT_OK(zb_array_piece_each(node, NULL, NULL, 0, take, &two, &err), err);
    assert_int_equal(two.pieces, 2);
    uint64_t beyond[2] = {ROWS, COLUMNS + 1};
    ASSERT_FAILS(zb_array_piece_each(node, NULL, beyond, 0, take, &all, &err), ZB_EINVAL, err, "");
    zb_node_release(node);
    zb_hierarchy_release(mem);
}

/* ---- At most so many ---- */

typedef struct few {
    uint64_t marks[ROWS][COLUMNS];
    uint64_t pieces, whole;
} few;

static int take_few(void *context, const zb_piece *piece) {
    few *f = context;
    f->pieces++;
    for (uint64_t i = 0; i < piece->count[0]; i++) {
        for (uint64_t j = 0; j < piece->count[1]; j++)
            f->marks[piece->start[0] + i][piece->start[1] + j] = f->pieces;
    }
    f->whole += piece->is_whole;
    return 0;
}

/* No shard is in two pieces, all are in one, and there are no more than were wanted. */
static void pieces_of_several_shards_share_none(void **state) {
    (void)state;
    zb_hierarchy *mem;
    zb_node *node = create(&mem);
    zb_error err;
    static const uint64_t expected[] = {1, 1, 2, 3, 3, 3, 6, 6};
    for (uint64_t most = 1; most < 8; most++) {
        few *f = calloc(1, sizeof *f);
        assert_non_null(f);
        ASSERT_OK(zb_array_piece_each(node, NULL, NULL, most, take_few, f, &err), err);
        for (uint64_t i = 0; i < ROWS; i++) {
            for (uint64_t j = 0; j < COLUMNS; j++) {
                assert_int_not_equal(f->marks[i][j], 0);
                assert_int_equal(f->marks[i][j], f->marks[i / 8 * 8][j / 16 * 16]);
            }
        }
        assert_int_equal(f->pieces, expected[most]);
        assert_int_equal(f->whole, expected[most]);
        free(f);
    }
    zb_node_release(node);
    zb_hierarchy_release(mem);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pieces_cover_a_region_once),
                                       cmocka_unit_test(pieces_of_several_shards_share_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
