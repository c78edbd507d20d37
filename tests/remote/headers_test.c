/* SPDX-License-Identifier: MIT */
/* Headers that a program wants to send along. */
#include "headers.h"
#include "support/check.h"

static void lines_are_headers(void **state) {
    (void)state;
    zb_error err;
    char **headers;
    ASSERT_OK(zb__headers_read("Authorization: Bearer x\r\n\nX-A: b, c\n", &headers, &err), err);
    assert_string_equal(headers[0], "Authorization: Bearer x");
    assert_string_equal(headers[1], "X-A: b, c");
    assert_null(headers[2]);
    zb__headers_free(headers);
    ASSERT_OK(zb__headers_read(NULL, &headers, &err), err);
    assert_null(headers);
    ASSERT_OK(zb__headers_read("\n\n", &headers, &err), err);
    assert_null(headers);
}

static void wrong_lines(void **state) {
    (void)state;
    static const char *const wrong[][2] = {{"canary", "not 'Name: value'"},
                                           {": canary", "not 'Name: value'"},
                                           {"A b: canary", "not 'Name: value'"},
                                           {"A: b\nRANGE: canary", "range cannot be set"},
                                           {"If-Match: canary", "if-match cannot be set"},
                                           {"Host:canary", "host cannot be set"},
                                           {"A: canary\rB: c", "A has control characters"},
                                           {"A: canary\x7f", "A has control characters"}};
    zb_error err;
    char **headers;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ASSERT_FAILS(zb__headers_read(wrong[i][0], &headers, &err), ZB_EINVAL, err, wrong[i][1]);
        assert_null(headers);
        assert_null(strstr(err.message, "canary"));
    }
}

static void many_headers(void **state) {
    (void)state;
    char text[65 * 5 + 1] = "";
    zb_error err;
    char **headers;
    for (int i = 0; i < 64; i++)
        memcpy(text + 5 * i, "A: b\n", 6);
    ASSERT_OK(zb__headers_read(text, &headers, &err), err);
    assert_string_equal(headers[63], "A: b");
    zb__headers_free(headers);
    memcpy(text + 5 * 64, "A: b\n", 6);
    ASSERT_FAILS(zb__headers_read(text, &headers, &err), ZB_EINVAL, err, "more than 64");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_headers),
        cmocka_unit_test(wrong_lines),
        cmocka_unit_test(many_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
