/* SPDX-License-Identifier: MIT */
/* Names of data types, both ways; every other name is refused and named. */
#include "support/check.h"
#include "support/sample.h"

#include "types/dtype.h"

/* Details of all types of a test. */
static zb__arena memory;

static enum zb_code parse(const char *text, zb_dtype *dtype, zb_error *err) {
    zb_json *value;
    assert_int_equal(zb_json_parse(text, strlen(text), &value, err), ZB_OK);
    enum zb_code code = zb__dtype_parse(value, &memory, dtype, err);
    zb_json_free(value);
    return code;
}

#define TIME(unit, scale)                                                                          \
    "{\"name\":\"numpy.timedelta64\",\"configuration\":{\"unit\":\"" unit                          \
    "\",\"scale_factor\":" scale "}}"
#define LENGTH(name, bytes) "{\"name\":\"" name "\",\"configuration\":{\"length_bytes\":" bytes "}}"
#define STRUCT(fields) "{\"name\":\"struct\",\"configuration\":{\"fields\":" fields "}}"

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
        {"\"complex_float16\"", "complex_float16", ZB_KIND_COMPLEX, 4},
        {"\"complex32\"", "complex_float16", ZB_KIND_COMPLEX, 4},
        {"\"bytes\"", "bytes", ZB_KIND_BYTES, sizeof(zb_slice)},
        {"\"variable_length_bytes\"", "bytes", ZB_KIND_BYTES, sizeof(zb_slice)},
        {"\"binary\"", "bytes", ZB_KIND_BYTES, sizeof(zb_slice)},
        {"\"int4\"", "int4", ZB_KIND_SMALL, 1},
        {"\"bfloat16\"", "bfloat16", ZB_KIND_SMALL, 2},
        {"\"float8_e4m3fn\"", "float8_e4m3fn", ZB_KIND_EXTENSION, 1},
        {"\"complex_bfloat16\"", "complex_bfloat16", ZB_KIND_SMALL_COMPLEX, 4},
        {"\"complex_float8_e4m3fnuz\"", "complex_float8_e4m3fnuz", ZB_KIND_SMALL_COMPLEX, 2},
        {"\"complex_float8_e4m3b11fnuz\"", "complex_float8_e4m3b11fnuz", ZB_KIND_SMALL_COMPLEX, 2},
        {LENGTH("raw_bytes", "6"), "r48", ZB_KIND_RAW, 6},
        {LENGTH("null_terminated_bytes", "5"), "null_terminated_bytes", ZB_KIND_CHARS, 5},
        {LENGTH("fixed_length_utf32", "8"), "fixed_length_utf32", ZB_KIND_UTF32, 8},
        {TIME("ns", "1"), "numpy.timedelta64", ZB_KIND_TIMEDELTA, 8},
        {"\"r8\"", "r8", ZB_KIND_RAW, 1},
        {"\"r24\"", "r24", ZB_KIND_RAW, 3},
        {"\"r4096\"", "r4096", ZB_KIND_RAW, 512},
        {"{\"name\":\"int32\"}", "int32", ZB_KIND_INT, 4},
        {"{\"name\":\"int32\",\"configuration\":{}}", "int32", ZB_KIND_INT, 4},
        {"{\"name\":\"int32\",\"must_understand\":true}", "int32", ZB_KIND_INT, 4},
        {"{\"name\":\"r16\",\"configuration\":{}}", "r16", ZB_KIND_RAW, 2},
        {"{\"name\":\"datetime\",\"configuration\":{\"unit\":\"ns\"},\"fallback\":\"int64\"}",
         "int64", ZB_KIND_INT, 8},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_dtype dtype;
        zb_error err = {0};
        char name[ZB_DTYPE_NAME_SIZE];
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
        {"{\"name\":\"optional\",\"configuration\":{\"name\":\"uint8\"}}", ZB_EUNSUPPORTED,
         "data_type \"optional\" is not supported: a draft whose elements may be null; write the"},
        {"\"zarrs.optional\"", ZB_EUNSUPPORTED, "and the mask as two arrays"},
        {"\"int128\"", ZB_EUNSUPPORTED, "data_type \"int128\" is not supported"},
        {"{\"name\":\"int128\",\"fallback\":\"int256\"}", ZB_EUNSUPPORTED,
         "data_type \"int256\" is not supported"},
        {"{\"name\":\"int128\",\"fallback\":{\"name\":\"int8\"}}", ZB_EUNSUPPORTED,
         "unknown member \"fallback\""},
        {"\"Int8\"", ZB_EUNSUPPORTED, "\"Int8\""},
        {"\"<i4\"", ZB_EUNSUPPORTED, "\"<i4\""},
        {"\"\"", ZB_EUNSUPPORTED, "data_type \"\""},
        {"\"complex_int4\"", ZB_EUNSUPPORTED, "\"complex_int4\""},
        {"\"complex_\"", ZB_EUNSUPPORTED, "\"complex_\""},
        {"{\"name\":\"bfloat16\",\"configuration\":{\"x\":1}}", ZB_EUNSUPPORTED, "member \"x\""},
        {TIME("s", "0"), ZB_EFORMAT, "scale_factor is 0, expected an integer from 1 to 2147483647"},
        {TIME("s", "2147483648"), ZB_EFORMAT, "scale_factor is 2147483648"},
        {TIME("s", "1.5"), ZB_EFORMAT, "scale_factor is 1.5"},
        {TIME("sec", "1"), ZB_EFORMAT, "unit is \"sec\", expected one of Y M W"},
        {"\"numpy.datetime64\"", ZB_EFORMAT, "unit is missing"},
        {"{\"name\":\"numpy.datetime64\",\"configuration\":{\"unit\":\"s\"}}", ZB_EFORMAT,
         "scale_factor is missing"},
        {"{\"name\":\"numpy.datetime64\",\"configuration\":{\"unit\":\"s\",\"scale_factor\":1,"
         "\"x\":1}}",
         ZB_EUNSUPPORTED, "unknown member \"x\""},
        {LENGTH("null_terminated_bytes", "0"), ZB_EFORMAT,
         "length_bytes is 0, expected a positive"},
        {LENGTH("raw_bytes", "-1"), ZB_EFORMAT, "length_bytes is -1"},
        {LENGTH("raw_bytes", "99999999999"), ZB_ELIMIT, "the limit chunk_bytes"},
        {LENGTH("fixed_length_utf32", "6"), ZB_EFORMAT, "expected a positive multiple of 4"},
        {"\"fixed_length_utf32\"", ZB_EFORMAT, "length_bytes is missing"},
        {STRUCT("[]"), ZB_EFORMAT, "fields is [], expected a list of fields"},
        {"\"struct\"", ZB_EFORMAT, "fields is missing"},
        {STRUCT("3"), ZB_EFORMAT, "fields is 3"},
        {STRUCT("[[\"a\"]]"), ZB_EFORMAT, "a field is [\"a\"], expected a name and a data_type"},
        {STRUCT("[[\"a\",\"int8\",2]]"), ZB_EFORMAT, "a field is [\"a\",\"int8\",2]"},
        {STRUCT("[{\"name\":\"a\"}]"), ZB_EFORMAT, "a field is {\"name\":\"a\"}"},
        {STRUCT("[{\"name\":\"a\",\"data_type\":\"int8\",\"x\":1}]"), ZB_EFORMAT, "a field is"},
        {STRUCT("[[\"\",\"int8\"]]"), ZB_EFORMAT, "a field is"},
        {STRUCT("[[\"a\",\"int9\"]]"), ZB_EUNSUPPORTED, "field \"a\": data_type \"int9\""},
        {STRUCT("[[\"a\",\"string\"]]"), ZB_EFORMAT, "field \"a\" has no fixed size"},
        {STRUCT("[[\"a\",\"int8\"],[\"b\",\"int8\"],[\"a\",\"int8\"]]"), ZB_EFORMAT,
         "two fields have the name \"a\""},
        {STRUCT("[[\"a\",\"r8589934584\"],[\"b\",\"int64\"]]"), ZB_ELIMIT, "chunk_bytes"},
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

static void details(void **state) {
    (void)state;
    static const struct {
        const char *text, *printed;
    } rows[] = {
        {TIME("us", "10"), "numpy.timedelta64[10us]"},
        {TIME("\u03bcs", "1"), "numpy.timedelta64[us]"},
        {TIME("\u00b5s", "1"), "numpy.timedelta64[us]"},
        {TIME("generic", "1"), "numpy.timedelta64[generic]"},
        {LENGTH("null_terminated_bytes", "5"), "null_terminated_bytes[5]"},
        {"\"complex_float8_e4m3b11fnuz\"", "complex_float8_e4m3b11fnuz"},
        {STRUCT("[{\"name\":\"a\",\"data_type\":\"int16\"},{\"name\":\"n\",\"data_type\":" STRUCT(
             "[{\"name\":\"x\",\"data_type\":\"bfloat16\"},{\"data_type\":" TIME(
                 "D", "1") ",\"name\":\"t\"}]") "}]"),
         "struct{a: int16, n: struct{x: bfloat16, t: numpy.timedelta64[D]}}"},
        {"{\"name\":\"structured\",\"configuration\":{\"fields\":[[\"x\",\"float32\"],["
         "\"y\"," LENGTH("fixed_length_utf32", "8") "]]}}",
         "struct{x: float32, y: fixed_length_utf32[8]}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_dtype dtype;
        zb_error err = {0};
        char printed[100];
        zb_json *value; /* of the field names */
        ASSERT_OK(zb_json_parse(rows[i].text, strlen(rows[i].text), &value, &err), err);
        ASSERT_OK(zb__dtype_parse(value, &memory, &dtype, &err), err);
        assert_string_equal(zb_dtype_print(dtype, printed, sizeof printed), rows[i].printed);
        /* What is written is read as the same type again. */
        zb_json_writer *w = zb_json_writer_new();
        ASSERT_OK(zb__dtype_check(dtype, &err), err);
        zb__dtype_write(w, dtype);
        char *text = zb_json_writer_end(w, NULL);
        zb_json *again;
        zb_dtype second;
        ASSERT_OK(zb_json_parse(text, strlen(text), &again, &err), err);
        ASSERT_OK(zb__dtype_parse(again, &memory, &second, &err), err);
        assert_true(zb_dtype_equal(dtype, second));
        zb_json_free(again);
        zb_json_free(value);
        free(text);
    }
    zb__arena_free(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_the_types), cmocka_unit_test(refuses_others),
        cmocka_unit_test(details), /* last: it frees the memory of all */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
