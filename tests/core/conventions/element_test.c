/* SPDX-License-Identifier: MIT */
/* Numbers as elements: those that a type holds, and those that it does not. */
#include <float.h>
#include <math.h>

#include "support/check.h"
#include "zarrbridge/conventions.h"

#define I(n) {.kind = ZB_KIND_INT, .size = (n)}
#define U(n) {.kind = ZB_KIND_UINT, .size = (n)}
#define F(n) {.kind = ZB_KIND_FLOAT, .size = (n)}

static void test_from_double(void **state) {
    (void)state;
    static const struct {
        zb_dtype dtype;
        double value;
        bool fits;
        double kept; /* when it fits */
    } rows[] = {
        {U(1), 255, true, 255},
        {U(1), 256, false, 0},
        {U(1), -1, false, 0},
        {U(1), 1.5, false, 0},
        {U(1), NAN, false, 0},
        {I(1), -128, true, -128},
        {I(1), -129, false, 0},
        {I(2), 32767, true, 32767},
        {I(2), 32768, false, 0},
        {U(4), 4294967295.0, true, 4294967295.0},
        {I(4), -2147483648.0, true, -2147483648.0},
        {I(8), -0x1p63, true, -0x1p63},
        {I(8), 0x1p63, false, 0},
        {U(8), 0x1p63, true, 0x1p63},
        {U(8), 0x1p64, false, 0},
        {F(4), 1e20, true, (double)1e20f},
        {F(4), 1e300, false, 0},
        {F(4), INFINITY, true, INFINITY},
        {F(4), -INFINITY, true, -INFINITY},
        {F(4), 3.4028235e38, true, FLT_MAX}, /* rounds down to it */
        {F(8), 1e300, true, 1e300},
        {F(2), 65504, true, 65504},
        {F(2), 65520, false, 0},
        {F(2), 0.1, true, 0.0999755859375},
        {{.kind = ZB_KIND_BOOL, .size = 1}, 1, false, 0},
        {{.kind = ZB_KIND_COMPLEX, .size = 8}, 1, false, 0},
        {{.kind = ZB_KIND_RAW, .size = 3}, 1, false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned char element[8], untouched[8];
        memset(element, 0x5a, sizeof element);
        memset(untouched, 0x5a, sizeof untouched);
        const bool fits = zb_element_from_double(rows[i].value, rows[i].dtype, element);
        if (fits != rows[i].fits)
            fail_msg("row %zu: fits is %d", i, fits);
        if (!fits)
            assert_memory_equal(element, untouched, sizeof element);
        else if (zb_element_to_double(element, rows[i].dtype) != rows[i].kept)
            fail_msg("row %zu: %.17g", i, zb_element_to_double(element, rows[i].dtype));
        if (rows[i].dtype.size < 8) /* nothing beyond the element */
            assert_memory_equal(element + rows[i].dtype.size, untouched, 8 - rows[i].dtype.size);
    }
    float nan = 0;
    assert_true(zb_element_from_double(NAN, (zb_dtype)F(4), &nan));
    assert_true(isnan(nan));
}

static void test_integers_keep_all_digits(void **state) {
    (void)state;
    int64_t i64;
    uint64_t u64;
    int8_t i8 = 0;
    uint16_t u16 = 0;
    const zb_dtype I8 = I(8), U8 = U(8), I1 = I(1), U2 = U(2), F8 = F(8);
    assert_true(zb_element_from_int64(INT64_MIN, I8, &i64) && i64 == INT64_MIN);
    assert_true(zb_element_from_int64(INT64_MAX, U8, &u64) && u64 == INT64_MAX);
    assert_false(zb_element_from_int64(-1, U8, &u64));
    assert_true(zb_element_from_uint64(UINT64_MAX, U8, &u64) && u64 == UINT64_MAX);
    assert_true(zb_element_from_uint64(INT64_MAX, I8, &i64) && i64 == INT64_MAX);
    assert_false(zb_element_from_uint64((uint64_t)INT64_MAX + 1, I8, &i64));
    assert_true(zb_element_from_int64(-128, I1, &i8) && i8 == -128);
    assert_true(zb_element_from_int64(127, I1, &i8) && i8 == 127);
    assert_false(zb_element_from_int64(-129, I1, &i8) || zb_element_from_int64(128, I1, &i8));
    assert_true(zb_element_from_uint64(65535, U2, &u16) && u16 == 65535);
    assert_false(zb_element_from_uint64(65536, U2, &u16));
    double d;
    assert_true(zb_element_from_int64(-7, F8, &d) && d == -7);
    assert_true(zb_element_from_uint64(UINT64_MAX, F8, &d) && d == 0x1p64);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_from_double),
                                       cmocka_unit_test(test_integers_keep_all_digits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
