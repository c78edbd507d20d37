/* SPDX-License-Identifier: MIT */
/* Heads of replies, and what they tell of versions. */
#include "support/check.h"

#include "reply.h"

static void good_ranges(void **state) {
    (void)state;
    zb__content_range range;
    assert_true(zb__content_range_parse("bytes 10-19/300", &range));
    assert_true(range.satisfied && range.has_size);
    assert_int_equal(range.first, 10);
    assert_int_equal(range.last, 19);
    assert_int_equal(range.size, 300);
    assert_true(zb__content_range_parse("bytes 0-0/*", &range));
    assert_true(range.satisfied && !range.has_size);
    assert_true(zb__content_range_parse("Bytes */0", &range));
    assert_true(!range.satisfied && range.has_size);
    assert_true(
        zb__content_range_parse("bytes 0-18446744073709551614/18446744073709551615", &range));
}

static void bad_ranges(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "bytes",
                                        "bytes ",
                                        "bytes 1",
                                        "bytes 1-2",
                                        "bytes 1-2/",
                                        "bytes 2-1/10",
                                        "bytes 1-10/10",
                                        "bytes -2/10",
                                        "bytes 1-/10",
                                        "bytes 1-2/3x",
                                        "bytes */*",
                                        "bytes 1-2/10, 3",
                                        "items 1-2/10",
                                        "bytes +1-2/10",
                                        "bytes 1--2/10",
                                        "bytes */-1",
                                        "bytes 0x1-2/10",
                                        "bytes=1-2/10",
                                        "bytes 1-2 / 10",
                                        "bytes 0-18446744073709551616/99999999999999999999",
                                        "bytes */18446744073709551616"};
    zb__content_range range;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (zb__content_range_parse(texts[i], &range))
            fail_msg("'%s' was taken", texts[i]);
    }
}

static zb__reply reply_of(const char *const *lines) {
    zb__reply reply = {.retry_after = -1};
    for (; *lines; lines++)
        assert_true(zb__reply_line(&reply, *lines, strlen(*lines)));
    return reply;
}

static void fields(void **state) {
    (void)state;
    const zb__reply reply = reply_of((const char *const[]){
        "HTTP/1.1 206 Partial Content\r\n", "content-length: 10\r\n",
        "Content-Range:bytes 10-19/300\r\n", "ETag:  \"a-b\" \r\n",
        "LAST-MODIFIED: Sat, 01 Jan 2022 00:00:00 GMT\r\n", "Retry-After: 7\r\n",
        "Content-Encoding: identity\r\n", "Content-Type: text/plain\r\n", "\r\n", NULL});
    assert_int_equal(reply.status, 206);
    assert_true(reply.has_length && reply.length == 10);
    assert_true(reply.range_is_good && reply.range.size == 300);
    assert_string_equal(reply.version.etag, "\"a-b\"");
    assert_int_equal(reply.version.modified, 1640995200);
    assert_int_equal(reply.retry_after, 7);
    assert_string_equal(reply.encoding, "");
    assert_string_equal(reply.content_type, "text/plain");
}

/* Of several heads (100 Continue) the last one counts. */
static void the_last_head_counts(void **state) {
    (void)state;
    const zb__reply reply = reply_of((const char *const[]){
        "HTTP/1.1 100 Continue\r\n", "ETag: \"old\"\r\n", "Content-Length: 5\r\n", "\r\n",
        "HTTP/1.1 200 OK\r\n", "\r\n", NULL});
    assert_int_equal(reply.status, 200);
    assert_string_equal(reply.version.etag, "");
    assert_false(reply.has_length);
}

static void strange_fields_are_none(void **state) {
    (void)state;
    char wide[400];
    snprintf(wide, sizeof wide, "ETag: \"%0300d\"\r\n", 1);
    const zb__reply reply = reply_of((const char *const[]){
        "HTTP/1.1 200 OK\r\n", "Content-Length: -1\r\n", "Content-Length-X: 3\r\n", wide,
        "ETag: unquoted\r\n", "ETag: \"two\", \"tags\"\r\n", "ETag: \"a b\"\r\n",
        "Last-Modified: yesterday\r\n", "Retry-After: soon\r\n", NULL});
    assert_false(reply.has_length);
    assert_string_equal(reply.version.etag, "");
    assert_int_equal(reply.version.modified, 0);
    assert_int_equal(reply.retry_after, -1);
}

static void heads_are_bounded(void **state) {
    (void)state;
    zb__reply reply = {.status = 0};
    int lines = 0;
    while (zb__reply_line(&reply, "X: y\r\n", 6))
        assert_true(++lines <= ZB__HEAD_LINES);
    assert_int_equal(lines, ZB__HEAD_LINES);
    static char line[8192];
    memset(line, 'x', sizeof line);
    reply = (zb__reply){.status = 0};
    for (lines = 0; zb__reply_line(&reply, line, sizeof line); lines++)
        assert_true(lines < ZB__HEAD_BYTES / 8192);
}

static zb__version version(const char *etag, int64_t modified, uint64_t size) {
    zb__version v = {.modified = modified, .dated = 1000, .size = size};
    strcpy(v.etag, etag);
    return v;
}

static void versions(void **state) {
    (void)state;
    const zb__version a = version("\"a\"", 5, 9), weak = version("W/\"a\"", 5, 9),
                      b = version("\"b\"", 5, 9), longer = version("\"a\"", 5, 10),
                      none = version("", 5, 9), later = version("", 6, 9);
    assert_true(zb__version_same(&a, &a) && zb__version_same(&a, &weak));
    assert_false(zb__version_same(&a, &b) || zb__version_same(&a, &longer));
    assert_true(zb__version_same(&a, &none));
    assert_false(zb__version_same(&none, &later));
    assert_true(zb__version_identical(&a, &a));
    assert_false(zb__version_identical(&weak, &weak) || zb__version_identical(&none, &none));
    assert_true(zb__version_is_strong(&a) && !zb__version_is_strong(&weak));
}

/* Without an ETag a change within two seconds of the reply could be followed by one that looks
   alike. */
static void validators(void **state) {
    (void)state;
    const zb__version a = version("\"a\"", 0, 9), b = version("\"b\"", 0, 9),
                      old = version("", 990, 9), young = version("", 999, 9),
                      none = version("", 0, 9);
    assert_true(zb__version_validator(&a).valid && zb__version_validator(&old).valid);
    assert_false(zb__version_validator(&young).valid || zb__version_validator(&none).valid);
    const zb_validator first = zb__version_validator(&a), second = zb__version_validator(&b);
    assert_memory_not_equal(first.word, second.word, sizeof first.word);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_ranges),
        cmocka_unit_test(bad_ranges),
        cmocka_unit_test(fields),
        cmocka_unit_test(the_last_head_counts),
        cmocka_unit_test(strange_fields_are_none),
        cmocka_unit_test(heads_are_bounded),
        cmocka_unit_test(versions),
        cmocka_unit_test(validators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
