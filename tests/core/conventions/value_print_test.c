/* SPDX-License-Identifier: MIT */
/* Attributes: from typed values to JSON, and back to the same values. */
#include <math.h>
#include <stdlib.h>

#include "support/check.h"
#include "zarrbridge/conventions.h"

static void expect(const zb_value *value, const char *expected) {
    char *text = zb_value_print(value);
    assert_string_equal(text, expected);
    free(text);
}

static void expect_texts(double value, const char *json, const char *people) {
    char text[ZB_NUMBER_TEXT_SIZE];
    const zb_value v = {.kind = ZB_VALUE_NUMBERS,
                        .dtype = {.kind = ZB_KIND_FLOAT, .size = 8},
                        .count = 1,
                        .data = &value};
    expect(&v, json);
    assert_string_equal(zb_number_text(value, text), people);
}

static void test_doubles(void **state) {
    (void)state;
    expect_texts(0, "0.0", "0");
    expect_texts(-0.0, "-0.0", "-0");
    expect_texts(59, "59.0", "59");
    expect_texts(500000, "500000.0", "500000");
    expect_texts(-1250000, "-1250000.0", "-1250000");
    expect_texts(123456789012345, "123456789012345.0", "123456789012345");
    expect_texts(1e15, "1e+15", "1e+15");
    expect_texts(0.1, "0.1", "0.1");
    expect_texts(0.1 + 0.2, "0.30000000000000004", "0.30000000000000004");
    expect_texts(1e-7, "1e-07", "1e-07");
    expect_texts(1e300, "1e+300", "1e+300");
    expect_texts(2251799813685249.5, "2251799813685249.5", "2251799813685249.5");
    expect_texts(NAN, "\"NaN\"", "NaN");
    expect_texts(INFINITY, "\"Infinity\"", "Infinity");
    expect_texts(-INFINITY, "\"-Infinity\"", "-Infinity");
}

static void test_all_doubles_come_back(void **state) {
    (void)state;
    check_random random = check_random_new();
    for (int i = 0; i < 20000; i++) {
        const uint64_t bits = check_random_next(&random);
        double value;
        char text[ZB_NUMBER_TEXT_SIZE];
        memcpy(&value, &bits, sizeof value);
        if (i % 2) /* of a usual size */
            value = (double)(int64_t)bits / (double)(UINT64_C(1) << (bits % 60));
        if (isfinite(value) && strtod(zb_number_text(value, text), NULL) != value)
            fail_msg("%.17g is printed as %s", value, text);
    }
}

static void test_lists_and_texts(void **state) {
    (void)state;
    int64_t ints[] = {INT64_MIN, 0, 1, 2, 3, INT64_MAX};
    zb_value value = {.kind = ZB_VALUE_NUMBERS,
                      .dtype = {.kind = ZB_KIND_INT, .size = 8},
                      .ndim = 2,
                      .shape = {3, 2},
                      .count = 6,
                      .data = ints};
    expect(&value, "[[-9223372036854775808,0],[1,2],[3,9223372036854775807]]");
    value.shape[1] = 0;
    value.count = 0;
    expect(&value, "[[],[],[]]");
    uint64_t most = UINT64_MAX;
    value = (zb_value){.kind = ZB_VALUE_NUMBERS,
                       .dtype = {.kind = ZB_KIND_UINT, .size = 8},
                       .count = 1,
                       .data = &most};
    expect(&value, "18446744073709551615");
    uint8_t bools[] = {1, 0};
    value = (zb_value){.kind = ZB_VALUE_NUMBERS,
                       .dtype = {.kind = ZB_KIND_BOOL, .size = 1},
                       .ndim = 1,
                       .shape = {2},
                       .count = 2,
                       .data = bools};
    expect(&value, "[true,false]");
    const char *texts[] = {"a\"\\\n\x01", NULL, "\xc3\xa9"};
    value = (zb_value){
        .kind = ZB_VALUE_TEXTS, .ndim = 1, .shape = {3}, .count = 3, .data = (void *)texts};
    expect(&value, "[\"a\\\"\\\\\\n\\u0001\",\"\",\"\xc3\xa9\"]");
    value = (zb_value){.kind = ZB_VALUE_NULL};
    expect(&value, "null");
}

static void test_there_and_back(void **state) {
    (void)state;
    static const char *const texts[] = {
        "[[1,2],[3,4]]",        "[1.0,2.5]", "[true]",        "\"x\"", "[\"a\",\"b\"]", "null",
        "18446744073709551615", "[]",        "[\"NaN\",1.0]", "-0.0",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        zb_json *json;
        zb_value value;
        assert_int_equal(zb_json_parse(texts[i], strlen(texts[i]), &json, NULL), ZB_OK);
        assert_true(zb_value_parse(json, &value));
        expect(&value, texts[i]);
        zb_value_clear(&value);
        zb_json_free(json);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubles), cmocka_unit_test(test_all_doubles_come_back),
        cmocka_unit_test(test_lists_and_texts), cmocka_unit_test(test_there_and_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
