/* SPDX-License-Identifier: MIT */
/* The texts that the JSON reader takes, those that it refuses and where, and that nothing is lost
   on the way. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "zarrbridge/zarrbridge.h"

static zb_json *parse(const char *text) {
    zb_json *root;
    zb_error err = {0};
    if (zb_json_parse(text, strlen(text), &root, &err))
        fail_msg("%s\n%s", text, err.message);
    return root;
}

/* Texts that come back unchanged, since they hold no white space. */
static void keeps_every_text(void **state) {
    (void)state;
    static const char *const texts[] = {
        "null",
        "true",
        "false",
        "\"\"",
        "[]",
        "{}",
        "0",
        "-0",
        "-0.0",
        "1e3",
        "1E+3",
        "1.50",
        "18446744073709551615",
        "-9223372036854775808",
        "0.1000000000000000055511151231257827",
        "123456789012345678901234567890",
        "NaN",
        "Infinity",
        "-Infinity",
        "[NaN,-Infinity]",
        "\"NaN\"",
        "[1,\"1\",true,null,[],{}]",
        "{\"z\":1,\"a\":2,\"m\":{\"b\":[3]}}",
        "{\"\":1}",
        "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"",
        "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\"",
        "\"\\u0001genuine\"",
        "{\"A\":1,\"a\":2}",
        "\"\x7f/\"",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        zb_json *root = parse(texts[i]);
        char *printed = zb_json_print(root);
        assert_string_equal(printed, texts[i]);
        free(printed);
        zb_json_free(root);
    }
}

static void decodes_escapes(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"\"\\u0041\\/\\u00e9\\u20AC\"", "A/\xc3\xa9\xe2\x82\xac"},
        {"\"\\uD83D\\uDE00\"", "\xf0\x9f\x98\x80"},
        {"\"\\u0022\\u005c\\u000a\"", "\"\\\n"},
        {" \t\r\n\"x\"\n", "x"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_json *root = parse(rows[i][0]);
        assert_string_equal(zb_json_string(root), rows[i][1]);
        zb_json_free(root);
    }
}

/* Runs of every length around those that are copied at once, between escapes: also a closing quote
   behind an escaped backslash, and an escaped quote behind that. */
static void keeps_what_lies_between_escapes(void **state) {
    static const char *const escapes[][2] = {
        {"", ""}, {"\\\"", "\""}, {"\\\\", "\\"}, {"\\\\\\\"", "\\\""}, {"\xc3\xa9", "\xc3\xa9"}};
    (void)state;
    for (int length = 0; length < 40; length++) {
        for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
            char text[160], expected[160];
            const char *run = "abcdefghijklmnopqrstuvwxyz0123456789ABCD";
            snprintf(text, sizeof text, "[\"%.*s%s%.*s%s\",\"x\"]", length, run, escapes[i][0],
                     length, run, escapes[i][0]);
            snprintf(expected, sizeof expected, "%.*s%s%.*s%s", length, run, escapes[i][1], length,
                     run, escapes[i][1]);
            zb_json *root = parse(text);
            assert_string_equal(zb_json_string(zb_json_first(root)), expected);
            assert_string_equal(zb_json_string(zb_json_next(zb_json_first(root))), "x");
            zb_json_free(root);
        }
    }
}

static void refuses_with_the_place(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "line 1, column 1: the text ends, expected a JSON value"},
        {"  \n ", "line 2, column 2: the text ends"},
        {"{\n  \"a\": 1,\n  \"b\" 2}", "line 3, column 7: found '2', expected ':'"},
        {"[1,]", "line 1, column 4: found ']', expected a JSON value"},
        {"[1 2]", "found '2', expected ',' or ']'"},
        {"[1", "the text ends, expected ',' or ']'"},
        {"{", "the text ends, expected a member's name"},
        {"{\"a\":1,}", "column 8: found '}', expected a member's name"},
        {"{a:1}", "found 'a', expected a member's name"},
        {"{\"a\":1 \"b\":2}", "expected ',' or '}'"},
        {"1 2", "column 3: found '2', expected the end of the text"},
        {"nul", "expected a JSON value"},
        {"nulll", "column 5: found 'l', expected the end"},
        {"01", "column 1: a number begins with a needless 0"},
        {"-01", "column 2: a number begins with a needless 0"},
        {"+1", "found '+'"},
        {".5", "found '.'"},
        {"1.", "a digit behind the decimal point"},
        {"1.e5", "a digit behind the decimal point"},
        {"1e", "a digit of the exponent"},
        {"1e+", "a digit of the exponent"},
        {"-", "expected a digit"},
        {"-NaN", "found 'N', expected a digit"},
        {"Nan", "found 'N', expected a digit"},
        {"Infinit", "found 'I'"},
        {"0x10", "found 'x', expected the end"},
        {"\"abc", "the text ends, expected the string's closing quote"},
        {"\"a\\", "expected one of"},
        {"\"\\x\"", "column 3: found 'x', expected one of"},
        {"\"\\u12g4\"", "column 6: found 'g', expected four hexadecimal digits"},
        {"\"\\u0000\"", "column 2: a string contains the character NUL"},
        {"\"\\ud800\"", "half a surrogate pair"},
        {"\"\\ud800\\u0041\"", "half a surrogate pair"},
        {"\"\\ud800\\n\"", "half a surrogate pair"},
        {"\"\\udc00\"", "half a surrogate pair"},
        {"\"a\nb\"", "column 3: a string contains control character 0x0a"},
        {"\"\x01\"", "control character 0x01"},
        {"\"\xff\"", "byte 0xff is not UTF-8"},
        {"\"\xff"
         "5\"",
         "byte 0xff is not UTF-8"},
        {"\"\x80\"", "byte 0x80 is not UTF-8"},
        {"\"\xc0\xaf\"", "byte 0xc0 is not UTF-8"},
        {"\"\xe0\x80\xaf\"", "byte 0xe0 is not UTF-8"},
        {"\"\xed\xa0\x80\"", "byte 0xed is not UTF-8"},
        {"\"\xf4\x90\x80\x80\"", "byte 0xf4 is not UTF-8"},
        {"\"\xf5\x80\x80\x80\"", "byte 0xf5 is not UTF-8"},
        {"\"\xe2\x82\"", "byte 0xe2 is not UTF-8"},
        {"\xef\xbb\xbf{}", "found byte 0xef, expected a JSON value"},
        {"{\"a\":1,\"b\":2,\n\"a\":3}", "line 2, column 1: member \"a\" stands twice"},
        {"{\"a\":1,\"\\u0061\":2}", "column 8: member \"a\" stands twice"},
        {"[{\"x\":{\"y\":1,\"y\":1}}]", "member \"y\" stands twice"},
        {"{\"\":1,\"\":2}", "member \"\" stands twice"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_json *root;
        zb_error err = {0};
        enum zb_code code = zb_json_parse(rows[i].text, strlen(rows[i].text), &root, &err);
        if (code != ZB_EFORMAT || !strstr(err.message, rows[i].message))
            fail_msg("%s\ngave %d, \"%s\"\nexpected \"%s\"", rows[i].text, code, err.message,
                     rows[i].message);
    }
}

static void refuses_nul_bytes(void **state) {
    (void)state;
    static const char text[] = "{\"a\0\":1}";
    zb_json *root;
    zb_error err;
    assert_int_equal(zb_json_parse(text, sizeof text - 1, &root, &err), ZB_EFORMAT);
    assert_non_null(strstr(err.message, "control character 0x00"));
    assert_int_equal(zb_json_parse("1\0", 2, &root, &err), ZB_EFORMAT);
    assert_non_null(strstr(err.message, "found byte 0x00"));
}

static void limits_the_depth(void **state) {
    (void)state;
    uint64_t limit = zb_limits_get()->json_depth;
    assert_int_equal(limit, 32);
    char text[256];
    for (size_t depth = 31; depth <= 64; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        zb_json *root;
        zb_error err;
        enum zb_code code = zb_json_parse(text, 2 * depth, &root, &err);
        assert_int_equal(code, depth <= limit ? ZB_OK : ZB_ELIMIT);
        if (code)
            assert_non_null(strstr(err.message, "column 33: nested deeper than 32 levels, the "
                                                "limit json_depth"));
        else
            zb_json_free(root);
    }
}

/* Two bytes of text become a hundred in the tree, so the number of values is bounded as well. main
   lowers the limit, before anything reads it. */
static void limits_the_values(void **state) {
    (void)state;
    size_t limit = (size_t)zb_limits_get()->json_values;
    assert_int_equal(limit, 200000);
    char *text = malloc(2 * limit + 2);
    text[0] = '[';
    for (size_t i = 0; i < limit; i++)
        memcpy(text + 1 + 2 * i, "1,", 2);
    zb_json *root;
    zb_error err;
    /* The list itself is a value too. */
    text[2 * limit] = ']';
    assert_int_equal(zb_json_parse(text, 2 * limit + 1, &root, &err), ZB_ELIMIT);
    assert_non_null(strstr(err.message, "the limit json_values"));
    text[2 * limit - 2] = ']';
    assert_int_equal(zb_json_parse(text, 2 * limit - 1, &root, &err), ZB_OK);
    assert_int_equal(zb_json_count(root), limit - 1);
    zb_json_free(root);
    free(text);
}

static void reads_integers_exactly(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_signed, is_unsigned;
        int64_t value;
    } rows[] = {
        {"0", true, true, 0},
        {"-0", true, true, 0},
        {"9007199254740993", true, true, 9007199254740993},
        {"9223372036854775807", true, true, INT64_MAX},
        {"9223372036854775808", false, true, INT64_MIN},
        {"18446744073709551615", false, true, -1},
        {"18446744073709551616", false, false, 0},
        {"-1", true, false, -1},
        {"-9223372036854775808", true, false, INT64_MIN},
        {"-9223372036854775809", false, false, 0},
        {"7.0", false, false, 0},
        {"1e3", false, false, 0},
        {"NaN", false, false, 0},
        {"\"7\"", false, false, 0},
        {"true", false, false, 0},
        {"[7]", false, false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_json *root = parse(rows[i].text);
        int64_t s = 0;
        uint64_t u = 0;
        assert_int_equal(zb_json_int64(root, &s), rows[i].is_signed);
        assert_int_equal(zb_json_uint64(root, &u), rows[i].is_unsigned);
        if (rows[i].is_signed)
            assert_int_equal(s, rows[i].value);
        if (rows[i].is_unsigned)
            assert_int_equal(u, (uint64_t)rows[i].value);
        zb_json_free(root);
    }
}

static void reads_doubles(void **state) {
    (void)state;
    zb_json *root = parse("[0.1,-0.0,1e400,-1e400,NaN,Infinity,-Infinity,1e-400,true]");
    static const double expected[] = {
        0.1, -0.0, (double)INFINITY, -(double)INFINITY, 0, (double)INFINITY, -(double)INFINITY, 0};
    const zb_json *item = zb_json_first(root);
    for (size_t i = 0; i < 8; i++, item = zb_json_next(item)) {
        double value;
        assert_true(zb_json_double(item, &value));
        if (i == 4)
            assert_true(isnan(value));
        else
            assert_memory_equal(&value, &expected[i], sizeof value);
    }
    double value;
    assert_false(zb_json_double(item, &value));
    zb_json_free(root);
}

static void walks_the_tree(void **state) {
    (void)state;
    zb_json *root = parse("{\"B\":1,\"b\":[10,20],\"s\":\"t\",\"n\":null,\"y\":true,\"o\":{}}");
    assert_int_equal(zb_json_kind_of(root), ZB_JSON_OBJECT);
    assert_int_equal(zb_json_count(root), 6);
    assert_null(zb_json_name(root));
    assert_string_equal(zb_json_name(zb_json_first(root)), "B");
    /* Case matters: cJSON's own lookup would return "B" here. */
    const zb_json *list = zb_json_get(root, "b");
    assert_int_equal(zb_json_kind_of(list), ZB_JSON_ARRAY);
    assert_int_equal(zb_json_count(list), 2);
    assert_string_equal(zb_json_number(zb_json_next(zb_json_first(list))), "20");
    assert_null(zb_json_next(zb_json_next(zb_json_first(list))));
    assert_null(zb_json_name(zb_json_first(list)));
    assert_null(zb_json_string(zb_json_first(list)));
    assert_null(zb_json_number(zb_json_get(root, "s")));
    assert_string_equal(zb_json_string(zb_json_get(root, "s")), "t");
    assert_int_equal(zb_json_kind_of(zb_json_get(root, "n")), ZB_JSON_NULL);
    assert_true(zb_json_bool(zb_json_get(root, "y")));
    assert_false(zb_json_bool(zb_json_get(root, "n")));
    assert_int_equal(zb_json_count(zb_json_get(root, "o")), 0);
    assert_null(zb_json_get(root, "missing"));
    assert_null(zb_json_get(list, "b"));
    assert_null(zb_json_get(NULL, "b"));
    assert_int_equal(zb_json_kind_of(NULL), ZB_JSON_NULL);
    zb_json_free(root);
    zb_json_free(NULL);
}

/* 10^5 members: comparing each with each would take minutes, and run into CTest's timeout. */
static void checks_many_members(void **state) {
    (void)state;
    enum { COUNT = 100000 };
    char *text = malloc(COUNT * 20 + 40);
    size_t size = 0;
    text[size++] = '{';
    for (unsigned i = 0; i < COUNT; i++)
        size += (size_t)sprintf(text + size, "\"m%u\":%u,", i * 7919 % COUNT, i);
    size_t whole = size + (size_t)sprintf(text + size, "\"last\":0}");
    zb_json *root;
    zb_error err = {0};
    assert_int_equal(zb_json_parse(text, whole, &root, &err), ZB_OK);
    assert_int_equal(zb_json_count(root), COUNT + 1);
    zb_json_free(root);
    whole = size + (size_t)sprintf(text + size, "\"m77\":0}");
    assert_int_equal(zb_json_parse(text, whole, &root, &err), ZB_EFORMAT);
    assert_non_null(strstr(err.message, "member \"m77\" stands twice"));
    free(text);
}

/* Names in an order of their own, some with characters above ASCII, below another object. Of
   100 000 each is looked up: a search one by one would take minutes. */
static void finds_each_of_many_members(void **state) {
    (void)state;
    static const unsigned counts[] = {0, 1, 15, 16, 17, 100, 100000};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        unsigned count = counts[c];
        char *text = malloc(count * 24 + 40), name[24];
        size_t size = (size_t)sprintf(text, "{\"a\":[1,{");
        for (unsigned i = 0; i < count; i++)
            size += (size_t)sprintf(text + size, "%s\"%s%u\":%u", i ? "," : "",
                                    i % 2 ? "m" : "\u00f6", i * 7919 % 100000, i);
        size += (size_t)sprintf(text + size, "}]}");
        zb_json *root;
        zb_error err = {0};
        assert_int_equal(zb_json_parse(text, size, &root, &err), ZB_OK);
        const zb_json *object = zb_json_next(zb_json_first(zb_json_get(root, "a")));
        const zb_json *in_order = zb_json_first(object);
        assert_int_equal(zb_json_count(object), count);
        for (unsigned i = 0; i < count; i++, in_order = zb_json_next(in_order)) {
            sprintf(name, "%s%u", i % 2 ? "m" : "\u00f6", i * 7919 % 100000);
            assert_ptr_equal(zb_json_get(object, name), in_order);
            uint64_t value;
            assert_true(zb_json_uint64(in_order, &value) && value == i);
            strcat(name, "x");
            assert_null(zb_json_get(object, name));
        }
        assert_null(in_order);
        assert_null(zb_json_get(object, ""));
        assert_null(zb_json_get(object, "\U0010ffff"));
        assert_null(zb_json_string(object));
        zb_json_free(root);
        free(text);
    }
}

/* The bytes of the text that a value, or a member's name, takes. */
static void stands_at(const char *text, const zb_json *value, const char *expected) {
    zb_json_place place = zb_json_place_of(value);
    assert_int_equal(place.end - place.begin, strlen(expected));
    assert_memory_equal(text + place.begin, expected, strlen(expected));
    assert_true(place.name <= place.begin);
}

static void tells_where_values_stand(void **state) {
    (void)state;
    static const char text[] =
        " { \"a\\\"\" : [ 1.50 ,\"x\\u00e9\\\\\"]\n,\"b\":{ },\"\":null , \"c\":-Infinity } ";
    zb_json *root = parse(text);
    const zb_json *list = zb_json_first(root), *b = zb_json_next(list);
    stands_at(text, root,
              "{ \"a\\\"\" : [ 1.50 ,\"x\\u00e9\\\\\"]\n,\"b\":{ },\"\":null , \"c\":-Infinity }");
    stands_at(text, list, "[ 1.50 ,\"x\\u00e9\\\\\"]");
    stands_at(text, zb_json_first(list), "1.50");
    stands_at(text, zb_json_next(zb_json_first(list)), "\"x\\u00e9\\\\\"");
    stands_at(text, b, "{ }");
    stands_at(text, zb_json_get(root, ""), "null");
    stands_at(text, zb_json_get(root, "c"), "-Infinity");
    assert_int_equal(zb_json_place_of(list).name, 3);
    assert_memory_equal(text + zb_json_place_of(b).name, "\"b\":{", 5);
    /* Elements and the root have no name. */
    assert_int_equal(zb_json_place_of(root).name, 1);
    zb_json_place element = zb_json_place_of(zb_json_first(list));
    assert_int_equal(element.name, element.begin);
    zb_json_free(root);
}

/* Blanks are passed by eight: any number of them, up to the very end of a text without a NUL behind
   it, and nothing but blanks. */
static void passes_any_indentation(void **state) {
    (void)state;
    for (size_t blanks = 0; blanks < 40; blanks++) {
        const size_t size = 2 * blanks + 7;
        char *text = malloc(size); /* exactly, so that a byte too many is seen */
        zb_json *json;
        zb_error err;
        assert_non_null(text);
        memset(text, ' ', size);
        memcpy(text, "[\n", 2);
        memcpy(text + 2 + blanks, "12\n", 3);
        memcpy(text + 5 + blanks, "]\n", 2);
        assert_int_equal(zb_json_parse(text, size, &json, &err), ZB_OK);
        assert_int_equal(zb_json_count(json), 1);
        zb_json_free(json);
        text[1 + blanks] = blanks ? '\f' : 'x'; /* no white space of JSON */
        assert_int_equal(zb_json_parse(text, size, &json, &err), ZB_EFORMAT);
        free(text);
    }
}

/* The document goes with the last of its owners. */
static void owners_share_a_document(void **state) {
    (void)state;
    static const char text[] = "{\"a\": [\"text\", 1]}";
    zb_json *json;
    zb_error err;
    assert_int_equal(zb_json_parse(text, sizeof text - 1, &json, &err), ZB_OK);
    zb_json *second = zb_json_retain(json), *third = zb_json_retain(json);
    assert_ptr_equal(second, json);
    zb_json_free(json);
    zb_json_free(third);
    assert_string_equal(zb_json_string(zb_json_first(zb_json_get(second, "a"))), "text");
    zb_json_free(second);
}

static bool same(const char *a, const char *b) {
    zb_json *x, *y;
    zb_error err;
    assert_int_equal(zb_json_parse(a, strlen(a), &x, &err), ZB_OK);
    assert_int_equal(zb_json_parse(b, strlen(b), &y, &err), ZB_OK);
    const bool is = zb_json_same(x, y);
    assert_int_equal(is, zb_json_same(y, x));
    zb_json_free(x);
    zb_json_free(y);
    return is;
}

static void compares_values(void **state) {
    (void)state;
    assert_true(same("{\"a\": [1, {\"b\": \"x\"}], \"c\": null}",
                     " {\"c\":null,\"a\":[1,{\"b\":\"\\u0078\"}]}"));
    static const char *const all[] = {
        "null",  "false", "true",      "0",         "1",         "1.0",
        "\"1\"", "\"\"",  "[]",        "[1]",       "[1,2]",     "[2,1]",
        "[[1]]", "{}",    "{\"a\":1}", "{\"a\":2}", "{\"b\":1}", "{\"a\":1,\"b\":1}",
        "[null]"};
    const size_t count = sizeof all / sizeof *all;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            assert_int_equal(same(all[i], all[j]), i == j);
    assert_true(zb_json_same(NULL, NULL));
    zb_json *null;
    assert_int_equal(zb_json_parse("null", 4, &null, NULL), ZB_OK);
    assert_false(zb_json_same(null, NULL));
    assert_false(zb_json_same(NULL, null));
    zb_json_free(null);
}

int main(void) {
    setenv("ZARRBRIDGE_JSON_VALUES", "200000", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_any_indentation),
        cmocka_unit_test(keeps_every_text),
        cmocka_unit_test(decodes_escapes),
        cmocka_unit_test(keeps_what_lies_between_escapes),
        cmocka_unit_test(refuses_with_the_place),
        cmocka_unit_test(refuses_nul_bytes),
        cmocka_unit_test(limits_the_depth),
        cmocka_unit_test(limits_the_values),
        cmocka_unit_test(reads_integers_exactly),
        cmocka_unit_test(reads_doubles),
        cmocka_unit_test(walks_the_tree),
        cmocka_unit_test(checks_many_members),
        cmocka_unit_test(finds_each_of_many_members),
        cmocka_unit_test(tells_where_values_stand),
        cmocka_unit_test(owners_share_a_document),
        cmocka_unit_test(compares_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
