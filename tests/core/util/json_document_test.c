/* SPDX-License-Identifier: MIT */
/* What users put into a node's document does not keep the node from being read, and is printed as
   it stood; the rest is as strict as any JSON. */
#include "util/json.h"

#include "support/check.h"

static zb_json *parse(const char *text) {
    zb_json *root;
    zb_error err;
    ASSERT_OK(zb__json_parse_document(text, strlen(text), &root, &err), err);
    return root;
}

/* The first attribute of each: the text that it reads as (NULL: it is no text), and prints as. */
static void strange_texts_are_shown_and_kept(void **state) {
    (void)state;
    static const char *const rows[][3] = {
        {"\"a\\u0000b\"", "a\\u0000b", "\"a\\u0000b\""},
        {"\"\\uD800\"", "\\uD800", "\"\\uD800\""},
        {"\"\\udc00x\\ud83d\\ude00\"", "\\udc00x\xf0\x9f\x98\x80", "\"\\udc00x\\ud83d\\ude00\""},
        {"\"\\ud800\\u0041\"", "\\ud800A", "\"\\ud800\\u0041\""},
        {"\"\\ud800\\ud800\\udc00\"", "\\ud800\xf0\x90\x80\x80", "\"\\ud800\\ud800\\udc00\""},
        {"\"\\u0041\"", "A", "\"A\""},
        {"[1, \"\\u0000\"]", NULL, "[1,\"\\u0000\"]"},
        {"{\"k\\u0000\": [\"\\ud800\"]}", NULL, "{\"k\\u0000\":[\"\\ud800\"]}"},
        {"{\"b\":1,\"a\":2,\"b\":3}", NULL, "{\"a\":2,\"b\":3}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        snprintf(text, sizeof text, "{\"attributes\":{\"v\":%s}}", rows[i][0]);
        zb_json *root = parse(text);
        const zb_json *value = zb_json_first(zb_json_get(root, "attributes"));
        const char *shown = zb_json_string(value);
        char *printed = zb_json_print(value);
        assert_true(!shown == !rows[i][1]);
        if (shown)
            assert_string_equal(shown, rows[i][1]);
        assert_string_equal(printed, rows[i][2]);
        free(printed);
        zb_json_free(root);
    }
}

/* As Python's json module and zarr-python have it. Also in objects that are large enough for an
   index, and for names that only look alike. */
static void of_members_that_stand_twice_the_last_counts(void **state) {
    (void)state;
    for (int many = 0; many < 2; many++) {
        char text[1024] = "{\"attributes\":{\"a\":1,\"b\":2";
        for (int i = 0; many && i < 30; i++)
            snprintf(text + strlen(text), 24, ",\"m%d\":0", i);
        strcat(text, ",\"a\":3,\"\\u0061\":4}}");
        zb_json *root = parse(text);
        const zb_json *attributes = zb_json_get(root, "attributes");
        int64_t number;
        assert_int_equal(zb_json_count(attributes), many ? 32 : 2);
        assert_true(zb_json_int64(zb_json_get(attributes, "a"), &number) && number == 4);
        assert_true(zb_json_int64(zb_json_get(attributes, "b"), &number) && number == 2);
        size_t count = 0;
        for (const zb_json *m = zb_json_first(attributes); m; m = zb_json_next(m))
            count++;
        assert_int_equal(count, zb_json_count(attributes));
        zb_json_free(root);
    }
}

static void deep_values_are_kept_as_they_stand(void **state) {
    (void)state;
    enum { DEPTH = 990 };
    char *text = malloc(2 * DEPTH + 200);
    assert_non_null(text);
    char *end = stpcpy(text, "{\"attributes\":{\"deep\":");
    char *value = end;
    end = (char *)memset(end, '[', DEPTH) + DEPTH;
    end = stpcpy(end, "\"]\\\"\\u0000\", {\"x\":1}");
    end = (char *)memset(end, ']', DEPTH) + DEPTH;
    size_t size = (size_t)(end - value);
    strcpy(end, ",\"next\":7}}");
    zb_json *root = parse(text);
    const zb_json *attributes = zb_json_get(root, "attributes");
    char *printed = zb_json_print(zb_json_get(attributes, "deep"));
    assert_int_equal(strlen(printed), size - 1); /* as everywhere, without white space */
    int64_t number;
    assert_true(zb_json_int64(zb_json_get(attributes, "next"), &number) && number == 7);
    free(printed);
    zb_json_free(root);
    /* It has to be JSON, and to end. */
    end[-1] = '\0';
    zb_error err;
    ASSERT_FAILS(zb__json_parse_document(text, strlen(text), &root, &err), ZB_EFORMAT, err,
                 "the text ends");
    /* More than the parser goes into: as anywhere. */
    memset(value, '[', DEPTH + 20);
    ASSERT_FAILS(zb__json_parse_document(text, strlen(text), &root, &err), ZB_ELIMIT, err,
                 "json_depth");
    free(text);
}

#define DEEP "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["

static void the_rest_is_strict(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"{\"a\":\"\\u0000\"}", "NUL"},
        {"{\"a\":\"\\ud800\"}", "surrogate"},
        {"{\"a\":1,\"a\":2}", "stands twice"},
        {"{\"attributes\":{},\"attributes\":{}}", "stands twice"},
        {"{\"a\":{\"attributes\":{\"x\":1,\"x\":2}}}", "stands twice"},
        {"{\"attributes\":{\"x\":1},\"z\":\"\\u0000\"}", "NUL"},
        {"{\"attributes\":{\"x\":nul}}", "found 'n'"},
        {"{\"attributes\":{\"x\":" DEEP "}]}}", "found '}'"},
        {"{\"attributes\":{\"x\":" DEEP "nul}}", "found 'n'"},
        {"{\"attributes\":{\"x\":\"\xff\"}}", "not UTF-8"},
        {"{\"attributes\":{\"x\":\"\\u00g0\"}}", "hexadecimal"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_json *root;
        zb_error err;
        ASSERT_FAILS(zb__json_parse_document(rows[i][0], strlen(rows[i][0]), &root, &err),
                     ZB_EFORMAT, err, rows[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strange_texts_are_shown_and_kept),
        cmocka_unit_test(of_members_that_stand_twice_the_last_counts),
        cmocka_unit_test(deep_values_are_kept_as_they_stand),
        cmocka_unit_test(the_rest_is_strict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
