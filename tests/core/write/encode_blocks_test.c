/* SPDX-License-Identifier: MIT */
/* Room for encoded inner chunks: no bytes are given twice, and blocks are used again. */
#include <stdlib.h>
#include <string.h>

#include "write/encode_blocks.h"
#include "support/check.h"

enum { UNIT = 100, BOUND = 130 };

/* Takes a block, writes `size` bytes of `value` and gives it back; returns their place. */
static unsigned char *put(zb__encode_blocks *room, zb__block_pool *pool, size_t size, int value) {
    zb__block *block = zb__encode_blocks_take(room, pool, BOUND);
    assert_non_null(block);
    assert_true(block->capacity - block->used >= BOUND);
    unsigned char *place = block->bytes + block->used;
    memset(place, value, size);
    block->used += size;
    zb__encode_blocks_give(room, block, BOUND);
    return place;
}

static void units_lie_apart(void **state) {
    (void)state;
    zb__block_pool pool;
    zb__encode_blocks room = {0};
    enum { UNITS = 40 };
    zb__block_pool_init(&pool, 8, BOUND); /* blocks of 8: more than one is needed */
    unsigned char *places[UNITS];
    for (int i = 0; i < UNITS; i++)
        places[i] = put(&room, &pool, UNIT, i);
    for (int i = 0; i < UNITS; i++) {
        for (int k = 0; k < UNIT; k++)
            assert_int_equal(places[i][k], i);
    }
    zb__encode_blocks_clear(&room, &pool);
    zb__block_pool_free(&pool);
}

static void short_units_share_a_block(void **state) {
    (void)state;
    zb__block_pool pool;
    zb__encode_blocks room = {0};
    zb__block_pool_init(&pool, 4, BOUND);
    unsigned char *first = put(&room, &pool, 1, 1), *second = put(&room, &pool, 0, 2);
    assert_ptr_equal(second, first + 1);
    assert_ptr_equal(put(&room, &pool, 1, 3), second);
    zb__encode_blocks_clear(&room, &pool);
    zb__block_pool_free(&pool);
}

static void two_tasks_have_two_blocks(void **state) {
    (void)state;
    zb__block_pool pool;
    zb__encode_blocks room = {0};
    zb__block_pool_init(&pool, 64, BOUND);
    zb__block *one = zb__encode_blocks_take(&room, &pool, BOUND),
              *other = zb__encode_blocks_take(&room, &pool, BOUND);
    assert_non_null(one);
    assert_non_null(other);
    assert_ptr_not_equal(one, other);
    zb__encode_blocks_give(&room, one, BOUND);
    zb__encode_blocks_give(&room, other, BOUND);
    zb__encode_blocks_clear(&room, &pool);
    zb__block_pool_free(&pool);
}

static void the_next_chunk_gets_the_blocks(void **state) {
    (void)state;
    zb__block_pool pool;
    zb__encode_blocks first = {0}, second = {0};
    zb__block_pool_init(&pool, 1, BOUND);
    unsigned char *place = put(&first, &pool, UNIT, 1);
    assert_null(pool.idle);
    zb__encode_blocks_clear(&first, &pool);
    assert_non_null(pool.idle);
    assert_ptr_equal(put(&second, &pool, UNIT, 2), place);
    zb__encode_blocks_clear(&second, &pool);
    zb__block_pool_free(&pool);
    assert_null(pool.idle);
}

static void sizes_that_overflow_get_usual_blocks(void **state) {
    (void)state;
    zb__block_pool pool;
    zb__block_pool_init(&pool, UINT64_MAX, BOUND);
    assert_true(pool.block_bytes >= BOUND && pool.block_bytes <= (size_t)64 << 20);
    zb__block_pool_init(&pool, 2, SIZE_MAX / 2 + 1); /* a chunk that no memory holds */
    zb__encode_blocks room = {0};
    assert_null(zb__encode_blocks_take(&room, &pool, SIZE_MAX / 2 + 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_lie_apart),
        cmocka_unit_test(short_units_share_a_block),
        cmocka_unit_test(two_tasks_have_two_blocks),
        cmocka_unit_test(the_next_chunk_gets_the_blocks),
        cmocka_unit_test(sizes_that_overflow_get_usual_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
