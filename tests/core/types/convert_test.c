/* SPDX-License-Identifier: MIT */
/* Every pair of types, both byte orders, against the element-wise reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "util/half.h"
#include "types/scatter.h"
#include "reference.h"

/* Values at which conversions begin to give other results; each also by its neighbours in the
   type. */
static const double landmarks[] = {
    0,       0.25,        0.5,         0.99999,     1,          1.5,        2.5,         126.5,
    127,     127.99,      128,         254.5,       255,        255.5,      256,         32767,
    32767.5, 32768,       65504,       65519.99,    65520,      65535,      65535.99,    65536,
    0x1p31,  0x1p31 - 1,  0x1p31 + .5, 0x1p32,      0x1p32 - 1, 0x1p53,     0x1p53 + 2,  0x1p63,
    0x1p64,  0x1p63 + 4e3, 0x1p100,    0x1.fffffep127, 0x1.ffffffp127, 1e308, 0x1p-14,   0x1p-15,
    0x1p-24, 0x1p-25,     0x1p-126,    0x1p-149,    0x1p-150,   0x1p-1074,  (double)INFINITY,
    (double)NAN,
};
#define LANDMARKS (sizeof landmarks / sizeof landmarks[0])

/* Fills n elements of a real type: landmarks with either sign and a neighbour, else random bits. */
static void make_numbers(zb_dtype dtype, unsigned char *out, size_t n) {
    for (size_t i = 0; i < n; i++, out += dtype.size) {
        uint64_t bits = random_u64();
        memcpy(out, &bits, dtype.size);
        if (i < 6 * LANDMARKS) {
            double value = landmarks[i / 6] * (i & 1 ? -1 : 1);
            store_number(dtype, (number){.is_float = true, .real = value}, out);
            uint64_t step = i % 6 / 2 == 0 ? 0 : i % 6 / 2 == 1 ? 1 : (uint64_t)-1;
            bits = 0;
            if (dtype.swapped)
                reverse(out, dtype.size);
            memcpy(&bits, out, dtype.size);
            bits += step;
            memcpy(out, &bits, dtype.size);
            if (dtype.swapped)
                reverse(out, dtype.size);
        } else if (dtype.kind == ZB_KIND_FLOAT && dtype.size > 2 && i % 2 == 0) {
            /* Random bits are mostly huge or tiny: take an exponent within reach of the others. */
            double value = ldexp((double)(int64_t)bits, (int)random_below(90) - 89);
            store_number(dtype, (number){.is_float = true, .real = value}, out);
        }
    }
}

static bool is_nan_element(zb_dtype dtype, const void *bytes) {
    return dtype.kind == ZB_KIND_FLOAT && isnan(load_number(dtype, bytes).real);
}

/* NaNs need not have the same payload, all other values need the same bits. */
static void check_element(zb_dtype from, const unsigned char *src, zb_dtype to,
                          const unsigned char *got) {
    unsigned char expected[8];
    convert_element(from, src, to, expected);
    if (memcmp(expected, got, to.size) == 0)
        return;
    if (is_nan_element(to, expected) && is_nan_element(to, got))
        return;
    char from_name[ZB_DTYPE_NAME_SIZE], to_name[ZB_DTYPE_NAME_SIZE];
    uint64_t a = 0, b = 0, c = 0;
    memcpy(&a, src, from.size);
    memcpy(&b, expected, to.size);
    memcpy(&c, got, to.size);
    fail_msg("%s%s %#llx -> %s%s: expected %#llx, got %#llx", zb_dtype_name(from, from_name),
             from.swapped ? " swapped" : "", (unsigned long long)a, zb_dtype_name(to, to_name),
             to.swapped ? " swapped" : "", (unsigned long long)b, (unsigned long long)c);
}

/* Converts n elements with the given gaps between them and checks elements, gaps and ends. */
static void check_run(zb_dtype from, const unsigned char *values, zb_dtype to, size_t n,
                      size_t src_gap, size_t dst_gap, bool backwards) {
    const size_t src_stride = from.size + src_gap, dst_stride = to.size + dst_gap;
    /* One byte in front makes everything unaligned. */
    unsigned char *src = malloc(1 + n * src_stride), *dst = malloc(1 + n * dst_stride);
    assert_true(src != NULL && dst != NULL);
    memset(dst, 0xa5, 1 + n * dst_stride);
    for (size_t i = 0; i < n; i++)
        memcpy(src + 1 + i * src_stride, values + i * from.size, from.size);
    if (backwards)
        zb__convert(from, src + 1 + (n - 1) * src_stride, -(int64_t)src_stride, to,
                    dst + 1 + (n - 1) * dst_stride, -(int64_t)dst_stride, n);
    else
        zb__convert(from, src + 1, (int64_t)src_stride, to, dst + 1, (int64_t)dst_stride, n);
    assert_int_equal(dst[0], 0xa5);
    for (size_t i = 0; i < n; i++) {
        const unsigned char *element = dst + 1 + i * dst_stride;
        check_element(from, src + 1 + i * src_stride, to, element);
        for (size_t g = 0; g < dst_gap; g++)
            assert_int_equal(element[to.size + g], 0xa5);
    }
    free(src);
    free(dst);
}

static void every_pair_in_both_byte_orders(void **state) {
    (void)state;
    enum { N = 1000 };
    unsigned char values[N * 8];
    for (size_t f = 0; f < NUMBER_COUNT; f++) {
        for (unsigned variant = 0; variant < 4; variant++) {
            zb_dtype from = all_numbers[f];
            from.swapped = variant & 1;
            make_numbers(from, values, N);
            for (size_t t = 0; t < NUMBER_COUNT; t++) {
                zb_dtype to = all_numbers[t];
                to.swapped = variant >> 1;
                assert_true(zb_dtype_converts(from, to));
                check_run(from, values, to, N, 0, 0, false);
                check_run(from, values, to, N, random_below(9), random_below(9), variant & 1);
                check_run(from, values, to, 1, 0, 0, false);
            }
        }
    }
}

static void every_16_bit_value(void **state) {
    (void)state;
    static unsigned char values[65536 * 2];
    for (unsigned i = 0; i < 65536; i++) {
        values[2 * i] = (unsigned char)i;
        values[2 * i + 1] = (unsigned char)(i >> 8);
    }
    const zb_dtype sources[] = {
        {ZB_KIND_INT, 2, false, NULL}, {ZB_KIND_UINT, 2, false, NULL}, {ZB_KIND_FLOAT, 2, false, NULL}};
    for (size_t f = 0; f < 3; f++) {
        for (size_t t = 0; t < NUMBER_COUNT; t++)
            check_run(sources[f], values, all_numbers[t], 65536, 0, 0, false);
    }
}

/* Around each half: itself, the midpoint to the next (a tie), and the doubles beside that. */
static void every_half_and_its_ties(void **state) {
    (void)state;
    for (uint16_t h = 0; h < 0x7c00; h++) {
        double value = (double)half_value(h);
        double next = h == 0x7bff ? 65536 : (double)half_value((uint16_t)(h + 1));
        double middle = (value + next) / 2;
        uint16_t even = h & 1 ? (uint16_t)(h + 1) : h;
        assert_int_equal(zb__half_from_double(value), h);
        assert_int_equal(zb__half_from_double(-value), h | 0x8000);
        assert_int_equal(zb__half_from_double(middle), even);
        assert_int_equal(zb__half_from_double(nextafter(middle, 0)), h);
        assert_int_equal(zb__half_from_double(nextafter(middle, 1e9)), h + 1);
        assert_true(zb__half_to_float(h) == (float)value);
    }
    assert_int_equal(zb__half_from_double((double)NAN) & 0x7c00, 0x7c00);
    assert_int_not_equal(zb__half_from_double((double)NAN) & 0x03ff, 0);
    assert_true(isnan(zb__half_to_float(0x7c01)) && isnan(zb__half_to_float(0xffff)));
    assert_true(signbit(zb__half_to_float(0x8000)));
}

/* Written out by hand, so that an error in the reference shows. */
static void rules_by_example(void **state) {
    (void)state;
    const zb_dtype f64 = {ZB_KIND_FLOAT, 8, false, NULL}, f32 = {ZB_KIND_FLOAT, 4, false, NULL};
    const zb_dtype u64 = {ZB_KIND_UINT, 8, false, NULL}, boolean = {ZB_KIND_BOOL, 1, false, NULL};
    const double in[] = {3.99, -3.99, 300, -300, (double)NAN, (double)INFINITY, -0.0, 1e300};

    int8_t i8[8];
    zb__convert(f64, in, 8, (zb_dtype){ZB_KIND_INT, 1, false, NULL}, i8, 1, 8);
    assert_memory_equal(i8, ((int8_t[]){3, -3, 127, -128, 0, 127, 0, 127}), sizeof i8);
    uint64_t wide[8];
    zb__convert(f64, in, 8, u64, wide, 8, 8);
    assert_memory_equal(
        wide, ((uint64_t[]){3, 0, 300, 0, 0, UINT64_MAX, 0, UINT64_MAX}), sizeof wide);
    uint8_t truth[8];
    zb__convert(f64, in, 8, boolean, truth, 1, 8);
    assert_memory_equal(truth, ((uint8_t[]){1, 1, 1, 1, 1, 1, 0, 1}), sizeof truth);
    float narrow[8];
    zb__convert(f64, in, 8, f32, narrow, 4, 8);
    assert_true(narrow[0] == 3.99f && isnan(narrow[4]) && isinf(narrow[7]));
    assert_true(narrow[6] == 0 && signbit(narrow[6]));

    /* Through double these would round twice: one more than a tie between two floats. */
    const int64_t tie[] = {(INT64_C(1) << 53) + (INT64_C(1) << 29) + 1, INT64_MIN, -1};
    zb__convert((zb_dtype){ZB_KIND_INT, 8, false, NULL}, tie, 8, f32, narrow, 4, 3);
    assert_true(narrow[0] == 0x1.000002p53f && narrow[1] == -0x1p63f && narrow[2] == -1);
    const uint64_t high_tie = (UINT64_C(1) << 63) + (UINT64_C(1) << 39) + 1;
    zb__convert(u64, &high_tie, 8, f32, narrow, 4, 1);
    assert_true(narrow[0] == 0x1.000002p63f);
    zb__convert((zb_dtype){ZB_KIND_INT, 8, false, NULL}, tie, 8, u64, wide, 8, 3);
    assert_true(wide[0] == (uint64_t)tie[0] && wide[1] == 0 && wide[2] == 0);

    const uint8_t loose[] = {0, 1, 2, 255};
    zb__convert(boolean, loose, 1, f32, narrow, 4, 4);
    assert_true(narrow[0] == 0 && narrow[1] == 1 && narrow[2] == 1 && narrow[3] == 1);
}

static void complex_parts_convert_alone(void **state) {
    (void)state;
    enum { N = 600 };
    unsigned char values[N * 16], out[N * 20];
    for (unsigned variant = 0; variant < 8; variant++) {
        const bool widens = variant & 1;
        const zb_dtype from = {ZB_KIND_COMPLEX, widens ? 8 : 16, variant >> 1 & 1, NULL};
        const zb_dtype to = {ZB_KIND_COMPLEX, widens ? 16 : 8, variant >> 2, NULL};
        const zb_dtype part = {ZB_KIND_FLOAT, from.size / 2, from.swapped, NULL};
        const zb_dtype out_part = {ZB_KIND_FLOAT, to.size / 2, to.swapped, NULL};
        assert_true(zb_dtype_converts(from, to));
        make_numbers(part, values, 2 * N);
        for (size_t gap = 0; gap <= 4; gap += 4) {
            zb__convert(from, values, from.size, to, out, (int64_t)(to.size + gap), N);
            for (size_t i = 0; i < 2 * (size_t)N; i++)
                check_element(part, values + i * part.size, out_part,
                              out + i / 2 * (to.size + gap) + i % 2 * out_part.size);
        }
    }
}

static void what_converts(void **state) {
    (void)state;
    const zb_dtype c64 = {ZB_KIND_COMPLEX, 8, false, NULL}, c128 = {ZB_KIND_COMPLEX, 16, true, NULL};
    const zb_dtype r24 = {ZB_KIND_RAW, 3, false, NULL}, r32 = {ZB_KIND_RAW, 4, false, NULL};
    const zb_dtype f32 = {ZB_KIND_FLOAT, 4, false, NULL}, odd = {ZB_KIND_INT, 3, false, NULL};
    assert_true(zb_dtype_converts(c64, c128) && zb_dtype_converts(c128, c64));
    assert_true(zb_dtype_converts(r24, r24));
    assert_false(zb_dtype_converts(r24, r32));
    assert_false(zb_dtype_converts(r32, f32) || zb_dtype_converts(f32, r32));
    assert_false(zb_dtype_converts(c64, f32) || zb_dtype_converts(f32, c64));
    assert_false(zb_dtype_converts(odd, f32) || zb_dtype_converts(f32, odd));
    assert_false(zb_dtype_converts(odd, odd));
    assert_false(zb_dtype_converts((zb_dtype){ZB_KIND_RAW, 0, false, NULL},
                                   (zb_dtype){ZB_KIND_RAW, 0, false, NULL}));
}

int main(void) {
    const char *seed = getenv("ZARRBRIDGE_SEED");
    random_state = seed != NULL ? strtoull(seed, NULL, 0) : 20240229;
    printf("seed %llu (ZARRBRIDGE_SEED)\n", (unsigned long long)random_state);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_in_both_byte_orders),
        cmocka_unit_test(every_16_bit_value),
        cmocka_unit_test(every_half_and_its_ties),
        cmocka_unit_test(rules_by_example),
        cmocka_unit_test(complex_parts_convert_alone),
        cmocka_unit_test(what_converts),
    };
    return cmocka_run_group_tests_name("types/convert", tests, NULL, NULL);
}
