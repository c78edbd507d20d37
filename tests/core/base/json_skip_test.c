/* SPDX-License-Identifier: MIT */
/* Skipping takes and refuses what parsing does, and ends where the value ends; an outline has all
   of a document but the entries of its block. */
#include "base/json_skip.h"

#include "base/json.h"
#include "support/check.h"

/* Texts of a whole value; good ones and bad ones. */
static const char *const texts[] = {
    "{}",
    "[]",
    " [ ] ",
    "{\"a\":1}",
    "{\"a\":{\"b\":[1,2,{\"c\":null}]},\"d\":true}",
    "\"a\\\"b\\\\\"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"\\ud83d\\ude00\"",
    "\"\xc3\xa4\xe2\x82\xac\"",
    "-1.5e+10",
    "0",
    "NaN",
    "-Infinity",
    "Infinity",
    "false",
    "[[[[[[]]]]]]",
    "\"a text of more than eight bytes, then a quote\\\"\"",
    /* bad */
    "{",
    "[",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1,}",
    "[1,]",
    "[1 2]",
    "{\"a\":1 \"b\":2}",
    "{a:1}",
    "01",
    "1.",
    "-",
    "+1",
    "1e",
    "nul",
    "nulll",
    "\"",
    "\"\x01\"",
    "\"\\x\"",
    "\"\\u12g4\"",
    "\"\xff\"",
    "\"12345678\x1f\"",
    "\"1234567\xc0\x80\"",
    "[}",
    "{]",
    "",
    "]",
    "[1]]",
    "1 1",
};

static void skips_what_parsing_takes(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char document[256];
        zb_error parsed = {.code = ZB_OK}, skipped = {.code = ZB_OK};
        zb_json *root = NULL;
        int begin = snprintf(document, sizeof document, "{\"attributes\":");
        int size =
            begin + snprintf(document + begin, sizeof document - (size_t)begin, "%s}", texts[i]);
        zb__scanner s = {.text = document,
                         .size = (size_t)size,
                         .at = (size_t)begin,
                         .is_lenient = true,
                         .err = &skipped};
        enum zb_code code = zb__json_parse_document(document, (size_t)size, &root, &parsed);
        enum zb_code other = zb__json_skip(&s, 900);
        if (!other && !zb__scan_take(&s, '}'))
            other = zb__scan_expected(&s, "',' or '}'");
        else if (!other && s.at < s.size)
            other = zb__scan_expected(&s, "the end of the text");
        if (code != other || (code && strcmp(parsed.message, skipped.message) != 0))
            fail_msg("%s: %s, but %s", texts[i], parsed.message, skipped.message);
        zb_json_free(root);
    }
}

static void limits_the_nesting(void **state) {
    (void)state;
    char text[2100];
    zb_error err;
    for (size_t depth = 4; depth <= 6; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        zb__scanner s = {.text = text, .size = 2 * depth, .err = &err};
        assert_int_equal(zb__json_skip(&s, 5), depth <= 5 ? ZB_OK : ZB_ELIMIT);
    }
    memset(text, '[', sizeof text);
    zb__scanner s = {.text = text, .size = sizeof text, .err = &err};
    assert_int_equal(zb__json_skip(&s, SIZE_MAX), ZB_ELIMIT);
}

static void goes_through_members(void **state) {
    (void)state;
    static const char text[] = "x{ \"a\" : {\"i\":[1]} ,\"\\u0062\\n\":2,\"a\":\"},\" , \"\":[] }";
    static const char *const names[] = {"a", "b\n", "a", ""};
    static const char *const values[] = {"{\"i\":[1]}", "2", "\"},\"", "[]"};
    zb__json_members members;
    zb_error err;
    bool there = true;
    size_t count = 0;
    zb__json_members_begin(&members, text, strlen(text), 1);
    for (;; count++) {
        ASSERT_OK(zb__json_members_next(&members, &there, &err), err);
        if (!there)
            break;
        assert_true(count < 4);
        assert_string_equal(members.name, names[count]);
        const zb_json_place place = members.place;
        assert_int_equal(text[place.name], '"');
        assert_int_equal(place.end - place.begin, strlen(values[count]));
        assert_memory_equal(text + place.begin, values[count], place.end - place.begin);
    }
    assert_int_equal(count, 4);
    zb__json_members_end(&members);
    zb__json_members_begin(&members, "{ }", 3, 0);
    ASSERT_OK(zb__json_members_next(&members, &there, &err), err);
    assert_false(there);
    zb__json_members_end(&members);
}

/* ---- Outlines ----------------------------------------------------------------------------- */

static void an_outline_leaves_out_the_entries(void **state) {
    (void)state;
    static const char map[] =
        "{\"a\":{\"consolidated_metadata\":{\"metadata\":{\"x\":1}}},\"a\":2}";
    char text[512];
    zb_json *root;
    zb_error err;
    snprintf(text, sizeof text,
             "{\"attributes\":{\"metadata\":{\"k\":1}},\"consolidated_metadata\":"
             "{\"kind\":\"inline\",\"metadata\":%s,\"more\":{\"metadata\":{\"k\":2}}},\"last\":3}",
             map);
    ASSERT_OK(zb__json_parse_outline(text, strlen(text), &root, &err), err);
    const zb_json *block = zb_json_get(root, "consolidated_metadata");
    const zb_json *left_out = zb_json_get(block, "metadata");
    const zb_json_place place = zb_json_place_of(left_out);
    int64_t number;
    assert_int_equal(zb_json_kind_of(left_out), ZB_JSON_OBJECT);
    assert_int_equal(zb_json_count(left_out), 0);
    assert_int_equal(place.end - place.begin, strlen(map));
    assert_memory_equal(text + place.begin, map, strlen(map));
    assert_int_equal(zb_json_count(zb_json_get(zb_json_get(block, "more"), "metadata")), 1);
    assert_int_equal(zb_json_count(zb_json_get(zb_json_get(root, "attributes"), "metadata")), 1);
    assert_true(zb_json_int64(zb_json_get(root, "last"), &number) && number == 3);
    zb_json_free(root);
}

static void an_outline_checks_the_entries(void **state) {
    (void)state;
    static const char text[] = "{\"consolidated_metadata\":{\"metadata\":{\"a\":{\"b\":01}}}}";
    zb_json *root;
    zb_error parsed, outlined;
    assert_int_equal(zb__json_parse_document(text, strlen(text), &root, &parsed), ZB_EFORMAT);
    assert_int_equal(zb__json_parse_outline(text, strlen(text), &root, &outlined), ZB_EFORMAT);
    assert_string_equal(parsed.message, outlined.message);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skips_what_parsing_takes),
        cmocka_unit_test(limits_the_nesting),
        cmocka_unit_test(goes_through_members),
        cmocka_unit_test(an_outline_leaves_out_the_entries),
        cmocka_unit_test(an_outline_checks_the_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
