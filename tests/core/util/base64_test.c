/* SPDX-License-Identifier: MIT */
/* Base64 texts by Python's base64.standard_b64encode(struct.pack("<d", value)). */
#include <math.h>

#include "support/check.h"
#include "util/base64.h"

static const struct {
    double value;
    const char *text;
} known[] = {
    {0.0, "AAAAAAAAAAA="},       {-0.0, "AAAAAAAAAIA="}, {1.0, "AAAAAAAA8D8="},
    {-9999.0, "AAAAAICHw8A="},   {1e20, "QIy1eB2vFUQ="}, {INFINITY, "AAAAAAAA8H8="},
    {-INFINITY, "AAAAAAAA8P8="}, {NAN, "AAAAAAAA+H8="},  {0.1, "mpmZmZmZuT8="},
};

static void test_known_texts(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        char text[ZB__BASE64_SIZE];
        double value = 7;
        assert_string_equal(zb__base64_from_double(known[i].value, text), known[i].text);
        assert_true(zb__base64_to_double(known[i].text, &value));
        assert_memory_equal(&value, &known[i].value, sizeof value);
    }
}

static void test_all_bits_survive(void **state) {
    (void)state;
    check_random random = check_random_new();
    for (int i = 0; i < 10000; i++) {
        const uint64_t bits = check_random_next(&random);
        double value, back;
        char text[ZB__BASE64_SIZE];
        memcpy(&value, &bits, sizeof value);
        assert_true(zb__base64_to_double(zb__base64_from_double(value, text), &back));
        assert_memory_equal(&back, &bits, sizeof bits);
    }
}

static void test_other_texts(void **state) {
    (void)state;
    static const char *const others[] = {
        "",
        "=",
        "AAAAAAAA8D8",
        "AAAAAAAA8D8==",
        "AAAA AAA8D8=",
        "AAAAAAAA8D==",
        "-AAAAAA8D8=",
        "NaN",
        "AAAAAAAAAAAA",
        "AAAAAAAA8D8=\n",
        "AAAAAAA_8D8=",
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        double value = 7;
        if (zb__base64_to_double(others[i], &value))
            fail_msg("\"%s\" was taken for base64", others[i]);
        assert_true(value == 7);
    }
}

static void test_bytes(void **state) {
    (void)state;
    static const struct {
        const char *text, *bytes;
        size_t size;
    } good[] = {{"", "", 0},
                {"Zg==", "f", 1},
                {"Zm8=", "fo", 2},
                {"Zm9vYmE=", "fooba", 5},
                {"/+8A", "\xff\xef\0", 3}};
    static const char *const bad[] = {"Zg", "Zg=", "=g==", "Zm9\n", "Zm-v", "Z"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint8_t out[8] = {0};
        char text[16];
        assert_int_equal(zb__base64_bytes(good[i].text), good[i].size);
        assert_true(zb__base64_decode(good[i].text, out));
        assert_memory_equal(out, good[i].bytes, good[i].size);
        zb__base64_encode(out, good[i].size, text);
        assert_string_equal(text, good[i].text);
        assert_int_equal(strlen(text), zb__base64_length(good[i].size));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint8_t out[8];
        if (zb__base64_decode(bad[i], out))
            fail_msg("\"%s\" was taken for base64", bad[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_texts), cmocka_unit_test(test_all_bits_survive),
        cmocka_unit_test(test_other_texts), cmocka_unit_test(test_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
