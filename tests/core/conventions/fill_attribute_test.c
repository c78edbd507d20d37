/* SPDX-License-Identifier: MIT */
/* `_FillValue` in every form that writers have for it, and as it is written. */
#include <math.h>

#include "support/check.h"
#include "zarrbridge/conventions.h"

#define I(n) {.kind = ZB_KIND_INT, .size = (n)}
#define U(n) {.kind = ZB_KIND_UINT, .size = (n)}
#define F(n) {.kind = ZB_KIND_FLOAT, .size = (n)}

static bool parse(const char *json, zb_dtype dtype, void *element) {
    zb_json *value;
    zb_error err;
    if (zb_json_parse(json, strlen(json), &value, &err) != ZB_OK)
        fail_msg("%s: %s", json, err.message);
    const bool found = zb_fill_attribute_parse(value, dtype, element);
    zb_json_free(value);
    return found;
}

static const struct {
    const char *json;
    zb_dtype dtype;
    double value; /* -12345: there is none */
} rows[] = {
    {"-9999", I(2), -9999},
    {"-9999.0", I(2), -9999},
    {"-1e3", I(2), -1000},
    {"[-9999]", I(2), -9999},
    {"[3, 4]", I(2), 3},
    {"\"-7\"", I(2), -7},
    {"40000", I(2), -12345},
    {"1.5", I(2), -12345},
    {"\"NaN\"", I(2), -12345},
    {"\"AAAAAICHw8A=\"", I(2), -9999}, /* of an array that was made an integer one later */
    {"true", U(1), -12345},
    {"255", U(1), 255},
    {"-1", U(1), -12345},
    {"1e20", F(4), (double)1e20f},
    {"\"QIy1eB2vFUQ=\"", F(4), (double)1e20f},
    {"\"AAAAAICHw8A=\"", F(8), -9999},
    {"\"AAAAAICHw8A=\"", F(2), -10000}, /* the nearest half */
    {"1e300", F(4), -12345},
    {"1e300", F(8), 1e300},
    {"1e20", F(2), -12345},
    {"\"Infinity\"", F(4), INFINITY},
    {"\"-Infinity\"", F(8), -INFINITY},
    {"-Infinity", F(8), -INFINITY},
    {"\"inf\"", F(8), INFINITY},
    {"\"-INF\"", F(8), -INFINITY},
    {"\"+Infinity\"", F(2), INFINITY},
    {"\"0xc61c3c00\"", F(4), -9999},
    {"\"0xC0C3878000000000\"", F(8), -9999},
    {"\"0xfc00\"", F(2), -INFINITY},
    {"\"0xfc00\"", F(4), -12345},
    {"\"-9999\"", F(4), -12345},
    {"\"missing\"", F(4), -12345},
    {"null", F(4), -12345},
    {"[]", F(4), -12345},
    {"{}", F(4), -12345},
    {"[[1]]", F(4), -12345},
    {"1", {.kind = ZB_KIND_BOOL, .size = 1}, -12345},
    {"[1, 2]", {.kind = ZB_KIND_COMPLEX, .size = 8}, -12345},
    {"[1]", {.kind = ZB_KIND_RAW, .size = 1}, -12345},
};

static void test_forms(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned char element[8] = {0};
        const bool found = parse(rows[i].json, rows[i].dtype, element);
        const double value = found ? zb_element_to_double(element, rows[i].dtype) : -12345;
        if (value != rows[i].value)
            fail_msg("%s: %.17g, expected %.17g", rows[i].json, value, rows[i].value);
    }
    assert_false(zb_fill_attribute_parse(NULL, (zb_dtype)F(8), NULL));
}

static void test_nans(void **state) {
    (void)state;
    static const char *const forms[] = {"\"NaN\"",          "NaN",      "\"nan\"", "\"-NAN\"",
                                        "\"AAAAAAAA+H8=\"", "[\"NaN\"]"};
    for (uint32_t size = 2; size <= 8; size *= 2)
        for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
            unsigned char element[8];
            const zb_dtype dtype = F(size);
            assert_true(parse(forms[i], dtype, element));
            assert_true(isnan(zb_element_to_double(element, dtype)));
        }
}

static void test_integers_keep_all_digits(void **state) {
    (void)state;
    int64_t i64;
    uint64_t u64;
    assert_true(parse("-9223372036854775808", (zb_dtype)I(8), &i64) && i64 == INT64_MIN);
    assert_true(parse("9223372036854775807", (zb_dtype)I(8), &i64) && i64 == INT64_MAX);
    assert_true(parse("18446744073709551615", (zb_dtype)U(8), &u64) && u64 == UINT64_MAX);
    assert_false(parse("9223372036854775808", (zb_dtype)I(8), &i64));
    assert_false(parse("18446744073709551616", (zb_dtype)U(8), &u64));
}

static void expect_text(const void *element, zb_dtype dtype, const char *expected) {
    char *text = zb_fill_attribute_print(element, dtype);
    unsigned char back[8];
    assert_string_equal(text, expected);
    assert_true(parse(text, dtype, back));
    assert_memory_equal(back, element, dtype.size);
    free(text);
}

static void test_printing(void **state) {
    (void)state;
    expect_text(&(int8_t){-128}, (zb_dtype)I(1), "-128");
    expect_text(&(int64_t){INT64_MIN}, (zb_dtype)I(8), "-9223372036854775808");
    expect_text(&(uint64_t){UINT64_MAX}, (zb_dtype)U(8), "18446744073709551615");
    expect_text(&(float){-9999}, (zb_dtype)F(4), "\"AAAAAICHw8A=\"");
    expect_text(&(double){1e20}, (zb_dtype)F(8), "\"QIy1eB2vFUQ=\"");
    expect_text(&(uint16_t){0xfc00}, (zb_dtype)F(2), "\"AAAAAAAA8P8=\"");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms), cmocka_unit_test(test_nans),
                                       cmocka_unit_test(test_integers_keep_all_digits),
                                       cmocka_unit_test(test_printing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
