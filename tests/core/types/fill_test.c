/* SPDX-License-Identifier: MIT */
/* Every JSON form of a fill value, to the bit, and the forms that are refused. */
#include "support/sample.h"

#include "types/dtype.h"
#include "types/fill.h"

typedef struct fill_row {
    const char *type, *text;
    uint64_t bits, high; /* the element's bytes as host integers; `high` for the second component */
} fill_row;

/* Details, and bytes of fill values, of all tests. */
static zb__arena memory;

static zb_dtype type_of(const char *name) {
    char text[60];
    zb_json *value;
    zb_dtype dtype;
    snprintf(text, sizeof text, "\"%s\"", name);
    assert_int_equal(zb_json_parse(text, strlen(text), &value, NULL), ZB_OK);
    assert_int_equal(zb__dtype_parse(value, &memory, &dtype, NULL), ZB_OK);
    zb_json_free(value);
    return dtype;
}

static enum zb_code parse(zb_dtype dtype, const char *text, void *out, bool *is_default,
                          zb_error *err) {
    zb_json *value;
    if (zb_json_parse(text, strlen(text), &value, err))
        fail_msg("%s: %s", text, err->message);
    zb__fill_form form;
    enum zb_code code = zb__fill_parse(value, dtype, &memory, out, &form, err);
    *is_default = form.is_default;
    zb_json_free(value);
    return code;
}

static uint64_t load(const void *data, uint32_t size) {
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (size) {
    case 1:
        memcpy(&u8, data, 1);
        return u8;
    case 2:
        memcpy(&u16, data, 2);
        return u16;
    case 4:
        memcpy(&u32, data, 4);
        return u32;
    default:
        memcpy(&u64, data, 8);
        return u64;
    }
}

static void check(const fill_row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        zb_dtype dtype = type_of(rows[i].type);
        uint8_t out[16];
        bool is_default = true;
        zb_error err = {0};
        memset(out, 0xaa, sizeof out);
        if (parse(dtype, rows[i].text, out, &is_default, &err))
            fail_msg("%s %s: %s", rows[i].type, rows[i].text, err.message);
        bool pair = dtype.kind == ZB_KIND_COMPLEX;
        uint32_t size = pair ? dtype.size / 2 : dtype.size;
        uint64_t bits = load(out, size);
        if (is_default || bits != rows[i].bits || (pair && load(out + size, size) != rows[i].high))
            fail_msg("%s %s: got %llx", rows[i].type, rows[i].text, (unsigned long long)bits);
    }
}

static void integers(void **state) {
    (void)state;
    static const fill_row rows[] = {
        {"bool", "true", 1, 0},
        {"bool", "false", 0, 0},
        {"bool", "1", 1, 0},
        {"bool", "0", 0, 0},
        {"bool", "1.0", 1, 0},
        {"bool", "-0", 0, 0},
        {"int8", "-128", 0x80, 0},
        {"int8", "127", 0x7f, 0},
        {"int8", "-1", 0xff, 0},
        {"int16", "-32768", 0x8000, 0},
        {"int32", "-2147483648", 0x80000000, 0},
        {"int64", "-9223372036854775808", 0x8000000000000000, 0},
        {"int64", "9223372036854775807", 0x7fffffffffffffff, 0},
        {"int64", "9007199254740993", 9007199254740993, 0},
        {"uint8", "255", 255, 0},
        {"uint16", "65535", 65535, 0},
        {"uint32", "4294967295", 4294967295, 0},
        {"uint64", "18446744073709551615", UINT64_MAX, 0},
        {"uint64", "9223372036854775809", 9223372036854775809u, 0},
        {"uint8", "-0", 0, 0},
        {"uint8", "7.0", 7, 0},
        {"uint8", "\"7\"", 7, 0},
        {"int16", "\"-7\"", 0xfff9, 0},
        {"int16", "-7.000", 0xfff9, 0},
        {"int32", "1e3", 1000, 0},
        {"uint64", "\"18446744073709551615\"", UINT64_MAX, 0},
        {"uint64", "18446744073709551615.0", UINT64_MAX, 0},
        {"uint64", "0", 0, 0},
    };
    check(rows, sizeof rows / sizeof *rows);
}

static void floats(void **state) {
    (void)state;
    static const fill_row rows[] = {
        {"float16", "1.5", 0x3e00, 0},
        {"float16", "0", 0, 0},
        {"float16", "-0.0", 0x8000, 0},
        {"float16", "65504", 0x7bff, 0},
        {"float16", "1e9", 0x7c00, 0},
        {"float16", "\"NaN\"", 0x7e00, 0},
        {"float16", "\"Infinity\"", 0x7c00, 0},
        {"float16", "\"-Infinity\"", 0xfc00, 0},
        {"float16", "\"0x7e01\"", 0x7e01, 0},
        /* Rounded twice, by way of a double, this would be 3c00. */
        {"float16", "1.0004882812500000000000001", 0x3c01, 0},
        {"float32", "0.1", 0x3dcccccd, 0},
        {"float32", "0.10000000149011612", 0x3dcccccd, 0},
        {"float32", "16777217", 0x4b800000, 0},
        {"float32", "-0.0", 0x80000000, 0},
        {"float32", "1.00000005960464477539062500000001", 0x3f800001, 0},
        {"float32", "\"NaN\"", 0x7fc00000, 0},
        {"float32", "NaN", 0x7fc00000, 0},
        {"float32", "Infinity", 0x7f800000, 0},
        {"float32", "-Infinity", 0xff800000, 0},
        {"float32", "\"+Infinity\"", 0x7f800000, 0},
        {"float32", "\"0x7fC00001\"", 0x7fc00001, 0},
        {"float32", "\"0xff800000\"", 0xff800000, 0},
        {"float32", "\"0b111111110000000000000000000000\"", 0x3fc00000, 0},
        {"float32", "\"0b11111111110000000000000000000001\"", 0xffc00001, 0},
        {"float32", "\"0b0\"", 0, 0},
        {"float32", "1e39", 0x7f800000, 0},
        {"float64", "0.1", 0x3fb999999999999a, 0},
        {"float64", "-9999", 0xc0c3878000000000, 0},
        {"float64", "9007199254740993", 0x4340000000000000, 0},
        {"float64", "\"NaN\"", 0x7ff8000000000000, 0},
        {"float64", "NaN", 0x7ff8000000000000, 0},
        {"float64", "\"Infinity\"", 0x7ff0000000000000, 0},
        {"float64", "\"-Infinity\"", 0xfff0000000000000, 0},
        {"float64", "\"0x7ff8000000000123\"", 0x7ff8000000000123, 0},
        {"float64", "4.9e-324", 1, 0},
        {"float64", "1e400", 0x7ff0000000000000, 0},
        {"complex64", "[1,-2.5]", 0x3f800000, 0xc0200000},
        {"complex64", "[\"NaN\",\"0x7fc00001\"]", 0x7fc00000, 0x7fc00001},
        {"complex128", "[0,\"-Infinity\"]", 0, 0xfff0000000000000},
        {"complex128", "[0.1,NaN]", 0x3fb999999999999a, 0x7ff8000000000000},
        {"complex_float32", "[-0.0,0]", 0x80000000, 0},
        {"complex64", "2", 0x40000000, 0},
        {"complex128", "-0.0", 0x8000000000000000, 0},
    };
    check(rows, sizeof rows / sizeof *rows);
}

static void raw_bytes(void **state) {
    (void)state;
    uint8_t out[3];
    bool is_default;
    zb_error err;
    assert_int_equal(parse(type_of("r24"), "[0,255,16]", out, &is_default, &err), ZB_OK);
    assert_memory_equal(out, "\x00\xff\x10", 3);
    assert_int_equal(parse(type_of("r8"), "[7]", out, &is_default, &err), ZB_OK);
    assert_int_equal(out[0], 7);
}

static void nothing_is_zero(void **state) {
    (void)state;
    static const char *const types[] = {"bool", "int64", "uint8", "float16", "complex128", "r128"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        zb_dtype dtype = type_of(types[i]);
        uint8_t out[16];
        static const uint8_t zeros[16];
        for (int missing = 0; missing < 2; missing++) {
            bool is_default = false;
            memset(out, 0xaa, sizeof out);
            zb__fill_form form = {.is_default = false};
            if (missing)
                assert_int_equal(zb__fill_parse(NULL, dtype, &memory, out, &form, NULL), ZB_OK);
            else
                assert_int_equal(parse(dtype, "null", out, &form.is_default, NULL), ZB_OK);
            is_default = form.is_default;
            assert_true(is_default);
            assert_memory_equal(out, zeros, dtype.size);
        }
    }
}

static void refuses_others(void **state) {
    (void)state;
    static const char *const rows[][3] = {
        {"bool", "2", "fill_value is 2, expected true or false for bool"},
        {"bool", "-1", "fill_value is -1"},
        {"bool", "0.5", "fill_value is 0.5"},
        {"bool", "\"true\"", "is \"true\""},
        {"bool", "NaN", "is NaN"},
        {"bool", "[]", "is []"},
        {"int8", "128", "fill_value is 128, expected an integer within range for int8"},
        {"int8", "-129", "is -129"},
        {"int64", "9223372036854775808", "expected an integer"},
        {"int64", "-9223372036854775809", "expected an integer"},
        {"uint8", "256", "is 256"},
        {"uint8", "-1", "is -1"},
        {"uint8", "\"256\"", "is \"256\""},
        {"uint64", "18446744073709551616", "for uint64"},
        {"uint64", "1e30", "is 1e30"},
        {"int32", "7.5", "is 7.5"},
        {"int32", "\"7.0\"", "is \"7.0\""},
        {"int32", "\"\"", "is \"\""},
        {"int32", "\"-\"", "is \"-\""},
        {"int32", "\"0x7\"", "is \"0x7\""},
        {"int32", "\" 7\"", ""},
        {"int32", "\"NaN\"", "is \"NaN\""},
        {"int32", "NaN", "is NaN"},
        {"int32", "Infinity", ""},
        {"int32", "true", "is true"},
        {"int32", "[7]", "is [7]"},
        {"int32", "{}", "is {}"},
        {"float32", "\"nan\"", "fill_value is \"nan\", expected a number, \"NaN\""},
        {"float32", "\"1.5\"", "is \"1.5\""},
        {"float32", "true", "is true"},
        {"float32", "[1]", "is [1]"},
        {"float32", "\"-NaN\"", "is \"-NaN\""},
        {"float32", "\"0x7fc0\"", "is \"0x7fc0\""},
        {"float32", "\"0x7fc000000\"", "hexadecimal"},
        {"float32", "\"0x7fc0000g\"", "hexadecimal"},
        {"float32", "\"7fc00000\"", "hexadecimal"},
        {"float32", "\"0X7fc00000\"", "hexadecimal"},
        {"float32", "\"0x\"", "hexadecimal"},
        {"float32", "\"0b\"", "is \"0b\""},
        {"float32", "\"0b2\"", "is \"0b2\""},
        {"float32", "\"0b111111111100000000000000000000011\"", "for float32"},
        {"float16", "\"0x7fc00000\"", "for float16"},
        {"float64", "\"0x7fc00000\"", "for float64"},
        {"complex64", "NaN", "fill_value is NaN, expected a list of two floats for complex64"},
        {"complex64", "-Infinity", "two floats"},
        {"complex64", "true", "two floats"},
        {"complex64", "[1]", "is [1]"},
        {"complex64", "[1,2,3]", "is [1,2,3]"},
        {"complex64", "[1,\"x\"]", "is [1,\"x\"]"},
        {"complex64", "\"NaN\"", "is \"NaN\""},
        {"complex64", "[1,null]", "is [1,null]"},
        {"complex128", "[0,\"0x7fc00000\"]", "complex128"},
        {"complex64", "{\"re\":1,\"im\":2}", "two floats"},
        {"r16", "[1]", "fill_value is [1], expected as many bytes as an element has for r16"},
        {"r16", "[1,2,3]", "as many bytes"},
        {"r16", "[1,256]", "from 0 to 255 for r16"},
        {"r16", "[1,-1]", "from 0 to 255"},
        {"r16", "[1,1.0]", "from 0 to 255"},
        {"r16", "258", "base64 text or a list"},
        {"r16", "\"AQID\"", "as many bytes"},
        {"r16", "\"AQI\"", "base64 text for r16"},
        {"r16", "\"AQ=I\"", "base64 text"},
        {"r16", "\"A*I=\"", "base64 text"},
        {"bytes", "3", "base64 text or a list"},
        {"bytes", "[256]", "from 0 to 255"},
        {"bytes", "\"=\"", "base64 text"},
        {"bytes", "\"==\"", "base64 text"},
        {"int4", "8", "a value that the type has for int4"},
        {"int4", "-9", "for int4"},
        {"uint2", "4", "for uint2"},
        {"uint2", "-1", "for uint2"},
        {"float8_e8m0fnu", "\"Infinity\"", "for float8_e8m0fnu"},
        {"float4_e2m1fn", "\"NaN\"", "for float4_e2m1fn"},
        {"float8_e5m2", "\"0x7c00\"", "for float8_e5m2"},
        {"bfloat16", "\"0x7c\"", "for bfloat16"},
        {"complex_bfloat16", "1", "a list of two values"},
        {"complex_bfloat16", "[1,\"x\"]", "a list of two values"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t out[16];
        bool is_default;
        zb_error err = {0};
        enum zb_code code = parse(type_of(rows[i][0]), rows[i][1], out, &is_default, &err);
        if (code != ZB_EFORMAT || !strstr(err.message, rows[i][2]))
            fail_msg("%s %s: %d %s", rows[i][0], rows[i][1], code, err.message);
    }
}

#define TIME "{\"name\":\"numpy.datetime64\",\"configuration\":{\"unit\":\"D\",\"scale_factor\":1}}"
#define LENGTH(name, bytes) "{\"name\":\"" name "\",\"configuration\":{\"length_bytes\":" bytes "}}"
#define STRUCT                                                                                     \
    "{\"name\":\"struct\",\"configuration\":{\"fields\":[[\"a\",\"int16\"],[\"b\",\"bool\"]]}}"

/* Types with a configuration, and small numbers: the bytes of the element on a little-endian
   machine; "!" begins a part of the message. */
static void others(void **state) {
    (void)state;
    static const struct {
        const char *type, *text, *bytes;
    } rows[] = {
        {TIME, "-2", "\xfe\xff\xff\xff\xff\xff\xff\xff"},
        {TIME, "\"NaT\"", "\0\0\0\0\0\0\0\x80"},
        {TIME, "-9223372036854775808", "\0\0\0\0\0\0\0\x80"},
        {TIME, "9223372036854775808", "!an integer or \"NaT\" for numpy.datetime64"},
        {TIME, "\"nat\"", "!an integer or"},
        {TIME, "1.5", "!an integer or"},
        {LENGTH("null_terminated_bytes", "4"), "\"AQI=\"", "\1\2\0\0"},
        {LENGTH("null_terminated_bytes", "4"), "\"\"", "\0\0\0\0"},
        {LENGTH("null_terminated_bytes", "4"), "[1,2,3]", "\1\2\3\0"},
        {LENGTH("null_terminated_bytes", "1"), "\"AQI=\"", "!at most as many bytes"},
        {LENGTH("raw_bytes", "2"), "\"AQI=\"", "\1\2"},
        {LENGTH("raw_bytes", "3"), "\"AQI=\"", "!as many bytes as an element has"},
        {LENGTH("raw_bytes", "3"), "{}", "!base64 text or a list"},
        {LENGTH("fixed_length_utf32", "8"), "\"\u00e9\"", "\xe9\0\0\0\0\0\0\0"},
        {LENGTH("fixed_length_utf32", "8"), "\"a\\ud834\\udd1e\"", "a\0\0\0\x1e\xd1\x01\0"},
        {LENGTH("fixed_length_utf32", "8"), "\"abc\"", "!no more code points"},
        {LENGTH("fixed_length_utf32", "8"), "3", "!a string for fixed_length_utf32"},
        {STRUCT, "{\"b\":true,\"a\":-2}", "\xfe\xff\1"},
        {STRUCT, "{\"b\":true,\"a\":null}", "\0\0\1"},
        {STRUCT, "\"AQIB\"", "\1\2\1"},
        {STRUCT, "{\"b\":true}", "!a value for each field for struct"},
        {STRUCT, "{\"b\":true,\"c\":1}", "!a value for each field"},
        {STRUCT, "{\"b\":3,\"a\":1}", "!field \"b\": fill_value is 3, expected true or false"},
        {STRUCT, "\"AQI=\"", "!as many bytes"},
        {STRUCT, "3", "!an object with a value for each field"},
        {"\"int4\"", "-8", "\xf8"},
        {"\"uint4\"", "15", "\x0f"},
        {"\"float8_e4m3\"", "1.0625", "\x38"},
        {"\"float8_e4m3\"", "\"NaN\"", "\x7c"},
        {"\"float8_e4m3\"", "\"-Infinity\"", "\xf8"},
        {"\"float8_e4m3\"", "\"0x7e\"", "\x7e"},
        {"\"float8_e4m3fnuz\"", "\"NaN\"", "\x80"},
        {"\"float8_e8m0fnu\"", "\"NaN\"", "\xff"},
        {"\"float6_e2m3fn\"", "-7.5", "\x3f"},
        {"\"bfloat16\"", "\"NaN\"", "\xc0\x7f"},
        {"\"bfloat16\"", "-1.5", "\xc0\xbf"},
        {"\"complex_bfloat16\"", "[1,\"Infinity\"]", "\x80\x3f\x80\x7f"},
        {"\"complex_float16\"", "[1,-2]", "\x00\x3c\x00\xc0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_json *type;
        zb_dtype dtype;
        uint8_t out[16];
        bool is_default;
        zb_error err = {0};
        assert_int_equal(zb_json_parse(rows[i].type, strlen(rows[i].type), &type, NULL), ZB_OK);
        assert_int_equal(zb__dtype_parse(type, &memory, &dtype, NULL), ZB_OK);
        enum zb_code code = parse(dtype, rows[i].text, out, &is_default, &err);
        const bool refused = *rows[i].bytes == '!';
        if ((code != ZB_OK) != refused || (refused && !strstr(err.message, rows[i].bytes + 1)) ||
            (!refused && memcmp(out, rows[i].bytes, dtype.size) != 0))
            fail_msg("%s %s: %d %s", rows[i].type, rows[i].text, code, err.message);
        zb_json_free(type);
    }
    zb__arena_free(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(floats),
        cmocka_unit_test(raw_bytes),
        cmocka_unit_test(nothing_is_zero),
        cmocka_unit_test(refuses_others),
        cmocka_unit_test(others), /* last: it frees the memory of all */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
