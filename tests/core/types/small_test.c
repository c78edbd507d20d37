/* SPDX-License-Identifier: MIT */
/* Small numbers: all codes of all formats, numbers to codes, ties, and conversions in place of both
   orders and with gaps. */
#include "support/check.h"

#include "types/scatter.h"
#include "types/format.h"
#include "types/small_golden.h"

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* NaNs are equal, zeros are not. */
static bool same(double a, double b) {
    return a != a ? b != b : bits_of(a) == bits_of(b);
}

static void every_code(void **state) {
    (void)state;
    for (size_t f = 0; f < sizeof golden_values / sizeof *golden_values; f++) {
        for (unsigned code = 0; code < golden_values[f].count; code++) {
            const zb__format *format = zb__format_at(golden_values[f].format);
            const double expected = golden_values[f].value[code];
            if (!same(zb__format_to_double(format, code), expected))
                fail_msg("format %d, %#x is %a, expected %a", golden_values[f].format, code,
                         zb__format_to_double(format, code), expected);
            /* Bits that do not count. */
            assert_true(
                same(zb__format_to_double(format, code | golden_values[f].count), expected) ||
                golden_values[f].count == 256);
            if (expected == expected)
                assert_int_equal(zb__format_from_double(format, expected), code);
        }
    }
    for (uint32_t code = 0; code < 65536; code++) {
        const uint32_t wide = code << 16;
        float value;
        memcpy(&value, &wide, sizeof value);
        assert_true(
            same(zb__format_to_double(zb__format_at(ZB_FORMAT_BFLOAT16), code), (double)value));
        if (value == value)
            assert_int_equal(
                zb__format_from_double(zb__format_at(ZB_FORMAT_BFLOAT16), (double)value), code);
    }
}

/* What does not fit a format without infinity and NaN is the largest number; ml_dtypes has it so,
   too. */
static void numbers_to_codes(void **state) {
    (void)state;
    for (size_t f = 0; f < sizeof golden_codes / sizeof *golden_codes; f++) {
        const zb__format *format = zb__format_at(golden_codes[f].format);
        for (size_t i = 0; i < GOLDEN_NUMBERS; i++) {
            const uint32_t code = zb__format_from_double(format, golden_numbers[i]);
            if (code != golden_codes[f].code[i])
                fail_msg("format %d of %a is %#x, expected %#x", golden_codes[f].format,
                         golden_numbers[i], code, golden_codes[f].code[i]);
        }
    }
}

/* The middle of two neighbours goes to the even code, of powers of two to the larger one, and its
   own neighbours to the nearer one. */
static void ties(void **state) {
    (void)state;
    for (size_t f = 0; f < sizeof golden_values / sizeof *golden_values; f++) {
        const double *of = golden_values[f].value;
        for (unsigned code = 0; code + 1 < golden_values[f].count; code++) {
            const zb__format *format = zb__format_at(golden_values[f].format);
            if (!(isfinite(of[code]) && isfinite(of[code + 1]) && of[code] < of[code + 1]))
                continue;
            const double middle = of[code] / 2 + of[code + 1] / 2;
            const bool up = format->mantissa == 0 || (code & 1);
            assert_int_equal(zb__format_from_double(format, middle), code + up);
            assert_int_equal(zb__format_from_double(format, nextafter(middle, 0)), code);
            assert_int_equal(zb__format_from_double(format, nextafter(middle, INFINITY)), code + 1);
        }
    }
    const double tie = 0x1.01p0; /* of bfloat16; a double just above is a float's tie, too */
    assert_int_equal(zb__format_from_double(zb__format_at(ZB_FORMAT_BFLOAT16), tie), 0x3f80);
    assert_int_equal(zb__format_from_double(zb__format_at(ZB_FORMAT_BFLOAT16), nextafter(tie, 2)),
                     0x3f81);
    assert_int_equal(zb__format_from_double(zb__format_at(ZB_FORMAT_BFLOAT16), nextafter(tie, 0)),
                     0x3f80);
    assert_int_equal(
        zb__format_from_double(zb__format_at(ZB_FORMAT_BFLOAT16), (double)NAN) & 0x7fff, 0x7fc0);
    assert_int_equal(zb__format_from_double(zb__format_at(ZB_FORMAT_FLOAT8_E5M2FNUZ), (double)NAN),
                     0x80);
    assert_int_equal(zb__format_from_double(zb__format_at(ZB_FORMAT_FLOAT4_E2M1FN), (double)NAN),
                     0);
}

static void integers(void **state) {
    (void)state;
    static const struct {
        enum zb_format format;
        int low, high;
    } rows[] = {{ZB_FORMAT_INT2, -2, 1},
                {ZB_FORMAT_INT4, -8, 7},
                {ZB_FORMAT_UINT2, 0, 3},
                {ZB_FORMAT_UINT4, 0, 15}};
    for (size_t i = 0; i < 4; i++) {
        const int low = rows[i].low, high = rows[i].high;
        const zb__format *format = zb__format_at(rows[i].format);
        assert_true(format->is_integer);
        for (int n = low - 3; n <= high + 3; n++) {
            const int expected = n < low ? low : n > high ? high : n;
            const uint32_t code = zb__format_from_double(format, n);
            assert_int_equal(code, (uint8_t)expected);
            assert_true(same(zb__format_to_double(format, code), expected));
            /* The upper bits say nothing. */
            assert_true(
                same(zb__format_to_double(format, code & zb__format_mask(format)), expected));
        }
        assert_int_equal(zb__format_from_double(format, (double)NAN), 0);
        assert_int_equal(zb__format_from_double(format, 0.99), 0);
    }
}

static zb_dtype named(const char *name) {
    zb_dtype dtype;
    assert_true(zb_dtype_from_name(name, &dtype));
    return dtype;
}

static void moves(void **state) {
    (void)state;
    enum { N = 1000 };
    zb_dtype brain = named("bfloat16"), swapped = brain;
    const zb_dtype f4 = named("float32"), i1 = named("int8"), c8 = named("complex64"),
                   int4 = named("int4"), pair = named("complex_float8_e5m2");
    uint16_t codes[N], back[N];
    float numbers[2 * N], few[2 * N];
    swapped.swapped = true;
    for (size_t i = 0; i < N; i++)
        codes[i] = (uint16_t)(i * 61 % 0x7f80);
    assert_true(zb_dtype_converts(brain, f4) && zb_dtype_converts(f4, swapped));
    zb__convert(brain, codes, 2, f4, numbers, 8, N); /* a gap behind each */
    for (size_t i = 0; i < N; i++)
        assert_true(same((double)numbers[2 * i],
                         zb__format_to_double(zb__format_at(ZB_FORMAT_BFLOAT16), codes[i])));
    zb__convert(f4, numbers, 8, swapped, back, 2, N);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(back[i], (uint16_t)(codes[i] << 8 | codes[i] >> 8));
    zb__convert(swapped, back, 2, brain, back, 2, 0);
    zb__convert(brain, codes, 2, swapped, back, 2, N);
    assert_int_equal(back[1], (uint16_t)(codes[1] << 8 | codes[1] >> 8));
    /* Integers, with upper bits that say nothing. */
    const uint8_t fours[] = {0x0f, 0xf7, 0x38, 0xf0};
    int8_t bytes[4];
    zb__convert(int4, fours, 1, i1, bytes, 1, 4);
    assert_memory_equal(bytes, ((int8_t[]){-1, 7, -8, 0}), 4);
    /* Complex. */
    const uint8_t parts[] = {0x3c, 0xbc, 0x7c, 0x01};
    zb__convert(pair, parts, 2, c8, few, 8, 2);
    assert_true(few[0] == 1 && few[1] == -1 && isinf(few[2]) && few[3] == 0x1p-16f);
    uint8_t again[4];
    zb__convert(c8, few, 8, pair, again, 2, 2);
    assert_memory_equal(again, parts, 4);
    /* What does not convert. */
    assert_false(zb_dtype_converts(pair, f4) || zb_dtype_converts(brain, c8));
    assert_false(zb_dtype_converts(named("int64"), brain));
    assert_true(zb_dtype_converts(brain, named("int64")));
    assert_true(zb_dtype_converts(brain, named("float8_e4m3")));
    assert_true(zb_dtype_converts(named("bool"), int4));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code), cmocka_unit_test(numbers_to_codes),
        cmocka_unit_test(ties),       cmocka_unit_test(integers),
        cmocka_unit_test(moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
