/* SPDX-License-Identifier: MIT */
/* Fill values: the texts, and that every bit pattern comes back through a new array's document. */
#include "types/fill.h"
#include "types/fill.h"
#include "support/store.h"
#include "zarrbridge/change.h"

static char *print(enum zb_kind kind, uint32_t size, const void *element) {
    zb_json_writer *w = zb_json_writer_new();
    zb__fill_print(w, (zb_dtype){.kind = kind, .size = size}, element);
    return zb_json_writer_end(w, NULL);
}

static void prints(enum zb_kind kind, uint32_t size, const void *element, const char *expected) {
    char *text = print(kind, size, element);
    assert_string_equal(text, expected);
    free(text);
}

static void test_integers(void **state) {
    (void)state;
    prints(ZB_KIND_BOOL, 1, &(uint8_t){0}, "false");
    prints(ZB_KIND_BOOL, 1, &(uint8_t){1}, "true");
    prints(ZB_KIND_INT, 1, &(int8_t){-128}, "-128");
    prints(ZB_KIND_INT, 2, &(int16_t){-1}, "-1");
    prints(ZB_KIND_INT, 4, &(int32_t){INT32_MIN}, "-2147483648");
    prints(ZB_KIND_INT, 8, &(int64_t){INT64_MIN}, "-9223372036854775808");
    prints(ZB_KIND_INT, 8, &(int64_t){INT64_MAX}, "9223372036854775807");
    prints(ZB_KIND_UINT, 1, &(uint8_t){255}, "255");
    prints(ZB_KIND_UINT, 8, &(uint64_t){UINT64_MAX}, "18446744073709551615");
    prints(ZB_KIND_RAW, 3, "\x00\x80\xff", "\"AID/\"");
}

static void double_prints(double value, const char *expected) {
    prints(ZB_KIND_FLOAT, 8, &value, expected);
}

static void float_prints(float value, const char *expected) {
    prints(ZB_KIND_FLOAT, 4, &value, expected);
}

static void test_floats(void **state) {
    (void)state;
    double_prints(0, "0.0");
    double_prints(-0.0, "-0.0");
    double_prints(-9999, "-9999.0");
    double_prints(0.1, "0.1");
    double_prints(0.1 + 0.2, "0.30000000000000004");
    double_prints(1e300, "1e+300");
    double_prints(5e-324, "5e-324");
    double_prints(16777217, "16777217.0");
    double_prints(100000, "100000.0");
    double_prints(-3e14, "-300000000000000.0");
    double_prints(1e15, "1e+15");
    float_prints(1e10f, "10000000000.0");
    float_prints(0.1f, "0.1");
    float_prints(16777216.0f, "16777216.0");
    float_prints(3.4028234663852886e38f, "3.4028235e+38");
    prints(ZB_KIND_FLOAT, 2, &(uint16_t){0x2e66}, "0.1");
    prints(ZB_KIND_FLOAT, 2, &(uint16_t){0x0001}, "6e-08");
    prints(ZB_KIND_FLOAT, 2, &(uint16_t){0x7c00}, "\"Infinity\"");
    prints(ZB_KIND_FLOAT, 4, &(uint32_t){0xff800000}, "\"-Infinity\"");
    prints(ZB_KIND_FLOAT, 4, &(uint32_t){0x7fc00000}, "\"NaN\"");
    prints(ZB_KIND_FLOAT, 4, &(uint32_t){0xffc00000}, "\"NaN\"");
    prints(ZB_KIND_FLOAT, 8, &(uint64_t){0xfff8000000000000}, "\"NaN\"");
    prints(ZB_KIND_FLOAT, 4, &(uint32_t){0xffc00001}, "\"0xffc00001\"");
    prints(ZB_KIND_FLOAT, 8, &(uint64_t){0x7ff0000000000001}, "\"0x7ff0000000000001\"");
    prints(ZB_KIND_COMPLEX, 8, (const float[]){1, -0.0f}, "[1.0,-0.0]");
    prints(ZB_KIND_COMPLEX, 16, (const uint64_t[]){0x7ff8000000000000, 0xfff0000000000000},
           "[\"NaN\",\"-Infinity\"]");
}

static const zb_dtype_detail hours = {.unit = ZB_UNIT_HOUR, .scale = 6};
static const zb_dtype_detail half_brain = {.format = ZB_FORMAT_BFLOAT16};
static const zb_field inner_fields[] = {{"b", 0, {ZB_KIND_SMALL, 2, false, &half_brain}},
                                        {"r", 2, {ZB_KIND_RAW, 3, false, NULL}}};
static const zb_dtype_detail inner = {.fields = inner_fields, .field_count = 2};
static const zb_field record_fields[] = {{"x", 0, {ZB_KIND_FLOAT, 8, false, NULL}},
                                         {"in", 8, {ZB_KIND_STRUCT, 5, false, &inner}},
                                         {"i", 13, {ZB_KIND_INT, 2, false, NULL}},
                                         {"c", 15, {ZB_KIND_CHARS, 1, false, NULL}}};
static const zb_dtype_detail record = {.fields = record_fields, .field_count = 4};

static const zb_dtype types[] = {
    {ZB_KIND_BOOL, 1, false, NULL},      {ZB_KIND_INT, 1, false, NULL},
    {ZB_KIND_INT, 2, false, NULL},       {ZB_KIND_INT, 4, false, NULL},
    {ZB_KIND_INT, 8, false, NULL},       {ZB_KIND_UINT, 1, false, NULL},
    {ZB_KIND_UINT, 2, false, NULL},      {ZB_KIND_UINT, 4, false, NULL},
    {ZB_KIND_UINT, 8, false, NULL},      {ZB_KIND_FLOAT, 2, false, NULL},
    {ZB_KIND_FLOAT, 4, false, NULL},     {ZB_KIND_FLOAT, 8, false, NULL},
    {ZB_KIND_COMPLEX, 8, false, NULL},   {ZB_KIND_COMPLEX, 16, false, NULL},
    {ZB_KIND_RAW, 1, false, NULL},       {ZB_KIND_RAW, 2, false, NULL},
    {ZB_KIND_RAW, 11, false, NULL},      {ZB_KIND_INT, 4, true, NULL},
    {ZB_KIND_FLOAT, 8, true, NULL},      {ZB_KIND_COMPLEX, 16, true, NULL},
    {ZB_KIND_COMPLEX, 4, true, NULL},    {ZB_KIND_CHARS, 5, false, NULL},
    {ZB_KIND_DATETIME, 8, true, NULL},   {ZB_KIND_TIMEDELTA, 8, false, &hours},
    {ZB_KIND_STRUCT, 16, true, &record},
};

/* Any bits, often with extreme bytes, so that exponents and NaNs of all kinds come up. */
static void fill_random(check_random *random, zb_dtype dtype, uint8_t *element) {
    static const uint8_t extreme[] = {0x00, 0x7f, 0x80, 0xff, 0xf0, 0x7c, 0xfc, 0xf8, 0x01};
    for (uint32_t i = 0; i < dtype.size; i++) {
        uint64_t r = check_random_next(random);
        element[i] = r & 0x100 ? (uint8_t)r : extreme[(r >> 16) % sizeof extreme];
    }
    if (dtype.kind == ZB_KIND_BOOL)
        element[0] &= 1;
}

static void test_round_trip(void **state) {
    (void)state;
    check_random random = check_random_new();
    zb_hierarchy *hierarchy = store_new();
    for (int round = 0; round < 100; round++) {
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
            uint8_t element[16];
            zb_array_spec spec = store_spec;
            zb_node *node;
            zb_error err;
            fill_random(&random, types[i], element);
            spec.dtype = types[i];
            spec.fill_value = element;
            ASSERT_OK(zb_array_create(hierarchy, "a", &spec, &node, &err), err);
            const zb_array_info *info = zb_node_array(node);
            assert_int_equal(info->dtype.kind, types[i].kind);
            assert_int_equal(info->dtype.size, types[i].size);
            assert_false(info->fill_is_default);
            assert_memory_equal(info->fill_value, element, types[i].size);
            zb_node_release(node);
            ASSERT_OK(zb_node_delete(hierarchy, "a", &err), err);
        }
    }
    zb_hierarchy_release(hierarchy);
}

/* All of float16, without the way through a store. */
static void test_every_half(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits <= UINT16_MAX; bits++) {
        uint16_t half = (uint16_t)bits, back;
        zb__fill_form form;
        zb_json *json;
        zb_error err;
        char *text = print(ZB_KIND_FLOAT, 2, &half);
        ASSERT_OK(zb_json_parse(text, strlen(text), &json, &err), err);
        ASSERT_OK(zb__fill_parse(json, (zb_dtype){.kind = ZB_KIND_FLOAT, .size = 2}, NULL, &back,
                                 &form, &err),
                  err);
        const bool is_nan = (half & 0x7fff) == 0x7e00; /* whose sign is not kept */
        if (back != half && !(is_nan && back == 0x7e00))
            fail_msg("%04x is printed as %s, which gives %04x", half, text, back);
        zb_json_free(json);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_every_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
