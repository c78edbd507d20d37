/* SPDX-License-Identifier: MIT */
/*
 * Blocks of elements give what number.h gives for one: all types of numbers, with the values around
 * the ends of each.
 */
#include "support/check.h"

#include <float.h>
#include <math.h>

#include "codec/block.h"
#include "codec/number.h"
#include "util/bytes.h"

static const zb_dtype types[] = {
    {.kind = ZB_KIND_BOOL, .size = 1},  {.kind = ZB_KIND_INT, .size = 1},
    {.kind = ZB_KIND_INT, .size = 2},   {.kind = ZB_KIND_INT, .size = 4},
    {.kind = ZB_KIND_INT, .size = 8},   {.kind = ZB_KIND_UINT, .size = 1},
    {.kind = ZB_KIND_UINT, .size = 2},  {.kind = ZB_KIND_UINT, .size = 4},
    {.kind = ZB_KIND_UINT, .size = 8},  {.kind = ZB_KIND_FLOAT, .size = 2},
    {.kind = ZB_KIND_FLOAT, .size = 4}, {.kind = ZB_KIND_FLOAT, .size = 8},
};
enum { TYPES = sizeof types / sizeof *types };

/* Numbers around everything that has an end: of integers, of fractions, of floats. */
static const double ends[] = {0,
                              -0.0,
                              0.25,
                              0.5,
                              -0.5,
                              1.5,
                              2.5,
                              -2.5,
                              1.0 / 3,
                              1,
                              -1,
                              2,
                              0x1p7,
                              0x1p7 - 0.5,
                              -0x1p7 - 0.5,
                              0x1p8,
                              -0x1p7,
                              -0x1p7 - 1,
                              0x1p15,
                              -0x1p15,
                              0x1p16 - 1,
                              0x1p31,
                              -0x1p31,
                              0x1p32 - 1,
                              0x1p51 + 0.5,
                              0x1p52 - 0.5,
                              0x1p53 + 2,
                              0x1p63,
                              -0x1p63,
                              0x1p63 - 1024,
                              0x1p64 - 2048,
                              0x1p64,
                              65504,
                              65520,
                              1e-8,
                              0x1p-24,
                              0x1p-26,
                              1e300,
                              -1e300,
                              INFINITY,
                              -INFINITY,
                              NAN};
enum { ENDS = sizeof ends / sizeof *ends };

static bool same_real(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* Fills a block with every pattern that matters of a type: mixed bits, all set, highest set. */
static void make_elements(zb_dtype dtype, uint8_t *elements) {
    uint64_t random = 20230327;
    for (size_t i = 0; i < ZB__BLOCK; i++) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        uint64_t bits = i == 0   ? UINT64_MAX
                        : i == 1 ? UINT64_C(1) << (8 * dtype.size - 1)
                        : i == 2 ? 0
                                 : random >> (i % 50);
        zb__store_element(bits, dtype.size, elements + i * dtype.size);
    }
}

static void loading(void **state) {
    (void)state;
    uint8_t room[8 * ZB__BLOCK + 1], *elements = room + 1; /* unaligned */
    double reals[ZB__BLOCK];
    uint64_t bits[ZB__BLOCK];
    for (size_t t = 0; t < TYPES; t++) {
        make_elements(types[t], elements);
        zb__block_reals(types[t], elements, ZB__BLOCK, reals);
        for (size_t i = 0; i < ZB__BLOCK; i++) {
            zb__number number = zb__number_load(types[t], elements + i * types[t].size);
            assert_true(same_real(reals[i], zb__number_real(number)));
        }
        if (types[t].kind == ZB_KIND_FLOAT)
            continue;
        zb__block_bits(types[t], elements, ZB__BLOCK, bits);
        for (size_t i = 0; i < ZB__BLOCK; i++) {
            zb__number number = zb__number_load(types[t], elements + i * types[t].size);
            assert_true(bits[i] == (number.negative ? 0 - number.magnitude : number.magnitude));
        }
    }
}

static void storing_bits(void **state) {
    (void)state;
    uint64_t bits[ZB__BLOCK];
    uint8_t room[8 * ZB__BLOCK + 1], *elements = room + 1;
    for (size_t i = 0; i < ZB__BLOCK; i++)
        bits[i] = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t size = 1; size <= 8; size *= 2) {
        zb__block_store_bits(size, bits, ZB__BLOCK, elements);
        for (size_t i = 0; i < ZB__BLOCK; i++)
            assert_true(zb__load_element(elements + i * size, size) ==
                        (bits[i] & UINT64_MAX >> (64 - 8 * size)));
    }
}

static void narrowing_and_rounding(void **state) {
    (void)state;
    for (uint32_t size = 2; size <= 8; size *= 2) {
        double reals[ENDS];
        memcpy(reals, ends, sizeof ends);
        zb__block_narrow(size, reals, ENDS);
        for (size_t i = 0; i < ENDS; i++) {
            uint8_t element[8];
            zb__real_store(size, ends[i], element);
            assert_true(same_real(reals[i], zb__load_float(element, size)));
            assert_true(same_real(reals[i], zb__real_narrow(size, ends[i])));
        }
    }
    double reals[ENDS];
    memcpy(reals, ends, sizeof ends);
    zb__block_round(reals, ENDS);
    for (size_t i = 0; i < ENDS; i++)
        assert_true(same_real(reals[i], rint(ends[i])));
}

/* What was not finite before is no overflow. */
static void overflow(void **state) {
    (void)state;
    double origins[ZB__BLOCK] = {0}, reals[ZB__BLOCK] = {0};
    origins[3] = reals[3] = INFINITY;
    origins[4] = reals[4] = -INFINITY;
    origins[5] = reals[5] = NAN;
    origins[6] = NAN;
    reals[6] = INFINITY;
    reals[7] = -DBL_MAX;
    assert_int_equal(zb__block_overflow(origins, reals, ZB__BLOCK), ZB__BLOCK);
    reals[400] = -INFINITY;
    assert_int_equal(zb__block_overflow(origins, reals, ZB__BLOCK), 400);
    reals[100] = NAN;
    assert_int_equal(zb__block_overflow(origins, reals, ZB__BLOCK), 100);
    assert_int_equal(zb__block_overflow(origins, reals, 100), 100);
    assert_int_equal(zb__block_overflow(origins, reals, 0), 0);
}

/* Every value alone, so that no other one decides its way, and behind one that fits. */
static void storing(void **state) {
    (void)state;
    for (size_t t = 0; t < TYPES; t++) {
        for (size_t i = 0; i < ENDS; i++) {
            const zb__number number = {.is_float = true, .real = ends[i]};
            const double pair[2] = {1, ends[i]};
            uint8_t wanted[8], got[16];
            bool fits = zb__number_cut(types[t], number, wanted);
            assert_int_equal(zb__block_cut(types[t], &ends[i], 1, got), fits);
            assert_int_equal(zb__block_cut(types[t], pair, 2, got), 1 + fits);
            if (fits && !isnan(ends[i]))
                assert_memory_equal(got + types[t].size, wanted, types[t].size);
            zb__number_clamp(types[t], number, wanted);
            zb__block_clamp(types[t], pair, 2, got);
            if (types[t].kind != ZB_KIND_FLOAT || !isnan(ends[i]))
                assert_memory_equal(got + types[t].size, wanted, types[t].size);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loading),
        cmocka_unit_test(storing_bits),
        cmocka_unit_test(narrowing_and_rounding),
        cmocka_unit_test(overflow),
        cmocka_unit_test(storing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
