/* SPDX-License-Identifier: MIT */
/* Decimal text is rounded once, to nearest, ties to even, in any locale. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/decimal.h"

static void rounds_to_half(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint16_t bits;
    } rows[] = {
        {"0", 0x0000},
        {"-0.0", 0x8000},
        {"1", 0x3c00},
        {"-2", 0xc000},
        {"0.1", 0x2e66},
        {"65504", 0x7bff},
        {"65519.99", 0x7bff},
        {"65520", 0x7c00},
        {"-1e30", 0xfc00},
        {"1e400", 0x7c00},
        {"6.103515625e-05", 0x0400},
        {"5.9604644775390625e-08", 0x0001},
        {"6.097555160522461e-05", 0x03ff},
        {"1e-400", 0x0000},
        /* Exactly the middle: to even. */
        {"1.00048828125", 0x3c00},
        {"1.00146484375", 0x3c02},
        {"2049", 0x6800},
        {"2051", 0x6802},
        {"2.98023223876953125e-08", 0x0000},
        {"8.94069671630859375e-08", 0x0002},
        {"0.0000000298023223876953125", 0x0000},
        /* Beside the middle by less than a double can tell: rounding twice would go wrong. */
        {"1.0004882812500000000000000000001", 0x3c01},
        {"1.00146484374999999999999999999", 0x3c01},
        {"2049.000000000000000000001", 0x6801},
        {"20490000000000000000000001e-22", 0x6801},
        {"2050.99999999999999999999", 0x6801},
        {"65519.99999999999999999999", 0x7bff},
        {"-65519.99999999999999999999", 0xfbff},
        {"2.98023223876953125000001e-8", 0x0001},
        {"0.298023223876953124999999999999e-7", 0x0000},
        /* Ties at the border between subnormal and normal, and at a power of two. */
        {"6.10053539276123046875e-05", 0x0400},
        {"3.9990234375", 0x4400},
        {"3.998046875", 0x43ff},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint16_t bits = zb__decimal_to_half(rows[i].text);
        if (bits != rows[i].bits)
            fail_msg("%s gave %04x, expected %04x", rows[i].text, bits, rows[i].bits);
    }
}

/* Every finite float16, printed exactly, comes back. */
static void keeps_every_half(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 0x7c00; bits++) {
        int exponent = (int)(bits >> 10);
        int fraction = (int)(bits & 1023);
        double value = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
        char text[80];
        snprintf(text, sizeof text, "%.30f", value);
        assert_int_equal(zb__decimal_to_half(text), bits);
    }
}

static void rounds_to_float_once(void **state) {
    (void)state;
    /* The middle between two floats, plus less than a double shows. */
    assert_true(zb__decimal_to_float("1.000000059604644775390625") == 1.0f);
    assert_true(zb__decimal_to_float("1.00000005960464477539062500000001") == 1.00000011920929f);
    assert_true(zb__decimal_to_float("1e39") == (float)INFINITY);
    assert_true(zb__decimal_to_double("9007199254740993") == 9007199254740992.0);
    assert_true(zb__decimal_to_double("0.1") == 0.1);
}

static void reads_integers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool ok, negative;
        uint64_t magnitude;
    } rows[] = {
        {"0", true, false, 0},
        {"-0", true, true, 0},
        {"7", true, false, 7},
        {"7.0", true, false, 7},
        {"7.000", true, false, 7},
        {"-7.0", true, true, 7},
        {"1e3", true, false, 1000},
        {"70e-1", true, false, 7},
        {"1.5e1", true, false, 15},
        {"0.0e99", true, false, 0},
        {"18446744073709551615", true, false, UINT64_MAX},
        {"18446744073709551615.000", true, false, UINT64_MAX},
        {"1844674407370955161.5e1", true, false, UINT64_MAX},
        {"18446744073709551616", false, false, 0},
        {"7.5", false, false, 0},
        {"0.5", false, false, 0},
        {"75e-1", false, false, 0},
        {"1e20", false, false, 0},
        {"1e999999999999999999999", false, false, 0},
        {"1e-999999999999999999999", false, false, 0},
        {"0e999999999999999999999", true, false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool negative;
        uint64_t magnitude;
        bool ok = zb__decimal_to_integer(rows[i].text, &negative, &magnitude);
        if (ok != rows[i].ok ||
            (ok && (negative != rows[i].negative || magnitude != rows[i].magnitude)))
            fail_msg("%s", rows[i].text);
    }
}

/* A program may have set a locale with a decimal comma. */
static void ignores_the_locale(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "nl_NL.UTF-8"};
    bool set = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !set; i++)
        set = setlocale(LC_NUMERIC, names[i]) != NULL;
    if (!set) {
        print_message("skipped: no locale with a decimal comma is installed\n");
        skip();
    }
    assert_string_equal(localeconv()->decimal_point, ",");
    assert_true(zb__decimal_to_double("1.5") == 1.5);
    assert_true(zb__decimal_to_float("1.5") == 1.5f);
    assert_int_equal(zb__decimal_to_half("1.0004882812500000000001"), 0x3c01);
    setlocale(LC_NUMERIC, "C");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_to_half),       cmocka_unit_test(keeps_every_half),
        cmocka_unit_test(rounds_to_float_once), cmocka_unit_test(reads_integers),
        cmocka_unit_test(ignores_the_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
