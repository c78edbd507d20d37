/* SPDX-License-Identifier: MIT */
/* float8_e4m3fn: all codes, numbers to codes, descriptions, fill values, arrays of it. */
#include "support/check.h"

#include <math.h>

#include "types/dtype.h"
#include "types/fill.h"
#include "types/scatter.h"
#include "zarrbridge/conventions.h"
#include "zarrbridge/zarrbridge.h"

static const zb_dtype f4 = {.kind = ZB_KIND_FLOAT, .size = 4};

static zb_dtype named(const char *name) {
    zb_dtype dtype;
    assert_true(zb_dtype_from_name(name, &dtype));
    return dtype;
}

/* By the definition: ml_dtypes gives the same. */
static float value_of(unsigned code) {
    const int exponent = (int)(code >> 3 & 15), mantissa = (int)(code & 7);
    const float sign = code & 0x80 ? -1 : 1;
    if ((code & 0x7f) == 0x7f)
        return NAN;
    return exponent ? sign * ldexpf((float)(8 + mantissa), exponent - 10)
                    : sign * ldexpf((float)mantissa, -9);
}

static void every_code(void **state) {
    (void)state;
    const zb_dtype type = named("float8_e4m3fn");
    for (unsigned code = 0; code < 256; code++) {
        const uint8_t in = (uint8_t)code;
        const float expected = value_of(code);
        uint8_t back;
        float out;
        assert_true(zb_dtype_convert(type, &in, f4, &out, 1));
        if (isnan(expected)) {
            assert_true(isnan(out));
            continue;
        }
        assert_memory_equal(&out, &expected, sizeof out); /* the sign of zero, too */
        assert_true(zb_dtype_convert(f4, &out, type, &back, 1));
        assert_int_equal(back, code);
    }
}

/* Ties go to the even code; what is nearer to 480 than to 448 is NaN, as there is no infinity. */
static void numbers_to_codes(void **state) {
    (void)state;
    const struct {
        float number;
        uint8_t code;
    } rows[] = {
        {448, 0x7e},      {464, 0x7e},       {465, 0x7f},   {-1e9f, 0xff}, {1, 0x38},
        {1.0625f, 0x38},  {1.1875f, 0x3a},   {0x1p-10f, 0}, {0.5f, 0x30},  {(float)INFINITY, 0x7f},
        {-0x1p-9f, 0x81}, {(float)NAN, 0x7f}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t code;
        assert_true(zb_dtype_convert(f4, &rows[i].number, named("float8_e4m3fn"), &code, 1));
        assert_int_equal(code, rows[i].code);
    }
}

static void descriptions(void **state) {
    (void)state;
    const zb_dtype type = named("float8_e4m3fn"), shown = zb_dtype_shown(type);
    char text[64];
    zb_error err;
    assert_true(type.kind == ZB_KIND_EXTENSION && type.size == 1);
    assert_string_equal(zb_dtype_name(type, text), "float8_e4m3fn");
    assert_string_equal(zb_dtype_print(type, text, sizeof text), "float8_e4m3fn");
    assert_true(zb_dtype_equal(shown, f4) && zb_dtype_equal(type, named("float8_e4m3fn")));
    assert_false(zb_dtype_equal(type, named("float8_e4m3")) ||
                 zb_dtype_equal(type, (zb_dtype){.kind = ZB_KIND_EXTENSION, .size = 1}));
    assert_true(zb_dtype_converts(type, named("bfloat16")) && zb_dtype_writes(f4, type));
    assert_false(zb_dtype_converts(named("int64"), type) || zb_dtype_format(type));
    /* A type that no row describes. */
    const zb_dtype none = {.kind = ZB_KIND_EXTENSION, .size = 1};
    ASSERT_FAILS(zb__dtype_check(none, &err), ZB_EINVAL, err, "no data type of kind");
    assert_string_equal(zb_dtype_name(none, text), "r8");
    assert_false(zb_dtype_converts(none, f4) || zb_dtype_converts(f4, none));
}

static void fill_values(void **state) {
    (void)state;
    const zb_dtype type = named("float8_e4m3fn");
    static const struct {
        const char *text, *printed; /* NULL: it is refused */
        uint8_t code;
    } rows[] = {
        {"1.5", "1.5", 0x3c},     {"\"NaN\"", "\"NaN\"", 0x7f}, {"\"0xff\"", "\"0xff\"", 0xff},
        {"-448", "-448.0", 0xfe}, {"null", "0.0", 0},           {"\"Infinity\"", NULL, 0},
        {"\"1.5\"", NULL, 0},     {"[1,2]", NULL, 0},           {"\"0x1\"", NULL, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_json *json;
        zb_error err;
        zb__fill_form form;
        uint8_t code;
        ASSERT_OK(zb_json_parse(rows[i].text, strlen(rows[i].text), &json, &err), err);
        if (rows[i].printed) {
            ASSERT_OK(zb__fill_parse(json, type, NULL, &code, &form, &err), err);
            zb_json_writer *w = zb_json_writer_new();
            zb__fill_print(w, type, &code);
            char *text = zb_json_writer_end(w, NULL);
            assert_int_equal(code, rows[i].code);
            assert_string_equal(text, rows[i].printed);
            free(text);
        } else {
            ASSERT_FAILS(zb__fill_parse(json, type, NULL, &code, &form, &err), ZB_EFORMAT, err,
                         "expected a value that the type has for float8_e4m3fn");
        }
        zb_json_free(json);
    }
}

/* An array is made of the type, and behind a cast_value, and packed. */
static void arrays(void **state) {
    (void)state;
    static const struct {
        const char *type, *codecs;
    } rows[] = {
        {"float8_e4m3fn", "[]"},
        {"float8_e4m3fn", "[{\"name\":\"packbits\",\"configuration\":{}}]"},
        {"float32",
         "[{\"name\":\"cast_value\",\"configuration\":{\"data_type\":\"float8_e4m3fn\"}}]"}};
    const float in[4] = {1, -2.5f, 448, 0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint64_t shape[1] = {4};
        const zb_array_spec spec = {.ndim = 1,
                                    .shape = shape,
                                    .inner_shape = shape,
                                    .dtype = named(rows[i].type),
                                    .codecs = rows[i].codecs};
        zb_hierarchy *hierarchy;
        zb_node *node;
        zb_writer *writer;
        zb_error err;
        float out[4];
        ASSERT_OK(zb_hierarchy_new_mem("test", &hierarchy, &err), err);
        ASSERT_OK(zb_array_create(hierarchy, "a", &spec, &node, &err), err);
        assert_true(zb_dtype_equal(zb_node_array(node)->dtype, spec.dtype));
        ASSERT_OK(zb_writer_open(node, NULL, &writer, &err), err);
        ASSERT_OK(zb_writer_write(writer, &(zb_write){.data = in, .dtype = f4}, &err), err);
        ASSERT_OK(zb_writer_close(writer, &err), err);
        ASSERT_OK(
            zb_array_read(&(zb_read){.node = node, .view = {.data = out, .dtype = f4}}, 1, &err),
            err);
        assert_memory_equal(in, out, sizeof in);
        zb_node_release(node);
        zb_hierarchy_release(hierarchy);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code),   cmocka_unit_test(numbers_to_codes),
        cmocka_unit_test(descriptions), cmocka_unit_test(fill_values),
        cmocka_unit_test(arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
