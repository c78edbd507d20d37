/* SPDX-License-Identifier: MIT */
/* Chunk and shard shapes for arrays whose creator chose none. */
#include "support/check.h"
#include "zarrbridge/conventions.h"

#define P ZB_ROLE_PLANE
#define S ZB_ROLE_SAMPLES
#define T ZB_ROLE_SERIES

typedef struct row {
    uint32_t ndim, size;
    uint64_t shape[4];
    enum zb_role roles[4];       /* all ZB_ROLE_UNKNOWN: passed as NULL */
    uint64_t chunk[4], shard[4]; /* shard[0] is 0: none */
} row;

static const row rows[] = {
    /* the roles of the dimensions are not known */
    {0, 8, {0}, {0}, {0}, {0}},
    {1, 8, {10}, {0}, {10}, {0}},
    {1, 8, {0}, {0}, {1}, {0}},
    {2, 4, {4096, 4096}, {0}, {512, 512}, {0}},
    {2, 1, {4096, 4096}, {0}, {1024, 1024}, {0}},
    {2, 8, {3, 1 << 20}, {0}, {3, 32768}, {0}},
    {2, 4, {8192, 16384}, {0}, {512, 512}, {2048, 4096}},
    {3, 4, {300, 1000, 1000}, {0}, {38, 63, 63}, {152, 252, 252}},
    {1, 8, {UINT64_C(1) << 60}, {0}, {131072}, {4194304}},
    {1, UINT32_C(1) << 21, {4}, {0}, {1}, {0}},
    /* pictures */
    {2, 1, {2000, 3000}, {P, P}, {512, 512}, {0}},
    {2, 8, {2000, 3000}, {P, P}, {512, 512}, {0}},
    {2, 1, {100, 3000}, {P, P}, {100, 2048}, {0}},
    {2, 1, {3000, 100}, {P, P}, {2048, 100}, {0}},
    {2, 1, {1, 3000}, {P, P}, {1, 3000}, {0}},
    {3, 2, {7, 2000, 3000}, {T, P, P}, {1, 512, 512}, {0}},
    {3, 2, {2000, 3000, 7}, {P, P, S}, {512, 512, 7}, {0}},
    {3, 8, {2000, 3000, 100}, {P, P, S}, {128, 128, 100}, {128, 512, 100}},
    {3, 8, {2000, 3000, 100000}, {P, P, S}, {64, 64, 100000}, {0}},
    {2, 4, {20000, 20000}, {P, P}, {512, 512}, {1024, 8192}},
    {2, 1, {20000, 20000}, {P, P}, {512, 512}, {2048, 16384}},
    {2, 2, {20000, 20000}, {P, P}, {512, 512}, {2048, 8192}},
    {3, 2, {1000, 600, 600}, {T, P, P}, {1, 512, 512}, {16, 1024, 1024}},
};

static void check(const uint64_t *got, const uint64_t *expected, uint32_t ndim, size_t i,
                  const char *what) {
    for (uint32_t d = 0; d < ndim; d++)
        if (got[d] != expected[d])
            fail_msg("row %zu: %s[%u] is %llu, expected %llu", i, what, d,
                     (unsigned long long)got[d], (unsigned long long)expected[d]);
}

static void test_shapes(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const row *r = &rows[i];
        const enum zb_role *roles = r->roles[0] || r->roles[1] ? r->roles : NULL;
        uint64_t chunk[4] = {0}, shard[4] = {0};
        zb_default_chunk(r->ndim, r->shape, r->size, roles, chunk);
        check(chunk, r->chunk, r->ndim, i, "chunk");
        const bool sharded = zb_default_shard(r->ndim, r->shape, r->size, roles, chunk, shard);
        if (sharded != (r->shard[0] != 0))
            fail_msg("row %zu: sharded is %d", i, sharded);
        if (sharded)
            check(shard, r->shard, r->ndim, i, "shard");
    }
}

/* Whole chunks, as large as promised, no dimension much longer than the array. */
static void test_random_arrays(void **state) {
    (void)state;
    check_random random = check_random_new();
    for (int i = 0; i < 20000; i++) {
        const uint32_t ndim = 1 + (uint32_t)(check_random_next(&random) % 4), size = 1u << (i % 4);
        uint64_t shape[4], chunk[4], shard[4];
        uint64_t array_bytes = size, chunk_bytes = size, shard_bytes = size;
        for (uint32_t d = 0; d < ndim; d++)
            shape[d] = 1 + check_random_next(&random) % (ndim > 2 ? 3000 : 100000);
        zb_default_chunk(ndim, shape, size, NULL, chunk);
        const bool sharded = zb_default_shard(ndim, shape, size, NULL, chunk, shard);
        for (uint32_t d = 0; d < ndim; d++) {
            array_bytes *= shape[d];
            chunk_bytes *= chunk[d];
            shard_bytes *= sharded ? shard[d] : 1;
            assert_true(chunk[d] >= 1 && chunk[d] <= shape[d]);
            if (sharded)
                assert_true(shard[d] % chunk[d] == 0 && shard[d] < 2 * shape[d] + chunk[d]);
        }
        assert_true(chunk_bytes <= 1 << 20);
        assert_true(!sharded || (array_bytes > 256 << 20 && shard_bytes < 64 << 20));
        assert_true(!sharded || shard_bytes >= 32 << 20);
        assert_true(sharded || array_bytes <= 256 << 20);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes),
                                       cmocka_unit_test(test_random_arrays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
