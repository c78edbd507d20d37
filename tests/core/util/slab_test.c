/* SPDX-License-Identifier: MIT */
/* Slabs: blocks do not overlap, memory is reserved within the bound, used again and given back. */
#include "util/slab.h"

#include "support/check.h"

#define MIB ((size_t)1 << 20)

static void blocks_are_apart_and_used_again(void **state) {
    (void)state;
    check_random random = check_random_new();
    static const size_t sizes[] = {32 << 10, 128 << 10, (128 << 10) + 1, MIB, 2 * MIB};
    struct {
        unsigned char *data;
        size_t size;
        unsigned char mark;
    } blocks[200] = {{0}};
    zb__slabs slabs = {0};
    for (int step = 0; step < 5000; step++) {
        size_t i = check_random_in(&random, 0, 199);
        if (blocks[i].data) {
            assert_int_equal(blocks[i].data[0], blocks[i].mark);
            assert_int_equal(blocks[i].data[blocks[i].size - 1], blocks[i].mark);
            zb__slab_free(&slabs, blocks[i].data);
            blocks[i].data = NULL;
            continue;
        }
        size_t size = sizes[check_random_in(&random, 0, 4)];
        unsigned char *data = zb__slab_alloc(&slabs, size, 64 * MIB);
        assert_true(slabs.reserved <= 64 * MIB);
        if (!data)
            continue;
        assert_int_equal((uintptr_t)data % 64, 0);
        blocks[i].data = data;
        blocks[i].size = size;
        blocks[i].mark = data[0] = data[size - 1] = (unsigned char)step;
    }
    for (size_t i = 0; i < 200; i++) {
        if (blocks[i].data)
            zb__slab_free(&slabs, blocks[i].data);
    }
    assert_int_equal(slabs.reserved, 0);
    assert_null(slabs.list);
}

static void a_bound_is_kept(void **state) {
    (void)state;
    zb__slabs slabs = {0};
    assert_null(zb__slab_alloc(&slabs, MIB, ZB__SLAB_BYTES - 1));
    void *blocks[8];
    size_t n = 0;
    while (n < 8 && (blocks[n] = zb__slab_alloc(&slabs, MIB, ZB__SLAB_BYTES)) != NULL)
        n++;
    assert_int_equal(n, 7); /* the slab's head takes the eighth's room */
    zb__slab_free(&slabs, blocks[3]);
    assert_ptr_equal(zb__slab_alloc(&slabs, MIB, ZB__SLAB_BYTES), blocks[3]);
    for (size_t i = 0; i < n; i++)
        zb__slab_free(&slabs, blocks[i]);
    assert_int_equal(slabs.reserved, 0);
    assert_false(zb__slab_fits((32 << 10) - 1));
    assert_true(zb__slab_fits(32 << 10));
    assert_true(zb__slab_fits(2 * MIB));
    assert_false(zb__slab_fits(2 * MIB + 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_apart_and_used_again),
        cmocka_unit_test(a_bound_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
