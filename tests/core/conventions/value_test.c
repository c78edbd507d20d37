/* SPDX-License-Identifier: MIT */
/* Attributes: from JSON to typed values. */
#include <math.h>

#include "support/check.h"
#include "zarrbridge/conventions.h"

static zb_value parse(const char *text) {
    zb_json *json;
    zb_error err;
    zb_value value;
    if (zb_json_parse(text, strlen(text), &json, &err) != ZB_OK)
        fail_msg("%s: %s", text, err.message);
    assert_true(zb_value_parse(json, &value));
    zb_json_free(json);
    return value;
}

/* kind and shape as a word: "int64", "float64[2,3]", "text[2]", "null". */
static void describe(const zb_value *value, char text[200]) {
    char name[ZB_DTYPE_NAME_SIZE];
    size_t count = 1;
    strcpy(text, value->kind == ZB_VALUE_NULL    ? "null"
                 : value->kind == ZB_VALUE_TEXTS ? "text"
                                                 : zb_dtype_name(value->dtype, name));
    for (uint32_t d = 0; d < value->ndim; d++) {
        sprintf(text + strlen(text), "%s%llu", d ? "," : "[", (unsigned long long)value->shape[d]);
        count *= (size_t)value->shape[d];
    }
    if (value->ndim)
        strcat(text, "]");
    assert_int_equal(value->count, value->kind == ZB_VALUE_NULL ? 0 : count);
}

static const struct {
    const char *json, *type;
} rows[] = {
    {"5", "int64"},
    {"-9223372036854775808", "int64"},
    {"9223372036854775808", "uint64"},
    {"18446744073709551616", "float64"},
    {"1.0", "float64"},
    {"1e3", "float64"},
    {"\"NaN\"", "float64"},
    {"\"nan\"", "text"},
    {"\"inf\"", "text"},
    {"\"\"", "text"},
    {"true", "bool"},
    {"null", "null"},
    {"{}", "text"},
    {"{\"a\":1}", "text"},
    {"[]", "float64[0]"},
    {"[[],[]]", "float64[2,0]"},
    {"[1]", "int64[1]"},
    {"[1,2,3]", "int64[3]"},
    {"[1,2.5]", "float64[2]"},
    {"[1,\"Infinity\"]", "float64[2]"},
    {"[\"NaN\",\"-Infinity\"]", "float64[2]"},
    {"[\"NaN\",\"x\"]", "text[2]"},
    {"[1,9223372036854775808]", "uint64[2]"},
    {"[-1,9223372036854775808]", "float64[2]"},
    {"[true,false]", "bool[2]"},
    {"[true,1]", "text"},
    {"[1,\"x\"]", "text"},
    {"[1,null]", "text"},
    {"[[1,2],[3,4],[5,6]]", "int64[3,2]"},
    {"[[1,2],[3]]", "text"},
    {"[[1],2]", "text"},
    {"[[[\"a\"]]]", "text[1,1,1]"},
    {"[{}]", "text"},
};

static void test_types_and_shapes(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char type[200];
        zb_value value = parse(rows[i].json);
        describe(&value, type);
        if (strcmp(type, rows[i].type) != 0)
            fail_msg("%s: %s, expected %s", rows[i].json, type, rows[i].type);
        zb_value_clear(&value);
    }
}

static void test_elements(void **state) {
    (void)state;
    zb_value ints = parse("[[1,-2],[3,9223372036854775807]]");
    const int64_t expected[] = {1, -2, 3, INT64_MAX};
    assert_memory_equal(ints.data, expected, sizeof expected);
    zb_value mixed = parse("[1,\"-Infinity\",0.5,\"NaN\"]");
    const double *d = mixed.data;
    assert_true(d[0] == 1 && d[1] == -INFINITY && d[2] == 0.5 && isnan(d[3]));
    zb_value bools = parse("[true,false]");
    assert_memory_equal(bools.data, "\1\0", 2);
    zb_value texts = parse("[\"a\",\"NaN\",\"\u00e9\"]");
    char *const *text = texts.data;
    assert_string_equal(text[0], "a");
    assert_string_equal(text[1], "NaN");
    assert_string_equal(text[2], "\xc3\xa9");
    zb_value other = parse("[1, {\"a\": [true, 1.50]}]");
    assert_string_equal(*(char **)other.data, "[1,{\"a\":[true,1.50]}]");
    zb_value_clear(&ints);
    zb_value_clear(&mixed);
    zb_value_clear(&bools);
    zb_value_clear(&texts);
    zb_value_clear(&other);
    zb_value_clear(&other); /* once more does no harm */
}

/* 33 nested lists are one more than an array has dimensions. */
static void test_too_many_dimensions(void **state) {
    (void)state;
    char text[80] = "";
    for (int i = 0; i < 33; i++)
        strcat(text, "[");
    strcat(text, "1");
    for (int i = 0; i < 33; i++)
        strcat(text, "]");
    zb_value value = parse(text);
    assert_true(value.kind == ZB_VALUE_TEXTS && value.ndim == 0);
    assert_string_equal(*(char **)value.data, text);
    zb_value_clear(&value);
}

int main(void) {
    setenv("ZARRBRIDGE_JSON_DEPTH", "40", 1); /* for lists of 33 levels */
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_types_and_shapes),
                                       cmocka_unit_test(test_elements),
                                       cmocka_unit_test(test_too_many_dimensions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
