/* SPDX-License-Identifier: MIT */
/* The forms of an extension point, and the look of long values and names in messages. */
#include "support/sample.h"

#include "util/json_excerpt.h"
#include "util/extension.h"

static zb_json *json(const char *text) {
    zb_json *value;
    zb_error err = {0};
    if (zb_json_parse(text, strlen(text), &value, &err))
        fail_msg("%s: %s", text, err.message);
    return value;
}

static void takes_both_forms(void **state) {
    (void)state;
    static const char *const rows[] = {
        "\"gzip\"",
        "{\"name\":\"gzip\"}",
        "{\"name\":\"gzip\",\"configuration\":{}}",
        "{\"configuration\":{\"level\":5},\"name\":\"gzip\"}",
        "{\"name\":\"gzip\",\"must_understand\":false}",
        "{\"name\":\"gzip\",\"must_understand\":true}",
        "{\"name\":\"gzip\",\"note\":{\"must_understand\":false}}",
    };
    static const char *const known[] = {"level", NULL};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_json *value = json(rows[i]);
        zb__extension extension;
        assert_int_equal(zb__extension_parse(value, "codecs[0]", &extension, NULL), ZB_OK);
        assert_string_equal(extension.name, "gzip");
        assert_ptr_equal(extension.configuration, zb_json_get(value, "configuration"));
        assert_int_equal(zb__extension_check(&extension, "codecs[0]", known, NULL), ZB_OK);
        zb_json_free(value);
    }
}

static void refuses_others(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum zb_code code;
        const char *message;
    } rows[] = {
        {"null", ZB_EFORMAT, "codecs[0] is null, expected a name or an object with a name"},
        {"[\"gzip\"]", ZB_EFORMAT, "codecs[0] is [\"gzip\"], expected a name or"},
        {"{}", ZB_EFORMAT, "codecs[0]: name is missing, expected a string"},
        {"{\"name\":null}", ZB_EFORMAT, "codecs[0]: name is null, expected a string"},
        {"{\"id\":\"gzip\"}", ZB_EFORMAT, "codecs[0]: name is missing"},
        {"{\"name\":\"g\",\"configuration\":null}", ZB_EFORMAT,
         "codecs[0]: configuration is null, expected an object"},
        {"{\"name\":\"g\",\"configuration\":3}", ZB_EFORMAT, "configuration is 3"},
        {"{\"name\":\"g\",\"level\":3}", ZB_EUNSUPPORTED,
         "codecs[0] has an unknown member \"level\""},
        {"{\"name\":\"g\",\"x\":{\"must_understand\":true}}", ZB_EUNSUPPORTED,
         "unknown member \"x\""},
        {"{\"name\":\"g\",\"configuration\":{\"level\":1,\"y\":2}}", ZB_EUNSUPPORTED,
         "codecs[0]: the configuration of \"g\" has an unknown member \"y\""},
    };
    static const char *const known[] = {"level", NULL};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_json *value = json(rows[i].text);
        zb__extension extension;
        zb_error err = {0};
        enum zb_code code = zb__extension_parse(value, "codecs[0]", &extension, &err);
        if (!code)
            code = zb__extension_check(&extension, "codecs[0]", known, &err);
        if (code != rows[i].code || !strstr(err.message, rows[i].message))
            fail_msg("%s: %s %s", rows[i].text, zb_code_name(code), err.message);
        zb_json_free(value);
    }
}

static void shortens_values(void **state) {
    (void)state;
    char excerpt[ZB__BRIEF_SIZE];
    assert_string_equal(zb__json_excerpt(NULL, excerpt), "missing");
    zb_json *value = json("[1, 2.50, \"a\\nb\"]");
    assert_string_equal(zb__json_excerpt(value, excerpt), "[1,2.50,\"a\\nb\"]");
    zb_json_free(value);
    /* 63 bytes fit. */
    value = json("\"1234567890123456789012345678901234567890123456789012345678901\"");
    assert_int_equal(strlen(zb__json_excerpt(value, excerpt)), 63);
    assert_null(strstr(excerpt, "..."));
    zb_json_free(value);
    value = json("\"12345678901234567890123456789012345678901234567890123456789012\"");
    assert_int_equal(strlen(zb__json_excerpt(value, excerpt)), 63);
    assert_string_equal(excerpt + 60, "...");
    zb_json_free(value);
    /* The cut would fall between the two bytes of the last character that is left: it goes too. */
    value = json("\"1234567890123456789012345678901234567890123456789012345678\xc3\xa9tail\"");
    assert_int_equal(strlen(zb__json_excerpt(value, excerpt)), 62);
    assert_string_equal(excerpt + 55, "5678...");
    zb_json_free(value);
    assert_string_equal(zb__name_excerpt("tab\there \"x\"", excerpt), "\"tab\\there \\\"x\\\"\"");
}

static void writes_what_it_reads(void **state) {
    (void)state;
    zb_json_writer *w = zb_json_writer_new();
    assert_non_null(w);
    zb__extension_begin(w, "gzip");
    zb_json_write_name(w, "level");
    zb_json_write_int64(w, 5);
    zb__extension_end(w);
    char *text = zb_json_writer_end(w, NULL);
    assert_string_equal(text, "{\"name\":\"gzip\",\"configuration\":{\"level\":5}}");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_both_forms),
        cmocka_unit_test(refuses_others),
        cmocka_unit_test(shortens_values),
        cmocka_unit_test(writes_what_it_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
