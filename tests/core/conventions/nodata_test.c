/* SPDX-License-Identifier: MIT */
/* The nodata value of arrays: attributes before the fill value, and when the fill value counts. */
#include <math.h>

#include "support/sample.h"
#include "zarrbridge/conventions.h"

/* An array of that type, fill value and attributes. */
static zb_node *array_of(const char *type, const char *fill, const char *attributes) {
    char *text;
    assert_true(asprintf(&text,
                         "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[2],"
                         "\"data_type\":\"%s\",\"fill_value\":%s,\"attributes\":%s,"
                         "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":"
                         "{\"chunk_shape\":[2]}},\"chunk_key_encoding\":{\"name\":\"default\"},"
                         "\"codecs\":[%s]}",
                         type, fill, attributes,
                         strcmp(type, "string") == 0
                             ? "\"vlen-utf8\""
                             : "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}") >
                0);
    zb_node *node = sample_node(text);
    free(text);
    return node;
}

#define NONE (-12345.0)

static const struct {
    const char *type, *fill, *attributes;
    double value;
    bool fill_counts;
} rows[] = {
    {"int16", "0", "{}", NONE, false},
    {"int16", "-7", "{}", -7, true},
    {"int16", "-7", "{\"_FillValue\":5}", 5, true},
    {"int16", "-7", "{\"missing_value\":6}", 6, true},
    {"int16", "-7", "{\"_FillValue\":5,\"missing_value\":6}", 5, true},
    {"int16", "-7", "{\"_FillValue\":1.5,\"missing_value\":6}", 6, true},
    {"int16", "-7", "{\"_FillValue\":\"none\"}", -7, true},
    {"int16", "0", "{\"missing_value\":[9,8]}", 9, false},
    {"int16", "0", "{\"_CRS\":{}}", 0, true},
    {"int16", "0", "{\"_CRS\":{},\"grid_mapping\":\"crs\"}", NONE, false},
    {"int16", "-7", "{\"zarrbridge:fill_value_is_nodata\":false}", NONE, false},
    {"int16", "-7", "{\"zarrbridge:fill_value_is_nodata\":true}", -7, true},
    {"int16", "-7", "{\"zarrbridge:fill_value_is_nodata\":false,\"_FillValue\":0}", 0, false},
    {"int16", "-7",
     "{\"zarrbridge:gdal\":\"{\\\"version\\\":1,\\\"fill_value_is_nodata\\\":false}\"}", NONE,
     false},
    {"float32", "null", "{\"_CRS\":{}}", NONE, false},
    {"float32", "\"-Infinity\"", "{}", -INFINITY, true},
    {"float32", "0.0", "{\"_FillValue\":\"AAAAAICHw8A=\"}", -9999, false},
    {"float32", "-0.0", "{}", NONE, false},
    {"float64", "1.5", "{\"_FillValue\":\"-inf\"}", -INFINITY, true},
    {"bool", "true", "{\"_FillValue\":1}", NONE, false},
    {"complex64", "[1.0,0.0]", "{\"_FillValue\":1}", NONE, true},
    {"complex64", "[0.0,-1.0]", "{}", NONE, true},
    {"complex64", "[0.0,\"NaN\"]", "{}", NONE, true},
    {"complex64", "[0.0,-0.0]", "{}", NONE, false},
    {"complex64", "[0.0,0.0]", "{\"_CRS\":{}}", NONE, true},
    {"complex64", "[0.0,0.0]", "{\"_CRS\":{},\"grid_mapping\":\"crs\"}", NONE, false},
    {"complex128", "[0.0,2.0]", "{\"zarrbridge:fill_value_is_nodata\":false}", NONE, false},
    {"string", "\"none\"", "{}", NONE, true},
    {"string", "\"\"", "{}", NONE, false},
    {"string", "\"none\"", "{\"zarrbridge:fill_value_is_nodata\":false}", NONE, false},
    {"string", "\"\"", "{\"_FillValue\":1}", NONE, false},
};

static void test_the_first_that_applies(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        zb_node *node = array_of(rows[i].type, rows[i].fill, rows[i].attributes);
        const zb_dtype dtype = zb_node_array(node)->dtype;
        unsigned char element[16];
        const bool found = zb_array_nodata(node, dtype, element);
        const double value = found ? zb_element_to_double(element, dtype) : NONE;
        if (value != rows[i].value)
            fail_msg("row %zu: %g, expected %g", i, value, rows[i].value);
        if (zb_array_fill_is_nodata(node) != rows[i].fill_counts)
            fail_msg("row %zu: the fill value's share", i);
        zb_node_release(node);
    }
}

static void test_nan_counts(void **state) {
    (void)state;
    float element = 0;
    zb_node *node = array_of("float32", "\"NaN\"", "{}");
    assert_true(zb_array_nodata(node, zb_node_array(node)->dtype, &element) && isnan(element));
    zb_node_release(node);
}

/* Values are of the stored type; one that only the shown type holds is taken, too. */
static void test_other_sign(void **state) {
    (void)state;
    static const struct {
        const char *type, *attributes;
        double value;
    } signs[] = {{"int8", "{\"_FillValue\":-1}", 255},
                 {"int8", "{\"_FillValue\":255}", 255},
                 {"int8", "{\"_FillValue\":256,\"missing_value\":1}", 1},
                 {"uint8", "{\"_FillValue\":255}", -1},
                 {"uint8", "{\"_FillValue\":-1}", -1}};
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        zb_node *node = array_of(signs[i].type, "0", signs[i].attributes);
        zb_dtype shown = zb_node_array(node)->dtype;
        unsigned char element[1];
        shown.kind = shown.kind == ZB_KIND_INT ? ZB_KIND_UINT : ZB_KIND_INT;
        assert_true(zb_array_nodata(node, shown, element));
        assert_true(zb_element_to_double(element, shown) == signs[i].value);
        zb_node_release(node);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_first_that_applies),
                                       cmocka_unit_test(test_nan_counts),
                                       cmocka_unit_test(test_other_sign)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
