/* SPDX-License-Identifier: MIT */
/* The members of an array's document and the model made of them. */
#include "support/sample.h"

#include "node/node.h"
#include "array/array.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))
#define GRID(shape) "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":" shape "}}"
#define KEYS(name, configuration) "{\"name\":\"" name "\",\"configuration\":" configuration "}"

static void shapes_and_grids(void **state) {
    (void)state;
    static const sample_row rows[] = {
        {"shape", NULL, ZB_EFORMAT, "array /: the member shape is missing"},
        {"shape", "null", ZB_EFORMAT, "shape is null, expected a list of integers"},
        {"shape", "10", ZB_EFORMAT, "shape is 10, expected a list"},
        {"shape", "{}", ZB_EFORMAT, "shape is {}, expected a list"},
        {"shape", "[10,-1]", ZB_EFORMAT, "shape[1] is -1, expected an integer of at least 0"},
        {"shape", "[10,20.0]", ZB_EFORMAT, "shape[1] is 20.0"},
        {"shape", "[\"10\",20]", ZB_EFORMAT, "shape[0] is \"10\""},
        {"shape", "[null,20]", ZB_EFORMAT, "shape[0] is null"},
        {"shape", "[0,20]", ZB_OK, NULL},
        {"shape", "[1,20]", ZB_OK, NULL}, /* chunks larger than the array */
        {"shape", "[1,4611686018427387903]", ZB_OK, NULL},
        {"shape", "[1,4611686018427387904]", ZB_ELIMIT, "more than 2^63-1 bytes"},
        {"shape", "[4611686018427387904,4611686018427387904]", ZB_ELIMIT, "more than 2^63-1 bytes"},
        {"shape", "[9223372036854775807,0]", ZB_OK, NULL},
        {"shape", "[9223372036854775808,0]", ZB_ELIMIT,
         "shape[0] is 9223372036854775808, the limit is 2^63-1"},
        {"shape", "[18446744073709551616,1]", ZB_EFORMAT, "shape[0] is 18446744073709551616"},
        {"shape", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", ZB_ELIMIT,
         "shape has 33 dimensions, the limit ZB_MAX_NDIM is 32"},
        {"shape", "[10]", ZB_EFORMAT, "chunk_shape is [4,5], expected a list of 1 integers"},
        {"shape", "[]", ZB_EFORMAT, "chunk_shape is [4,5], expected a list of 0 integers"},
        {"data_type", NULL, ZB_EFORMAT, "the member data_type is missing"},
        {"data_type", "\"text\"", ZB_EUNSUPPORTED, "data_type \"text\" is not supported"},
        {"data_type", "\"string\"", ZB_EFORMAT, "fill_value is 7, expected a string for string"},
        {"data_type", "{\"name\":\"int16\"}", ZB_OK, NULL},
        {"fill_value", NULL, ZB_OK, NULL},
        {"fill_value", "null", ZB_OK, NULL},
        {"fill_value", "40000", ZB_EFORMAT, "fill_value is 40000"},
        {"chunk_grid", NULL, ZB_EFORMAT, "the member chunk_grid is missing"},
        {"chunk_grid", "\"regular\"", ZB_EFORMAT, "chunk_shape is missing, expected a list of 2"},
        {"chunk_grid", "\"hexagonal\"", ZB_EUNSUPPORTED,
         "chunk_grid \"hexagonal\" is not supported, expected \"regular\" or \"rectilinear\""},
        {"chunk_grid", "{\"name\":\"regular\"}", ZB_EFORMAT, "chunk_shape is missing"},
        {"chunk_grid", "{\"configuration\":{\"chunk_shape\":[4,5]}}", ZB_EFORMAT,
         "chunk_grid: name is missing"},
        {"chunk_grid", "[4,5]", ZB_EFORMAT, "chunk_grid is [4,5], expected a name or"},
        {"chunk_grid", "null", ZB_EFORMAT, "chunk_grid is null"},
        {"chunk_grid", GRID("[4]"), ZB_EFORMAT, "chunk_shape is [4], expected a list of 2"},
        {"chunk_grid", GRID("[4,5,6]"), ZB_EFORMAT, "chunk_shape is [4,5,6]"},
        {"chunk_grid", GRID("4"), ZB_EFORMAT, "chunk_shape is 4"},
        {"chunk_grid", GRID("[4,0]"), ZB_EFORMAT,
         "chunk_grid: chunk_shape[1] is 0, expected an integer of at least 1"},
        {"chunk_grid", GRID("[-4,5]"), ZB_EFORMAT, "chunk_shape[0] is -4"},
        {"chunk_grid", GRID("[4.0,5]"), ZB_EFORMAT, "chunk_shape[0] is 4.0"},
        {"chunk_grid", GRID("[[4,4,2],5]"), ZB_EFORMAT, "chunk_shape[0] is [4,4,2]"},
        {"chunk_grid", GRID("[9223372036854775808,5]"), ZB_ELIMIT, "chunk_shape[0] is"},
        {"chunk_grid", GRID("[4611686018427387904,1]"), ZB_ELIMIT, "chunk_bytes"},
        {"chunk_grid", GRID("[4611686018427387904,4611686018427387904]"), ZB_ELIMIT, "chunk_bytes"},
        {"chunk_grid", GRID("[40,50]"), ZB_OK, NULL},
        {"chunk_grid", GRID("[4,5],\"x\":1"), ZB_EUNSUPPORTED,
         "chunk_grid: the configuration of \"regular\" has an unknown member \"x\""},
        {"chunk_grid",
         "{\"name\":\"regular\",\"must_understand\":true,\"configuration\":{\"chunk_shape\":[4,5]}"
         "}",
         ZB_OK, NULL},
    };
    sample_check(sample_array, rows, COUNT(rows));
}

static void keys_and_names(void **state) {
    (void)state;
    static const sample_row rows[] = {
        {"chunk_key_encoding", NULL, ZB_EFORMAT, "the member chunk_key_encoding is missing"},
        {"chunk_key_encoding", "null", ZB_EFORMAT, "chunk_key_encoding is null"},
        {"chunk_key_encoding", "\"default\"", ZB_OK, NULL},
        {"chunk_key_encoding", "\"v2\"", ZB_OK, NULL},
        {"chunk_key_encoding", "{\"name\":\"default\"}", ZB_OK, NULL},
        {"chunk_key_encoding", KEYS("default", "{}"), ZB_OK, NULL},
        {"chunk_key_encoding", KEYS("v2", "{\"separator\":\"/\"}"), ZB_OK, NULL},
        {"chunk_key_encoding", KEYS("other", "{}"), ZB_EUNSUPPORTED,
         "chunk_key_encoding \"other\" is not supported, expected \"default\", \"v2\", \"fanout\" "
         "or "
         "\"suffix\""},
        {"chunk_key_encoding", KEYS("default", "null"), ZB_EFORMAT, "configuration is null"},
        {"chunk_key_encoding", KEYS("default", "{\"separator\":\"-\"}"), ZB_EFORMAT,
         "separator is \"-\", expected \"/\" or \".\""},
        {"chunk_key_encoding", KEYS("default", "{\"separator\":\"\"}"), ZB_EFORMAT,
         "separator is \"\""},
        {"chunk_key_encoding", KEYS("default", "{\"separator\":\"//\"}"), ZB_EFORMAT,
         "separator is \"//\""},
        {"chunk_key_encoding", KEYS("default", "{\"separator\":null}"), ZB_EFORMAT,
         "separator is null"},
        {"chunk_key_encoding", KEYS("default", "{\"order\":\"C\"}"), ZB_EUNSUPPORTED,
         "unknown member \"order\""},
        {"dimension_names", "null", ZB_OK, NULL},
        {"dimension_names", "[\"y\",\"x\"]", ZB_OK, NULL},
        {"dimension_names", "[\"y\",null]", ZB_OK, NULL},
        {"dimension_names", "[\"y\",\"y\"]", ZB_OK, NULL},
        {"dimension_names", "[\"\",\"x\"]", ZB_OK, NULL},
        {"dimension_names", "[\"x\"]", ZB_EFORMAT,
         "dimension_names is [\"x\"], expected a list of 2"},
        {"dimension_names", "[]", ZB_EFORMAT, "dimension_names is []"},
        {"dimension_names", "[\"z\",\"y\",\"x\"]", ZB_EFORMAT, "dimension_names is"},
        {"dimension_names", "\"yx\"", ZB_EFORMAT, "dimension_names is \"yx\""},
        {"dimension_names", "[\"y\",1]", ZB_EFORMAT, "dimension_names[1] is 1, expected a name"},
        {"codecs", "null", ZB_EFORMAT, "codecs is null, expected a list"},
        {"codecs", "{}", ZB_EFORMAT, "codecs is {}, expected a list"},
        {"codecs", "[\"bytes\",\"nonsense\"]", ZB_EUNSUPPORTED, "nonsense"},
    };
    sample_check(sample_array, rows, COUNT(rows));
}

static void describes_an_array(void **state) {
    (void)state;
    char *text = sample_array("dimension_names", "[null,\"x\"]");
    zb_node *node = sample_node(text);
    const zb_array_info *info = zb_node_array(node);
    assert_int_equal(info->ndim, 2);
    assert_int_equal(info->shape[0], 10);
    assert_int_equal(info->shape[1], 20);
    assert_int_equal(info->chunk_shape[0], 4);
    assert_int_equal(info->chunk_shape[1], 5);
    assert_int_equal(info->inner_shape[0], 4);
    assert_int_equal(info->inner_shape[1], 5);
    assert_int_equal(info->shard_depth, 0);
    assert_null(info->dimension_names[0]);
    assert_string_equal(info->dimension_names[1], "x");
    assert_int_equal(info->dtype.kind, ZB_KIND_INT);
    assert_int_equal(info->dtype.size, 2);
    int16_t fill;
    memcpy(&fill, info->fill_value, sizeof fill);
    assert_int_equal(fill, 7);
    assert_false(info->fill_is_default);
    assert_int_equal(info->codec_count, 1);
    assert_string_equal(info->codecs[0].name, "bytes");
    assert_string_equal(zb_json_string(zb_json_get(info->codecs[0].configuration, "endian")),
                        "little");
    zb_node_release(node);
    free(text);
}

static void describes_defaults(void **state) {
    (void)state;
    static const char text[] =
        "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[],\"data_type\":\"uint8\","
        "\"chunk_grid\":" GRID("[]") ",\"chunk_key_encoding\":\"v2\",\"codecs\":[\"bytes\"]}";
    zb_node *node = sample_node(text);
    const zb_array_info *info = zb_node_array(node);
    assert_int_equal(info->ndim, 0);
    assert_null(info->dimension_names);
    assert_true(info->fill_is_default);
    assert_int_equal(*(const uint8_t *)info->fill_value, 0);
    assert_null(info->codecs[0].configuration);
    assert_null(zb_node_attributes(node));
    zb_node_release(node);
}

/* The inner shape is told in the array's dimensions, also with a transpose around the shards. */
static void finds_the_innermost_chunk(void **state) {
    (void)state;
    static const char text[] =
        "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[40,60,80],\"data_type\":\"int16\","
        "\"chunk_grid\":" GRID(
            "[8,12,16]") ",\"chunk_key_encoding\":\"default\",\"fill_value\":0,"
                         "\"codecs\":[{\"name\":\"transpose\",\"configuration\":{\"order\":[2,0,1]}"
                         "},"
                         "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[16,4,"
                         "6],"
                         "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":"
                         "\"little\"}},"
                         "{\"name\":\"crc32c\"}],\"codecs\":["
                         "{\"name\":\"transpose\",\"configuration\":{\"order\":[1,2,0]}},"
                         "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2,3,4]"
                         ","
                         "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":"
                         "\"little\"}}],"
                         "\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}},"
                         "{\"name\":\"gzip\",\"configuration\":{\"level\":1}}]}}]}},"
                         "{\"name\":\"crc32c\"}]}";
    zb_node *node = sample_node(text);
    const zb_array_info *info = zb_node_array(node);
    static const uint64_t inner[] = {2, 3, 4};
    assert_int_equal(info->shard_depth, 2);
    assert_memory_equal(info->inner_shape, inner, sizeof inner);
    assert_false(info->dtype.swapped);
    static const struct {
        const char *name;
        uint32_t level;
    } codecs[] = {{"transpose", 0}, {"sharding_indexed", 0},
                  {"transpose", 1}, {"sharding_indexed", 1},
                  {"bytes", 2},     {"gzip", 2},
                  {"crc32c", 0}};
    assert_int_equal(info->codec_count, COUNT(codecs));
    for (size_t i = 0; i < COUNT(codecs); i++) {
        assert_string_equal(info->codecs[i].name, codecs[i].name);
        assert_int_equal(info->codecs[i].shard_level, codecs[i].level);
    }
    zb_node_release(node);
}

static void counts_chunks(void **state) {
    (void)state;
    static const struct {
        const char *shape; /* in chunks of [4,5] */
        uint64_t count[2];
    } rows[] = {
        {"[0,20]", {0, 4}}, {"[1,21]", {1, 5}},
        {"[4,19]", {1, 4}}, {"[9223372036854775807,0]", {UINT64_C(1) << 61, 0}},
        {"[5,1]", {2, 1}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text = sample_array("shape", rows[i].shape);
        zb_node *node = sample_node(text);
        assert_memory_equal(node->array->chunk_count, rows[i].count, sizeof rows[i].count);
        zb_node_release(node);
        free(text);
    }
}

static void parses_keys(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum zb__key_form form;
        char separator;
    } rows[] = {
        {"\"default\"", ZB__KEYS_DEFAULT, '/'},
        {"\"v2\"", ZB__KEYS_V2, '.'},
        {KEYS("default", "{\"separator\":\".\"}"), ZB__KEYS_DEFAULT, '.'},
        {KEYS("default", "{\"separator\":\"/\"}"), ZB__KEYS_DEFAULT, '/'},
        {KEYS("v2", "{}"), ZB__KEYS_V2, '.'},
        {KEYS("v2", "{\"separator\":\"/\"}"), ZB__KEYS_V2, '/'},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text = sample_array("chunk_key_encoding", rows[i].text);
        zb_node *node = sample_node(text);
        assert_int_equal(node->array->keys.form, rows[i].form);
        assert_int_equal(node->array->keys.separator, rows[i].separator);
        zb_node_release(node);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_and_grids),
        cmocka_unit_test(keys_and_names),
        cmocka_unit_test(describes_an_array),
        cmocka_unit_test(describes_defaults),
        cmocka_unit_test(finds_the_innermost_chunk),
        cmocka_unit_test(counts_chunks),
        cmocka_unit_test(parses_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
