/* SPDX-License-Identifier: MIT */
/* Skipping takes and refuses what parsing does, and ends where the value ends; an outline has all
   of a document but the entries of its block. */
#include "util/json_skip.h"

#include "support/check.h"
#include "util/json.h"

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
    zb__json_places places = {.count = 0};
    zb_error err;
    bool there = true;
    size_t count = 0;
    zb__scanner s = {.text = text, .size = strlen(text), .at = 1, .err = &err};
    ASSERT_OK(zb__json_skip_object(&s, 3, &places), err);
    assert_int_equal(s.at, strlen(text));
    zb__json_members_begin(&members, text, strlen(text), places.place, places.count);
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
    free(places.place);
}

/* What parsing refuses, with its message; and nesting counts the object itself. */
static void checks_objects_whose_members_are_told(void **state) {
    (void)state;
    static const char *const wrong[] = {"{\"a\":1,}", "{\"a\" 1}",  "{1:1}",      "{\"a\":1",
                                        "{\"a\":01}", "{\"a\":[1}", "{,\"a\":1}", "{\"a\":1]"};
    zb__json_places places = {.count = 0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        zb_error parsed, skipped;
        zb_json *root;
        zb__scanner s = {.text = wrong[i], .size = strlen(wrong[i]), .err = &skipped};
        assert_int_equal(zb__json_skip_object(&s, 9, &places), ZB_EFORMAT);
        assert_int_equal(zb_json_parse(wrong[i], strlen(wrong[i]), &root, &parsed), ZB_EFORMAT);
        assert_string_equal(parsed.message, skipped.message);
    }
    for (size_t depth = 0; depth < 4; depth++) {
        static const char text[] = "{\"a\":[{}]}";
        zb_error err;
        zb__scanner s = {.text = text, .size = strlen(text), .err = &err};
        assert_int_equal(zb__json_skip_object(&s, depth, &places), depth < 3 ? ZB_ELIMIT : ZB_OK);
    }
    places.count = 0;
    zb_error err;
    zb__scanner s = {.text = "{ }", .size = 3, .err = &err};
    ASSERT_OK(zb__json_skip_object(&s, 1, &places), err);
    assert_int_equal(places.count, 0);
    assert_int_equal(s.at, 3);
    free(places.place);
}

/* A map of two documents, of which the second has members of the first at its beginning, or what
   only begins like one. */
static void checks_members_like_those_before(void **state) {
    (void)state;
    static const char *const firsts[] = {"{}", "{\"a\":1}", "{\"a\":1 ,\"b\":[{}]}",
                                         "{\"a\":true,\"b\":\"x\"}",
                                         "{\n \"a\": {\"b\": 1},\n \"b\": null\n}"};
    static const char *const seconds[] = {"{}",
                                          "{\"a\":1}",
                                          "{\"a\":12}",
                                          "{\"a\":1.5,\"b\":[{}]}",
                                          "{\"a\":1e}",
                                          "{\"a\":1 2}",
                                          "{\"a\":1,}",
                                          "{\"a\":1:2}",
                                          "{\"a\":1]}",
                                          "{\"a\":1",
                                          "{\"a\":1 ,\"b\":[{}]",
                                          "{\"a\":1 ,\"b\":[{}],\"c\":0}",
                                          "{\"a\":1 ,\"b\":[{},]}",
                                          "{\"a\":1 ,\"b\":[{}]]}",
                                          "{\"a\":truex}",
                                          "{\"a\":true,\"b\":\"x\"",
                                          "{\"a\":true,\"b\":\"x\"\"}",
                                          "{\"a\":true \"b\":\"x\"}",
                                          "{\"a\":true,\"b\":\"xy\"}",
                                          "{\"b\":\"x\",\"a\":true}",
                                          "{\n \"a\": {\"b\": 1},\n \"b\": null\n}",
                                          "{\n \"a\": {\"b\": 1}\n \"b\": null\n}",
                                          "{\n \"a\": {\"b\": 1},\n \"b\": nullnull\n}",
                                          "{\n \"a\": {\"b\": 1},\n \"b\": null,\n}",
                                          "[1]",
                                          "{\"a\":1}{\"a\":1}"};
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
        for (size_t j = 0; j < sizeof seconds / sizeof *seconds; j++) {
            char text[256];
            zb_error parsed = {.code = ZB_OK}, skipped = {.code = ZB_OK};
            zb__json_places places = {.count = 0};
            zb_json *root = NULL;
            const int size = snprintf(text, sizeof text, "{\"g\":%s,\"h\":%s,\"i\":%s}", firsts[i],
                                      seconds[j], firsts[i]);
            zb__scanner s = {.text = text, .size = (size_t)size, .err = &skipped};
            enum zb_code code = zb_json_parse(text, (size_t)size, &root, &parsed);
            enum zb_code other = zb__json_skip_object(&s, 9, &places);
            if (code != other || (code && strcmp(parsed.message, skipped.message) != 0))
                fail_msg("%s: %s, but %s", text, parsed.message, skipped.message);
            for (size_t k = 0; !code && k < 3; k++) {
                const zb_json *member = zb_json_get(root, k == 0 ? "g" : k == 1 ? "h" : "i");
                const zb_json_place place = zb_json_place_of(member);
                assert_memory_equal(&place, &places.place[k], sizeof place);
            }
            zb_json_free(root);
            free(places.place);
        }
    }
}

/* No more members are kept of an object than there is room for, and nesting is counted alike. */
static void limits_what_is_kept_of_members(void **state) {
    (void)state;
    char text[2048] = "{";
    zb_error err;
    zb__json_places places = {.count = 0};
    for (int entry = 0; entry < 3; entry++) {
        sprintf(text + strlen(text), "%s\"e%d\":{", entry ? "," : "", entry);
        for (int i = 0; i < 40; i++)
            sprintf(text + strlen(text), "%s\"m%d\":[%d]", i ? "," : "", i, i);
        strcat(text, "}");
    }
    strcat(text, "}");
    zb__scanner s = {.text = text, .size = strlen(text), .err = &err};
    ASSERT_OK(zb__json_skip_object(&s, 3, &places), err);
    assert_int_equal(places.count, 3);
    assert_int_equal(s.at, strlen(text));
    for (size_t depth = 0; depth < 3; depth++) {
        s.at = 0;
        assert_int_equal(zb__json_skip_object(&s, depth, &places), ZB_ELIMIT);
    }
    free(places.place);
}

/* Strings and blanks are read eight bytes at a time: what ends them may stand at any of these. */
static void finds_ends_at_any_byte(void **state) {
    (void)state;
    char text[128];
    for (size_t before = 0; before < 26; before++) {
        for (size_t behind = 0; behind < 10; behind++) {
            const char letters[] = "~ !#[]^_abcdefghijklmnopqr",
                       blanks[] = "                          ";
            zb_error err;
            zb__scanner s = {.text = text, .err = &err};
            const int b = (int)before, e = (int)behind;
            s.size = (size_t)snprintf(text, sizeof text, "\"%.*s\"%.*s", b, letters, e, letters);
            ASSERT_OK(zb__json_skip(&s, 1), err);
            assert_int_equal(s.at, before + 2);
            s.at = 0;
            s.size =
                (size_t)snprintf(text, sizeof text, "\"%.*s\\n\\\"%.*s\"", b, letters, e, letters);
            ASSERT_OK(zb__json_skip(&s, 1), err);
            assert_int_equal(s.at, s.size);
            s.at = 0;
            s.size =
                (size_t)snprintf(text, sizeof text, "\"%.*s\xc3\xa9%.*s\"", b, letters, e, letters);
            ASSERT_OK(zb__json_skip(&s, 1), err);
            assert_int_equal(s.at, s.size);
            static const char *const wrong[] = {"\x01", "\x1f", "\n", "\x80", "\xff"};
            for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
                char place[32];
                s.at = 0;
                s.size = (size_t)snprintf(text, sizeof text, "\"%.*s%s%.*s\"", b, letters, wrong[i],
                                          e, letters);
                assert_int_equal(zb__json_skip(&s, 1), ZB_EFORMAT);
                snprintf(place, sizeof place, "line 1, column %zu: ", before + 2);
                assert_memory_equal(err.message, place, strlen(place));
            }
            s.at = 0;
            s.size = (size_t)snprintf(text, sizeof text, "[\n%.*s1\n%.*s]", b, blanks, e, blanks);
            ASSERT_OK(zb__json_skip(&s, 1), err);
            assert_int_equal(s.at, s.size);
        }
    }
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
    size_t count;
    const zb_json_place *entries = zb__json_left_out(root, &count);
    assert_int_equal(count, 2);
    assert_int_equal(text[entries[1].begin], '2');
    assert_memory_equal(text + entries[1].name, "\"a\":2}", 6);
    assert_int_equal(zb_json_count(zb_json_get(zb_json_get(block, "more"), "metadata")), 1);
    assert_int_equal(zb_json_count(zb_json_get(zb_json_get(root, "attributes"), "metadata")), 1);
    assert_true(zb_json_int64(zb_json_get(root, "last"), &number) && number == 3);
    zb_json_free(root);
}

/* Of two maps the last one is in the tree, and its entries are those that are told. */
static void an_outline_tells_the_last_map(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t count;
    } rows[] = {
        {"{\"consolidated_metadata\":{\"metadata\":{\"a\":1,\"b\":2},\"metadata\":{\"c\":3}}}", 1},
        {"{\"consolidated_metadata\":{\"metadata\":{\"a\":1,\"b\":2},\"metadata\":null}}", 0},
        {"{\"consolidated_metadata\":{\"metadata\":{}}}", 0},
        {"{\"metadata\":{\"a\":1}}", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_json *root;
        zb_error err;
        size_t count;
        ASSERT_OK(zb__json_parse_outline(rows[i].text, strlen(rows[i].text), &root, &err), err);
        const zb_json_place *entries = zb__json_left_out(root, &count);
        assert_int_equal(count, rows[i].count);
        if (count > 0)
            assert_memory_equal(rows[i].text + entries[0].name, "\"c\":3", 5);
        zb_json_free(root);
    }
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
        cmocka_unit_test(finds_ends_at_any_byte),
        cmocka_unit_test(checks_objects_whose_members_are_told),
        cmocka_unit_test(checks_members_like_those_before),
        cmocka_unit_test(limits_what_is_kept_of_members),
        cmocka_unit_test(an_outline_leaves_out_the_entries),
        cmocka_unit_test(an_outline_tells_the_last_map),
        cmocka_unit_test(an_outline_checks_the_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
