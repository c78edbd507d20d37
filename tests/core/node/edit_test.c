/* SPDX-License-Identifier: MIT */
/* Editing a document's text: the rest of the text keeps every byte. */
#include "node/edit.h"
#include "support/check.h"

typedef struct edit_row {
    const char *text, *path, *name, *value, *before, *expected;
} edit_row;

static const edit_row rows[] = {
    /* Replacing; the name is the same as another value, an escape, a prefix of another name. */
    {"{\"a\":\"b\",\"b\":1}", NULL, "b", "2", NULL, "{\"a\":\"b\",\"b\":2}"},
    {"{ \"\\u0061\" : 1.50 , \"ab\":[ 1, 2 ] }", NULL, "a", "{}", NULL,
     "{ \"\\u0061\" : {} , \"ab\":[ 1, 2 ] }"},
    {"{\"s\":\"}],\\\"{\\\\\",\"t\":[\"]\",{\"u\":\"}\"}],\"v\":0}", NULL, "v", "null", NULL,
     "{\"s\":\"}],\\\"{\\\\\",\"t\":[\"]\",{\"u\":\"}\"}],\"v\":null}"},
    /* Deeper, with line breaks. */
    {"{\n  \"x\": {\n    \"y\": 1e5\n  },\n  \"z\": 0\n}\n", "x", "y", "{\"q\":[{}]}", NULL,
     "{\n  \"x\": {\n    \"y\": {\n      \"q\": [\n        {}\n      ]\n    }\n  },\n  \"z\": "
     "0\n}\n"},
    /* Adding: at the end, before a sibling, into an empty object, in the neighbour's style. */
    {"{\"a\":1}", NULL, "b", "2", NULL, "{\"a\":1,\"b\":2}"},
    {"{\"a\":1,\"b\":2}", NULL, "c", "[1,2]", "b", "{\"a\":1,\"c\":[1,2],\"b\":2}"},
    {"{\"a\":1,\"b\":2}", NULL, "c", "3", "nowhere", "{\"a\":1,\"b\":2,\"c\":3}"},
    {"{\"a\":{ }}", "a", "q\"", "3", NULL, "{\"a\":{\"q\\\"\":3}}"},
    {"{\n  \"a\": {}\n}", "a", "b", "3", NULL, "{\n  \"a\": {\n    \"b\": 3\n  }\n}"},
    {"{\n    \"a\": 1\n}", NULL, "b", "3", NULL, "{\n    \"a\": 1,\n    \"b\": 3\n}"},
    /* Removing the first, the middle, the last, the only one, and none. */
    {"{ \"a\":1, \"b\":2, \"c\":3 }", NULL, "a", NULL, NULL, "{ \"b\":2, \"c\":3 }"},
    {"{ \"a\":1, \"b\":2, \"c\":3 }", NULL, "b", NULL, NULL, "{ \"a\":1, \"c\":3 }"},
    {"{ \"a\":1, \"b\":2 , \"c\":3 }", NULL, "c", NULL, NULL, "{ \"a\":1, \"b\":2 }"},
    {"{\n  \"a\": 1\n}", NULL, "a", NULL, NULL, "{}"},
    {"{\"a\":1}", NULL, "b", NULL, NULL, "{\"a\":1}"},
    /* Beside what the tree cannot hold: escapes, names that stand twice. */
    {"{\"attributes\":{\"n\":\"\\u0000\",\"\\ud800\":[],\"x\":1}}", "attributes", "x", "2", NULL,
     "{\"attributes\":{\"n\":\"\\u0000\",\"\\ud800\":[],\"x\":2}}"},
    {"{\"attributes\":{\"n\":\"\\u0000\"}}", "attributes", "x", "2", NULL,
     "{\"attributes\":{\"n\":\"\\u0000\",\"x\":2}}"},
    {"{\"attributes\":{\"n\\u0000\":1,\"x\":2}}", "attributes", "n\\u0000", "3", NULL,
     "{\"attributes\":{\"n\\u0000\":3,\"x\":2}}"},
    {"{\"attributes\":{\"c\":1,\"a\":1,\"c\":2, \"b\":3,\"c\":4}}", "attributes", "b", NULL, NULL,
     "{\"attributes\":{\"c\":1,\"a\":1,\"c\":2,\"c\":4}}"},
    {"{\"attributes\":{\"a\":1,\"c\":2,\"b\":3,\"c\":4}}", "attributes", "a", NULL, NULL,
     "{\"attributes\":{\"c\":2,\"b\":3,\"c\":4}}"},
    {"{\"attributes\":{\"c\":2,\"b\":3,\"c\":4}}", "attributes", "c", "5", NULL,
     "{\"attributes\":{\"c\":2,\"b\":3,\"c\":5}}"},
};

static zb__document parse(const char *text) {
    zb__document document;
    zb_error err;
    ASSERT_OK(zb__document_parse(strdup(text), strlen(text), "test", &document, &err), err);
    return document;
}

static void test_rows(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const edit_row *r = &rows[i];
        const char *path[] = {r->path, NULL};
        zb__document document = parse(r->text);
        zb_json *value = NULL;
        zb_error err;
        if (r->value)
            ASSERT_OK(zb_json_parse(r->value, strlen(r->value), &value, &err), err);
        ASSERT_OK(zb__document_edit(&document, path, r->name, value, r->before, &err), err);
        if (strcmp(document.text, r->expected) != 0 || document.size != strlen(r->expected))
            fail_msg("row %zu: %s\nexpected: %s", i, document.text, r->expected);
        zb_json_free(value);
        zb__document_free(&document);
    }
}

static void test_no_object(void **state) {
    (void)state;
    const char *path[] = {"a", NULL};
    zb__document document = parse("{\"a\":[1]}");
    zb_error err;
    ASSERT_FAILS(zb__document_edit(&document, path, "b", document.json, NULL, &err), ZB_EFORMAT,
                 err, "a is no object");
    assert_string_equal(document.text, "{\"a\":[1]}");
    zb__document_free(&document);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_no_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
