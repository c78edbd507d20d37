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

/* ---- Many members ---- */

/* Edits: "name=value" sets, "name" removes; separated by blanks. */
typedef struct many_row {
    const char *text, *edits, *expected;
} many_row;

static const many_row many_rows[] = {
    /* Each of the places, and white space of every kind stays where it was. */
    {"{ \"a\":1 , \"b\":2,\t\"c\":3 }", "b=5", "{ \"a\":1 , \"b\":5,\t\"c\":3 }"},
    {"{ \"a\":1 , \"b\":2,\t\"c\":3 }", "c=5 a=6", "{ \"a\":6 , \"b\":2,\t\"c\":5 }"},
    {"{ \"a\":1, \"b\":2, \"c\":3 }", "a", "{ \"b\":2, \"c\":3 }"},
    {"{ \"a\":1, \"b\":2, \"c\":3 }", "b", "{ \"a\":1, \"c\":3 }"},
    {"{ \"a\":1, \"b\":2, \"c\":3 }", "c", "{ \"a\":1, \"b\":2 }"},
    {"{ \"a\":1, \"b\":2, \"c\":3 }", "c a", "{ \"b\":2 }"},
    {"{ \"a\":1, \"b\":2, \"c\":3 }", "c b a", "{}"},
    {"{ \"a\":1, \"b\":2, \"c\":3 }", "c b a d=4", "{ \"d\":4 }"},
    {"{}", "d=4 e=5", "{\"d\":4,\"e\":5}"},
    {"{\n  \"a\": 1\n}\n", "d=[4] e={} a", "{\n  \"d\": [4],\n  \"e\": {}\n}\n"},
    {"{\n}", "d=4 e=5", "{\n  \"d\": 4,\n  \"e\": 5\n}"},
    /* One after the other: the last value counts, and what is made anew is the last. */
    {"{\"a\":1,\"b\":2}", "a=3 a=4", "{\"a\":4,\"b\":2}"},
    {"{\"a\":1,\"b\":2}", "a a=4", "{\"b\":2,\"a\":4}"},
    {"{\"a\":1,\"b\":2}", "c=1 a a=4 c=2 d=3", "{\"b\":2,\"c\":2,\"a\":4,\"d\":3}"},
    {"{\"a\":1,\"b\":2}", "c=1 c a c=5 a=6 a", "{\"b\":2,\"c\":5}"},
    /* Missing ones. */
    {"{\"a\":1}", "b", NULL},
    {"{\"a\":1}", "b=1 a a", NULL},
    /* Names that stand twice. */
    {"{\"c\":1,\"a\":1,\"c\":2,\"b\":3}", "c", "{\"a\":1,\"b\":3}"},
    {"{\"c\":1,\"a\":1,\"c\":2,\"b\":3}", "b=1 c=4", "{\"c\":1,\"a\":1,\"c\":4,\"b\":1}"},
};

static size_t parse_edits(char *text, zb__member_edit *out) {
    size_t count = 0;
    zb_error err;
    for (char *one; (one = strsep(&text, " ")); count++) {
        char *value = strchr(one, '=');
        zb_json *json = NULL;
        if (value) {
            *value++ = '\0';
            ASSERT_OK(zb_json_parse(value, strlen(value), &json, &err), err);
        }
        out[count] = (zb__member_edit){.name = one, .value = json};
    }
    return count;
}

static void test_many(void **state) {
    static const char *const path[] = {"attributes", NULL};
    (void)state;
    for (size_t i = 0; i < sizeof many_rows / sizeof *many_rows; i++) {
        const many_row *r = &many_rows[i];
        char text[200], expected[200], edits[50];
        zb__member_edit parsed[10];
        zb_error err;
        snprintf(text, sizeof text, "{\"attributes\":%s}", r->text);
        snprintf(expected, sizeof expected, "{\"attributes\":%s}", r->expected ? r->expected : "");
        zb__document document = parse(strchr(r->text, '\n') ? r->text : text);
        const char *const *at = strchr(r->text, '\n') ? NULL : path;
        size_t count = parse_edits(strcpy(edits, r->edits), parsed);
        enum zb_code code = zb__document_edit_members(&document, at, parsed, count, &err);
        const char *want = !r->expected ? text : at ? expected : r->expected;
        assert_int_equal(code, r->expected ? ZB_OK : ZB_ENOTFOUND);
        if (strcmp(document.text, want) != 0 || document.size != strlen(want))
            fail_msg("row %zu: %s\nexpected: %s", i, document.text, want);
        while (count > 0)
            zb_json_free((zb_json *)(uintptr_t)parsed[--count].value);
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
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_no_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
