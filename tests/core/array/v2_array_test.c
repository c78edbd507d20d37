/* SPDX-License-Identifier: MIT */
/* Documents of version 2 word for word: what each member becomes in version 3. */
#include "support/check.h"

#include "array/v2_array.h"

static zb_json *parse(const char *text) {
    zb_json *json = NULL;
    zb_error err;
    if (text && zb_json_parse(text, strlen(text), &json, &err))
        fail_msg("%s: %s", text, err.message);
    return json;
}

/* A .zarray of shape [2,3] in chunks [2,2], int16, with these members as well. */
static char *document(const char *members) {
    static const struct {
        const char *name, *value;
    } others[] = {{"\"shape\"", "[2,3]"}, {"\"chunks\"", "[2,2]"},    {"\"dtype\"", "\"<i2\""},
                  {"\"order\"", "\"C\""}, {"\"fill_value\"", "null"}, {"\"zarr_format\"", "2"}};
    char *text = malloc(4096);
    size_t used = (size_t)snprintf(text, 4096, "{%s", members);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (!strstr(members, others[i].name))
            used += (size_t)snprintf(text + used, 4096 - used, "%s%s:%s", used > 1 ? "," : "",
                                     others[i].name, others[i].value);
    }
    snprintf(text + used, 4096 - used, "}");
    return text;
}

static enum zb_code translate(const char *members, const char *attributes, zb_json **out,
                              zb_error *err) {
    char *zarray_text = document(members), *text = NULL;
    size_t size;
    zb_json *zarray = parse(zarray_text), *zattrs = parse(attributes);
    enum zb_code code = zb__v2_array(zarray, zattrs, &text, &size, err);
    *out = code ? NULL : parse(text);
    free(text);
    free(zarray_text);
    zb_json_free(zarray);
    zb_json_free(zattrs);
    return code;
}

typedef struct row {
    const char *members, *expected; /* of .zarray; the member of zarr.json in question */
} row;

static void check_rows(const char *member, const row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        zb_json *json;
        zb_error err = {0};
        if (translate(rows[i].members, NULL, &json, &err))
            fail_msg("%s: %s", rows[i].members, err.message);
        char *text = zb_json_print(zb_json_get(json, member));
        if (strcmp(text, rows[i].expected) != 0)
            fail_msg("%s\n gave %s\n expected %s", rows[i].members, text, rows[i].expected);
        free(text);
        zb_json_free(json);
    }
}
#define CHECK_ROWS(member, rows) check_rows(member, rows, sizeof(rows) / sizeof *(rows))

static void types(void **state) {
    (void)state;
    static const row rows[] = {
        {"\"dtype\":\"|b1\"", "\"bool\""},
        {"\"dtype\":\"<b1\"", "\"bool\""},
        {"\"dtype\":\"|i1\"", "\"int8\""},
        {"\"dtype\":\">i4\"", "\"int32\""},
        {"\"dtype\":\"<u8\"", "\"uint64\""},
        {"\"dtype\":\"<f2\"", "\"float16\""},
        {"\"dtype\":\">c8\"", "\"complex64\""},
        {"\"dtype\":\"<c16\"", "\"complex128\""},
        {"\"dtype\":\"|V3\"", "{\"name\":\"raw_bytes\",\"configuration\":{\"length_bytes\":3}}"},
        {"\"dtype\":\"|S5\"",
         "{\"name\":\"null_terminated_bytes\",\"configuration\":{\"length_bytes\":5}}"},
        {"\"dtype\":\"<U5\"",
         "{\"name\":\"fixed_length_utf32\",\"configuration\":{\"length_bytes\":20}}"},
        {"\"dtype\":\"<M8[25us]\"", "{\"name\":\"numpy.datetime64\",\"configuration\":{\"unit\":"
                                    "\"us\",\"scale_factor\":25}}"},
        {"\"dtype\":\">m8[D]\"", "{\"name\":\"numpy.timedelta64\",\"configuration\":{\"unit\":"
                                 "\"D\",\"scale_factor\":1}}"},
        {"\"dtype\":\"<M8\"", "{\"name\":\"numpy.datetime64\",\"configuration\":{\"unit\":"
                              "\"generic\",\"scale_factor\":1}}"},
        {"\"dtype\":\"|O\",\"filters\":[{\"id\":\"vlen-utf8\"}]", "\"string\""},
        {"\"dtype\":\"<U5\",\"filters\":[{\"id\":\"vlen-utf8\"}]", "\"string\""},
        {"\"dtype\":\"|S5\",\"filters\":[{\"id\":\"vlen-bytes\"}]", "\"bytes\""},
        {"\"dtype\":\"|O\",\"filters\":[{\"id\":\"vlen-bytes\"}]", "\"bytes\""},
        {"\"dtype\":[[\"a\",\">i4\"],[\"n\",[[\"b\",\"|u1\"]]]]",
         "{\"name\":\"struct\",\"configuration\":{\"fields\":[{\"name\":\"a\",\"data_type\":"
         "\"int32\"},{\"name\":\"n\",\"data_type\":{\"name\":\"struct\",\"configuration\":"
         "{\"fields\":[{\"name\":\"b\",\"data_type\":\"uint8\"}]}}}]}}"},
    };
    CHECK_ROWS("data_type", rows);
}

static void fill_values(void **state) {
    (void)state;
    static const row rows[] = {
        {"\"fill_value\":null", "null"},
        {"\"fill_value\":-3", "-3"},
        {"\"fill_value\":[5]", "5"},
        {"\"dtype\":\"<f8\",\"fill_value\":NaN", "NaN"},
        {"\"dtype\":\"<f8\",\"fill_value\":\"-Infinity\"", "\"-Infinity\""},
        {"\"dtype\":\"<c8\",\"fill_value\":[1.5,\"NaN\"]", "[1.5,\"NaN\"]"},
        {"\"dtype\":\"|V3\",\"fill_value\":\"AQID\"", "\"AQID\""},
        {"\"dtype\":\"|V3\",\"fill_value\":0", "null"},
        {"\"dtype\":\"|S3\",\"fill_value\":\"YWI=\"", "\"YWI=\""},
        {"\"dtype\":\"|S3\",\"fill_value\":0", "\"\""},
        {"\"dtype\":\"<U3\",\"fill_value\":\"\\u00e9\"", "\"\xc3\xa9\""},
        {"\"dtype\":\"<M8[s]\",\"fill_value\":-9223372036854775808", "-9223372036854775808"},
        {"\"dtype\":\"|O\",\"filters\":[{\"id\":\"vlen-utf8\"}],\"fill_value\":0", "\"\""},
        {"\"dtype\":\"|O\",\"filters\":[{\"id\":\"vlen-utf8\"}],\"fill_value\":\"x\"", "\"x\""},
        {"\"dtype\":[[\"a\",\">i2\"],[\"b\",\">f4\"],[\"c\",\"|b1\"],[\"d\",\"|S2\"]],"
         "\"fill_value\":\"//8/gAAAAXgA\"",
         "{\"a\":-1,\"b\":1.0,\"c\":true,\"d\":\"eA==\"}"},
        {"\"dtype\":[[\"t\",\"<U2\"],[\"u\",\"<u8\"]],\"fill_value\":\"6QAAAAAAAAD//////////w==\"",
         "{\"t\":\"\xc3\xa9\",\"u\":18446744073709551615}"},
        {"\"dtype\":[[\"a\",\">i2\"]],\"fill_value\":0", "null"},
    };
    CHECK_ROWS("fill_value", rows);
}

#define LITTLE "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
#define BIG "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}"

static void codecs(void **state) {
    (void)state;
    static const row rows[] = {
        {"", "[" LITTLE "]"},
        {"\"filters\":[],\"compressor\":null", "[" LITTLE "]"},
        {"\"dtype\":\">i2\"", "[" BIG "]"},
        {"\"dtype\":\"|u1\"", "[{\"name\":\"bytes\"}]"},
        {"\"order\":\"F\"",
         "[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}," LITTLE "]"},
        {"\"order\":\"F\",\"shape\":[4],\"chunks\":[2]", "[" LITTLE "]"},
        {"\"compressor\":{\"id\":\"zlib\",\"level\":1,\"strange\":[{}]}",
         "[" LITTLE ",{\"name\":\"numcodecs.zlib\",\"configuration\":{\"level\":1}}]"},
        {"\"compressor\":{\"id\":\"gzip\"}",
         "[" LITTLE ",{\"name\":\"gzip\",\"configuration\":{\"level\":1}}]"},
        {"\"compressor\":{\"id\":\"zstd\",\"level\":3,\"checksum\":\"NO \"}",
         "[" LITTLE ",{\"name\":\"zstd\",\"configuration\":{\"level\":3,\"checksum\":false}}]"},
        {"\"compressor\":{\"id\":\"blosc\",\"cname\":\"zstd\",\"clevel\":3,\"shuffle\":-1,"
         "\"blocksize\":0}",
         "[" LITTLE ",{\"name\":\"blosc\",\"configuration\":{\"cname\":\"zstd\",\"clevel\":3,"
         "\"shuffle\":\"shuffle\",\"typesize\":2,\"blocksize\":0}}]"},
        {"\"dtype\":\"|u1\",\"compressor\":{\"id\":\"blosc\",\"cname\":\"lz4\",\"clevel\":5,"
         "\"shuffle\":-1,\"typesize\":\"x\"}",
         "[{\"name\":\"bytes\"},{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\","
         "\"clevel\":"
         "5,\"shuffle\":\"bitshuffle\",\"typesize\":1,\"blocksize\":0}}]"},
        {"\"dtype\":\">i2\",\"filters\":[{\"id\":\"delta\",\"dtype\":\">i2\",\"astype\":\">i4\"}]",
         "[{\"name\":\"numcodecs.delta\",\"configuration\":{\"dtype\":\"<i2\",\"astype\":\"<i4\"}}"
         "," BIG "]"},
        {"\"compressor\":{\"id\":\"crc32c\",\"location\":\"end\"}",
         "[" LITTLE ",{\"name\":\"crc32c\",\"configuration\":{}}]"},
        {"\"compressor\":{\"id\":\"crc32c\",\"location\":\"start\"}",
         "[" LITTLE ",{\"name\":\"numcodecs.crc32c\",\"configuration\":{\"location\":\"start\"}}]"},
        {"\"dtype\":\"|O\",\"filters\":[{\"id\":\"vlen-utf8\"}],\"compressor\":{\"id\":\"gzip\","
         "\"level\":9}",
         "[{\"name\":\"vlen-utf8\",\"configuration\":{}},{\"name\":\"gzip\",\"configuration\":"
         "{\"level\":9}}]"},
    };
    CHECK_ROWS("codecs", rows);
}

/* Of codecs that are sorted by kind, whether or not this version has them: their names, and the
   byte order. */
static void sorts_codecs(void **state) {
    (void)state;
    static const row rows[] = {
        {"\"filters\":[{\"id\":\"shuffle\",\"elementsize\":2}],\"compressor\":{\"id\":\"lz4\"}",
         "bytes(little) numcodecs.shuffle numcodecs.lz4"},
        {"\"order\":\"F\",\"dtype\":\"<i2\",\"filters\":[{\"id\":\"delta\",\"dtype\":\"<i2\","
         "\"astype\":\">i4\"},"
         "{\"id\":\"crc32\"}]",
         "transpose numcodecs.delta bytes(big) numcodecs.crc32"},
        {"\"dtype\":\"|b1\",\"filters\":[{\"id\":\"packbits\"}]", "numcodecs.packbits bytes"},
        {"\"filters\":[{\"id\":\"astype\",\"encode_dtype\":\"|u1\",\"decode_dtype\":\"<i2\"}]",
         "numcodecs.astype bytes"},
        {"\"dtype\":\">f4\",\"filters\":[{\"id\":\"bitround\",\"keepbits\":3}]",
         "numcodecs.bitround bytes(big)"},
        {"\"dtype\":[[\"a\",\"<f8\"],[\"b\",\">f8\"]]", "zarrbridge.bytes"},
        {"\"dtype\":[[\"a\",\">f8\"],[\"b\",[[\"c\",\">i2\"],[\"d\",\"|u1\"]]]]", "bytes(big)"},
        {"\"compressor\":{\"id\":\"zfpy\"}", "numcodecs.zfpy"},
        {"\"compressor\":{\"id\":\"my_own\"}", "bytes(little) numcodecs.my_own"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_json *json;
        zb_error err = {0};
        char line[256];
        size_t used = 0;
        if (translate(rows[i].members, NULL, &json, &err))
            fail_msg("%s: %s", rows[i].members, err.message);
        const zb_json *list = zb_json_get(json, "codecs");
        for (const zb_json *c = zb_json_first(list); c; c = zb_json_next(c)) {
            const char *endian =
                zb_json_string(zb_json_get(zb_json_get(c, "configuration"), "endian"));
            used += (size_t)snprintf(line + used, sizeof line - used, "%s%s%s%s%s", used ? " " : "",
                                     zb_json_string(zb_json_get(c, "name")), endian ? "(" : "",
                                     endian ? endian : "", endian ? ")" : "");
        }
        assert_string_equal(line, rows[i].expected);
        zb_json_free(json);
    }
}

static void keys_and_grid(void **state) {
    (void)state;
    static const row keys[] = {
        {"", "{\"name\":\"v2\",\"configuration\":{\"separator\":\".\"}}"},
        {"\"dimension_separator\":null",
         "{\"name\":\"v2\",\"configuration\":{\"separator\":\".\"}}"},
        {"\"dimension_separator\":\"/\"",
         "{\"name\":\"v2\",\"configuration\":{\"separator\":\"/\"}}"},
    };
    static const row grids[] = {
        {"", "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[2,2]}}"},
        {"\"shape\":[0,3],\"chunks\":[0,3]",
         "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[1,3]}}"},
        {"\"shape\":[],\"chunks\":[]",
         "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[]}}"},
    };
    CHECK_ROWS("chunk_key_encoding", keys);
    CHECK_ROWS("chunk_grid", grids);
}

static void attributes(void **state) {
    (void)state;
    static const struct {
        const char *members, *zattrs, *attributes, *names;
    } rows[] = {
        {"", NULL, "{}", "null"},
        {"", "{\"_ARRAY_DIMENSIONS\":[\"y\",\"x\"],\"a\":[NaN,{\"b\":-Infinity}]}",
         "{\"a\":[\"NaN\",{\"b\":\"-Infinity\"}]}", "[\"y\",\"x\"]"},
        {"", "{\"_ARRAY_DIMENSIONS\":[\"y\"]}", "{\"_ARRAY_DIMENSIONS\":[\"y\"]}", "null"},
        {"", "{\"_ARRAY_DIMENSIONS\":[\"y\",1]}", "{\"_ARRAY_DIMENSIONS\":[\"y\",1]}", "null"},
        {"", "{\"_nczarr_array\":{\"dimrefs\":[\"/g/lat\",\"/lon\"]},\"_NCZARR_ATTR\":{},\"z\":1}",
         "{\"z\":1}", "[\"lat\",\"lon\"]"},
        {"\"_NCZARR_ARRAY\":{\"dimension_references\":[\"/a\",\"/b\"]}", NULL, "{}",
         "[\"a\",\"b\"]"},
        {"\"fill_value\":0", NULL, "{\"_FillValue\":0}", "null"},
        {"\"fill_value\":[7]", "{\"_FillValue\":9}", "{\"_FillValue\":9}", "null"},
        {"\"dtype\":\"<f4\",\"fill_value\":\"NaN\"", NULL, "{\"_FillValue\":\"AAAAAAAA+H8=\"}",
         "null"},
        {"\"dtype\":\"<f8\",\"fill_value\":NaN", NULL, "{\"_FillValue\":\"AAAAAAAA+H8=\"}", "null"},
        {"\"dtype\":\"<f4\",\"fill_value\":0.1", NULL, "{\"_FillValue\":\"AAAAoJmZuT8=\"}", "null"},
        {"\"dtype\":\"<f2\",\"fill_value\":\"-Infinity\"", NULL,
         "{\"_FillValue\":\"AAAAAAAA8P8=\"}", "null"},
        {"\"dtype\":\"|b1\",\"fill_value\":false", NULL, "{}", "null"},
        {"\"dtype\":\"<c8\",\"fill_value\":0", NULL, "{}", "null"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_json *json;
        zb_error err = {0};
        if (translate(rows[i].members, rows[i].zattrs, &json, &err))
            fail_msg("row %zu: %s", i, err.message);
        char *text = zb_json_print(zb_json_get(json, "attributes"));
        const zb_json *list = zb_json_get(json, "dimension_names");
        char *names = list ? zb_json_print(list) : strdup("null");
        assert_string_equal(text, rows[i].attributes);
        assert_string_equal(names, rows[i].names);
        free(text);
        free(names);
        zb_json_free(json);
    }
}

static void refuses(void **state) {
    (void)state;
    static const struct {
        const char *members, *zattrs;
        enum zb_code code;
        const char *message;
    } rows[] = {
        {"\"zarr_format\":3", NULL, ZB_EFORMAT, "zarr_format is 3"},
        {"\"zarr_format\":\"2\"", NULL, ZB_EFORMAT, "zarr_format is \"2\""},
        {"", "[]", ZB_EFORMAT, ".zattrs is []"},
        {"\"shape\":5", NULL, ZB_EFORMAT, "shape is 5"},
        {"\"chunks\":true", NULL, ZB_EFORMAT, "chunks is true"},
        {"\"dtype\":5", NULL, ZB_EFORMAT, "dtype is 5"},
        {"\"dtype\":[]", NULL, ZB_EFORMAT, "dtype is []"},
        {"\"dtype\":[[\"a\"]]", NULL, ZB_EFORMAT, "field [\"a\"]"},
        {"\"dtype\":[[\"a\",\"<f8\",[2]]]", NULL, ZB_EUNSUPPORTED, "arrays within a struct"},
        {"\"dtype\":\"\"", NULL, ZB_EUNSUPPORTED, "dtype \"\""},
        {"\"dtype\":\"<\"", NULL, ZB_EUNSUPPORTED, "dtype \"<\""},
        {"\"dtype\":\"i4\"", NULL, ZB_EUNSUPPORTED, "dtype \"i4\""},
        {"\"dtype\":\"|i4\"", NULL, ZB_EUNSUPPORTED, "dtype \"|i4\""},
        {"\"dtype\":\"<i3\"", NULL, ZB_EUNSUPPORTED, "dtype \"<i3\""},
        {"\"dtype\":\"<i4x\"", NULL, ZB_EUNSUPPORTED, "dtype \"<i4x\""},
        {"\"dtype\":\"<f16\"", NULL, ZB_EUNSUPPORTED, "dtype \"<f16\""},
        {"\"dtype\":\"|V99999999999999999999\"", NULL, ZB_EUNSUPPORTED, "dtype"},
        {"\"dtype\":\"<M8[0s]\"", NULL, ZB_EUNSUPPORTED, "dtype"},
        {"\"dtype\":\"<M8[parsec]\"", NULL, ZB_EUNSUPPORTED, "dtype"},
        {"\"dtype\":\"<M8[s\"", NULL, ZB_EUNSUPPORTED, "dtype"},
        {"\"dtype\":\"|O\"", NULL, ZB_EUNSUPPORTED, "without a filter"},
        {"\"dtype\":\"|O\",\"filters\":[{\"id\":\"pickle\"}]", NULL, ZB_EUNSUPPORTED, "pickle"},
        {"\"filters\":[{\"id\":\"pickle\"}]", NULL, ZB_EUNSUPPORTED, "never read"},
        {"\"filters\":[{\"id\":\"json2\"}]", NULL, ZB_EUNSUPPORTED, "filters[0]: json2"},
        {"\"filters\":[{\"id\":\"shuffle\"},{\"id\":\"delta\"}]", NULL, ZB_EUNSUPPORTED,
         "filters[1]: delta: a codec of arrays behind"},
        {"\"order\":\"F\",\"compressor\":{\"id\":\"zfpy\"}", NULL, ZB_EUNSUPPORTED,
         "memory order F"},
        {"\"filters\":{}", NULL, ZB_EFORMAT, "filters is {}"},
        {"\"filters\":[null]", NULL, ZB_EFORMAT, "expected an object with an id"},
        {"\"compressor\":\"zstd\"", NULL, ZB_EFORMAT, "compressor: \"zstd\""},
        {"\"order\":\"A\"", NULL, ZB_EFORMAT, "order is \"A\""},
        {"\"dimension_separator\":\"-\"", NULL, ZB_EFORMAT, "dimension_separator is \"-\""},
        {"\"dtype\":\"|V3\",\"fill_value\":\"AQ==\"", NULL, ZB_EFORMAT, "one element"},
        {"\"dtype\":\"|V4000000000\",\"fill_value\":\"AQ==\"", NULL, ZB_EFORMAT, "one element"},
        {"\"dtype\":\"|V3\",\"fill_value\":5", NULL, ZB_EFORMAT, "one element"},
        {"\"dtype\":[[\"t\",\"<U1\"]],\"fill_value\":\"AAARAA==\"", NULL, ZB_EFORMAT,
         "code points"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_json *json;
        zb_error err = {0};
        enum zb_code code = translate(rows[i].members, rows[i].zattrs, &json, &err);
        if (code != rows[i].code || !strstr(err.message, rows[i].message))
            fail_msg("%s gave %s: %s", rows[i].members, zb_code_name(code), err.message);
        zb_json_free(json);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types),         cmocka_unit_test(fill_values),
        cmocka_unit_test(codecs),        cmocka_unit_test(sorts_codecs),
        cmocka_unit_test(keys_and_grid), cmocka_unit_test(attributes),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
