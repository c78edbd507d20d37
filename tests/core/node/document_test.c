/* SPDX-License-Identifier: MIT */
/* The rules for a zarr.json as a whole, one row each: sections 1.2 to 1.5 of the core
   specification's checklist, and documents that writers in the wild produce. */
#include "support/sample.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

static void array_members(void **state) {
    (void)state;
    static const sample_row rows[] = {
        {"", NULL, ZB_OK, NULL},
        {"zarr_format", NULL, ZB_EFORMAT, "node /: zarr_format is missing, expected the number 3"},
        {"zarr_format", "2", ZB_EUNSUPPORTED, "zarr_format is 2, expected"},
        {"zarr_format", "4", ZB_EUNSUPPORTED, "zarr_format is 4"},
        {"zarr_format", "\"3\"", ZB_EFORMAT, "zarr_format is \"3\""},
        {"zarr_format", "3.0", ZB_EFORMAT, "zarr_format is 3.0"},
        {"zarr_format", "null", ZB_EFORMAT, "zarr_format is null"},
        {"node_type", NULL, ZB_EFORMAT, "node_type is missing, expected \"array\" or \"group\""},
        {"node_type", "\"Array\"", ZB_EFORMAT, "node_type is \"Array\""},
        {"node_type", "1", ZB_EFORMAT, "node_type is 1"},
        {"attributes", NULL, ZB_OK, NULL},
        {"attributes", "{}", ZB_OK, NULL},
        {"attributes", "null", ZB_OK, NULL},
        {"attributes", "[]", ZB_EFORMAT, "attributes is [], expected an object"},
        {"attributes", "{\"x\":{\"must_understand\":true}}", ZB_OK, NULL},
        {"storage_transformers", "[]", ZB_OK, NULL},
        {"storage_transformers", "null", ZB_EFORMAT, "storage_transformers is null"},
        {"storage_transformers", "{}", ZB_EFORMAT, "storage_transformers is {}"},
        {"storage_transformers", "[{\"name\":\"t\"}]", ZB_EUNSUPPORTED,
         "storage_transformers has {\"name\":\"t\"}, expected none"},
        {"storage_transformers", "[\"t\"]", ZB_EUNSUPPORTED, "storage_transformers has \"t\""},
        {"storage_transformers", "[{\"name\":\"t\",\"must_understand\":true}]", ZB_EUNSUPPORTED,
         "storage_transformers has"},
        {"storage_transformers", "[{\"name\":\"t\",\"must_understand\":false}]", ZB_OK, NULL},
        {"extra", "1", ZB_EUNSUPPORTED, "unknown member \"extra\""},
        {"extra", "null", ZB_EUNSUPPORTED, "unknown member \"extra\""},
        {"extra", "false", ZB_EUNSUPPORTED, "unknown member \"extra\""},
        {"extra", "{}", ZB_EUNSUPPORTED, "unknown member \"extra\""},
        {"extra", "{\"must_understand\":true}", ZB_EUNSUPPORTED, "unknown member \"extra\""},
        {"extra", "{\"must_understand\":0}", ZB_EUNSUPPORTED, "unknown member \"extra\""},
        {"extra", "{\"must_understand\":\"false\"}", ZB_EUNSUPPORTED, "unknown member \"extra\""},
        {"extra", "[{\"must_understand\":false}]", ZB_EUNSUPPORTED, "unknown member \"extra\""},
        {"extra", "{\"must_understand\":false}", ZB_OK, NULL},
        {"extra", "{\"name\":\"x\",\"must_understand\":false,\"more\":[1]}", ZB_OK, NULL},
        {"Shape", "[1]", ZB_EUNSUPPORTED, "unknown member \"Shape\""},
        {"must_understand", "false", ZB_EUNSUPPORTED, "unknown member \"must_understand\""},
        {"consolidated_metadata", "null", ZB_EUNSUPPORTED, "unknown member"},
        {"new\\nline", "1", ZB_EUNSUPPORTED, "unknown member \"new\\nline\""},
    };
    sample_check(sample_array, rows, COUNT(rows));
}

static void group_members(void **state) {
    (void)state;
    static const sample_row rows[] = {
        {"", NULL, ZB_OK, NULL},
        {"attributes", NULL, ZB_OK, NULL},
        {"attributes", "null", ZB_OK, NULL},
        {"attributes", "3", ZB_EFORMAT, "attributes is 3, expected an object"},
        {"shape", "[1]", ZB_EUNSUPPORTED, "unknown member \"shape\""},
        {"storage_transformers", "[]", ZB_EUNSUPPORTED, "unknown member"},
        {"extra", "{\"must_understand\":false}", ZB_OK, NULL},
        {"extra", "{}", ZB_EUNSUPPORTED, "unknown member \"extra\""},
        {"consolidated_metadata", "null", ZB_OK, NULL},
        {"consolidated_metadata", "{}", ZB_OK, NULL},
        {"consolidated_metadata", "{\"kind\":\"inline\",\"must_understand\":false,\"metadata\":{}}",
         ZB_OK, NULL},
        {"consolidated_metadata", "{\"kind\":\"inline\",\"metadata\":{}}", ZB_OK, NULL},
        {"consolidated_metadata", "{\"metadata\":{\"a\":{\"broken\":1}}}", ZB_OK, NULL},
        {"consolidated_metadata", "{\"kind\":\"other\",\"must_understand\":false}", ZB_OK, NULL},
        {"consolidated_metadata", "{\"kind\":\"other\"}", ZB_EUNSUPPORTED,
         "consolidated_metadata: kind is \"other\", expected \"inline\""},
        {"consolidated_metadata", "{\"kind\":1}", ZB_EUNSUPPORTED, "kind is 1"},
        {"consolidated_metadata", "[]", ZB_EFORMAT, "consolidated_metadata is [], expected"},
        {"consolidated_metadata", "false", ZB_EFORMAT, "consolidated_metadata is false"},
    };
    sample_check(sample_group, rows, COUNT(rows));
}

static void whole_texts(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "store test, node /: zarr.json: line 1, column 1: the text ends"},
        {"{", "zarr.json: line 1, column 2: the text ends"},
        {"\x1f\x8b", "found byte 0x1f"},
        {"[]", "node /: the document is [], expected an object"},
        {"null", "the document is null"},
        {"3", "the document is 3"},
        {"{\"zarr_format\":3,\"zarr_format\":3}", "member \"zarr_format\" stands twice"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        zb_node *node;
        zb_error err = {0};
        assert_int_equal(sample_open(rows[i].text, &node, &err), ZB_EFORMAT);
        if (!strstr(err.message, rows[i].message))
            fail_msg("%s\n%s", rows[i].text, err.message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(array_members),
        cmocka_unit_test(group_members),
        cmocka_unit_test(whole_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
