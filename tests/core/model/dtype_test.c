/* SPDX-License-Identifier: MIT */
/* Names of data types, both ways; every other name is refused and named. */
#include "support/sample.h"

#include "model/dtype.h"

static enum zb_code parse(const char *text, zb_dtype *dtype, zb_error *err) {
    zb_json *value;
    assert_int_equal(zb_json_parse(text, strlen(text), &value, err), ZB_OK);
    enum zb_code code = zb__dtype_parse(value, dtype, err);
    zb_json_free(value);
    return code;
}

static void knows_the_types(void **state) {
    (void)state;
    static const struct {
        const char *text, *name;
        enum zb_kind kind;
        uint32_t size;
    } rows[] = {
        {"\"bool\"", "bool", ZB_KIND_BOOL, 1},
        {"\"string\"", "string", ZB_KIND_STRING, sizeof(zb_slice)},
        {"\"int8\"", "int8", ZB_KIND_INT, 1},
        {"\"int16\"", "int16", ZB_KIND_INT, 2},
        {"\"int32\"", "int32", ZB_KIND_INT, 4},
        {"\"int64\"", "int64", ZB_KIND_INT, 8},
        {"\"uint8\"", "uint8", ZB_KIND_UINT, 1},
        {"\"uint16\"", "uint16", ZB_KIND_UINT, 2},
        {"\"uint32\"", "uint32", ZB_KIND_UINT, 4},
        {"\"uint64\"", "uint64", ZB_KIND_UINT, 8},
        {"\"float16\"", "float16", ZB_KIND_FLOAT, 2},
        {"\"float32\"", "float32", ZB_KIND_FLOAT, 4},
        {"\"float64\"", "float64", ZB_KIND_FLOAT, 8},
        {"\"complex64\"", "complex64", ZB_KIND_COMPLEX, 8},
        {"\"complex128\"", "complex128", ZB_KIND_COMPLEX, 16},
        {"\"complex_float32\"", "complex64", ZB_KIND_COMPLEX, 8},
        {"\"complex_float64\"", "complex128", ZB_KIND_COMPLEX, 16},
        {"\"r8\"", "r8", ZB_KIND_RAW, 1},
        {"\"r24\"", "r24", ZB_KIND_RAW, 3},
        {"\"r4096\"", "r4096", ZB_KIND_RAW, 512},
        {"{\"name\":\"int32\"}", "int32", ZB_KIND_INT, 4},
        {"{\"name\":\"int32\",\"configuration\":{}}", "int32", ZB_KIND_INT, 4},
        {"{\"name\":\"int32\",\"must_understand\":true}", "int32", ZB_KIND_INT, 4},
        {"{\"name\":\"r16\",\"configuration\":{}}", "r16", ZB_KIND_RAW, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_dtype dtype;
        zb_error err = {0};
        char name[24];
        if (parse(rows[i].text, &dtype, &err))
            fail_msg("%s: %s", rows[i].text, err.message);
        assert_int_equal(dtype.kind, rows[i].kind);
        assert_int_equal(dtype.size, rows[i].size);
        assert_false(dtype.swapped);
        assert_ptr_equal(zb_dtype_name(dtype, name), name);
        assert_string_equal(name, rows[i].name);
    }
}

static void refuses_others(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum zb_code code;
        const char *message;
    } rows[] = {
        {"\"int128\"", ZB_EUNSUPPORTED, "data_type \"int128\" is not supported"},
        {"\"Int8\"", ZB_EUNSUPPORTED, "\"Int8\""},
        {"\"<i4\"", ZB_EUNSUPPORTED, "\"<i4\""},
        {"\"\"", ZB_EUNSUPPORTED, "data_type \"\""},
        {"\"variable_length_bytes\"", ZB_EUNSUPPORTED, "\"variable_length_bytes\""},
        {"\"bfloat16\"", ZB_EUNSUPPORTED, "\"bfloat16\""},
        {"\"complex32\"", ZB_EUNSUPPORTED, "\"complex32\""},
        {"\"int4\"", ZB_EUNSUPPORTED, "\"int4\""},
        {"{\"name\":\"numpy.datetime64\",\"configuration\":{\"unit\":\"s\"}}", ZB_EUNSUPPORTED,
         "\"numpy.datetime64\" is not supported"},
        {"{\"name\":\"int32\",\"configuration\":{\"x\":1}}", ZB_EUNSUPPORTED,
         "data_type: the configuration of \"int32\" has an unknown member \"x\""},
        {"{\"name\":\"int32\",\"x\":1}", ZB_EUNSUPPORTED, "data_type has an unknown member \"x\""},
        {"{\"name\":\"int32\",\"configuration\":[]}", ZB_EFORMAT, "configuration is []"},
        {"{\"name\":3}", ZB_EFORMAT, "data_type: name is 3, expected a string"},
        {"{}", ZB_EFORMAT, "data_type: name is missing"},
        {"3", ZB_EFORMAT, "data_type is 3, expected a name or an object with a name"},
        {"null", ZB_EFORMAT, "data_type is null"},
        {"[\"int8\"]", ZB_EFORMAT, "data_type is [\"int8\"]"},
        {"\"r\"", ZB_EUNSUPPORTED, "\"r\""},
        {"\"r0\"", ZB_EUNSUPPORTED, "\"r0\""},
        {"\"r08\"", ZB_EUNSUPPORTED, "\"r08\""},
        {"\"r8x\"", ZB_EUNSUPPORTED, "\"r8x\""},
        {"\"r-8\"", ZB_EUNSUPPORTED, "\"r-8\""},
        {"\"r12\"", ZB_EFORMAT, "data_type is \"r12\", expected a multiple of 8 bits"},
        {"\"r8589934600\"", ZB_ELIMIT, "the limit chunk_bytes"},
        {"\"r99999999999999999992\"", ZB_ELIMIT, "the limit chunk_bytes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_dtype dtype;
        zb_error err = {0};
        enum zb_code code = parse(rows[i].text, &dtype, &err);
        if (code != rows[i].code || !strstr(err.message, rows[i].message))
            fail_msg("%s: %s %s", rows[i].text, zb_code_name(code), err.message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_the_types),
        cmocka_unit_test(refuses_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
