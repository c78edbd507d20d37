/* SPDX-License-Identifier: MIT */
/* Memory of an arena is aligned, large enough, and does not overlap. */
#include "util/arena.h"

#include "support/check.h"

static void gives_aligned_memory(void **state) {
    (void)state;
    check_random random = check_random_new();
    zb__arena arena = {0};
    unsigned char *given[300];
    size_t sizes[300];
    for (int i = 0; i < 300; i++) {
        sizes[i] = (size_t)check_random_in(&random, 0, i % 50 ? 500 : 50000);
        given[i] = zb__arena_alloc(&arena, sizes[i]);
        assert_non_null(given[i]);
        assert_int_equal((uintptr_t)given[i] % 16, 0);
        memset(given[i], i & 0xff, sizes[i]);
    }
    for (int i = 0; i < 300; i++) {
        for (size_t n = 0; n < sizes[i]; n++)
            assert_int_equal(given[i][n], i & 0xff);
    }
    assert_null(zb__arena_alloc(&arena, SIZE_MAX));
    assert_null(zb__arena_alloc(&arena, SIZE_MAX - 40));
    zb__arena_free(&arena);
    zb__arena_free(&arena);
}

/* Text and aligned memory come from the two ends of the same blocks. */
static void gives_text_beside_it(void **state) {
    (void)state;
    check_random random = check_random_new();
    zb__arena arena = {0};
    unsigned char *given[600];
    size_t sizes[600];
    for (int i = 0; i < 600; i++) {
        sizes[i] = (size_t)check_random_in(&random, 0, i % 50 ? 60 : 90000);
        given[i] = i % 3 ? (unsigned char *)zb__arena_text(&arena, sizes[i])
                         : zb__arena_alloc(&arena, sizes[i]);
        assert_non_null(given[i]);
        if (i % 3 == 0)
            assert_int_equal((uintptr_t)given[i] % 16, 0);
        memset(given[i], i & 0xff, sizes[i]);
    }
    for (int i = 0; i < 600; i++) {
        for (size_t n = 0; n < sizes[i]; n++)
            assert_int_equal(given[i][n], i & 0xff);
    }
    assert_null(zb__arena_text(&arena, SIZE_MAX));
    zb__arena_free(&arena);
}

/* What is held and not given out stays below a third, and two small blocks: stores keep the
   documents of very many nodes. */
static void holds_little_more_than_it_gives(void **state) {
    (void)state;
    zb__arena arena = {0};
    size_t given = 0;
    for (int i = 0; i < 20000; i++) {
        assert_non_null(zb__arena_alloc(&arena, 112));
        assert_non_null(zb__arena_text(&arena, 8));
        given += 112 + 8;
        assert_true(arena.held <= given + given / 3 + 2048);
    }
    zb__arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_aligned_memory),
        cmocka_unit_test(gives_text_beside_it),
        cmocka_unit_test(holds_little_more_than_it_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
