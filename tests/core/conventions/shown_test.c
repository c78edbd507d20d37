/* SPDX-License-Identifier: MIT */
/* The types that stand in for those which the hosts of plugins lack. */
#include "support/sample.h"
#include "zarrbridge/conventions.h"

static const struct {
    const char *type; /* as JSON */
    enum zb_kind kind;
    uint32_t size;
} rows[] = {
    {"\"int16\"", ZB_KIND_INT, 2},
    {"\"float16\"", ZB_KIND_FLOAT, 2},
    {"\"bool\"", ZB_KIND_BOOL, 1},
    {"\"int2\"", ZB_KIND_INT, 1},
    {"\"int4\"", ZB_KIND_INT, 1},
    {"\"uint2\"", ZB_KIND_UINT, 1},
    {"\"uint4\"", ZB_KIND_UINT, 1},
    {"\"bfloat16\"", ZB_KIND_FLOAT, 4},
    {"\"float8_e4m3fn\"", ZB_KIND_FLOAT, 4},
    {"\"complex_bfloat16\"", ZB_KIND_COMPLEX, 8},
    {"{\"name\":\"numpy.datetime64\",\"configuration\":{\"unit\":\"s\",\"scale_factor\":1}}",
     ZB_KIND_INT, 8},
    {"{\"name\":\"numpy.timedelta64\",\"configuration\":{\"unit\":\"D\",\"scale_factor\":1}}",
     ZB_KIND_INT, 8},
};

static void test_rows(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text;
        assert_true(asprintf(&text,
                             "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[2],"
                             "\"data_type\":%s,\"fill_value\":%s,\"chunk_grid\":"
                             "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[2]}},"
                             "\"chunk_key_encoding\":{\"name\":\"default\"},\"codecs\":[{\"name\":"
                             "\"bytes\",\"configuration\":{\"endian\":\"little\"}}]}",
                             rows[i].type,
                             rows[i].kind == ZB_KIND_COMPLEX ? "[0,0]"
                             : rows[i].kind == ZB_KIND_BOOL  ? "false"
                                                             : "0") > 0);
        zb_node *node = sample_node(text);
        const zb_dtype shown = zb_dtype_shown(zb_node_array(node)->dtype);
        if (shown.kind != rows[i].kind || shown.size != rows[i].size || shown.detail)
            fail_msg("%s: kind %d of %u bytes", rows[i].type, (int)shown.kind, shown.size);
        zb_node_release(node);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
