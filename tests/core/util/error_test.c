/* SPDX-License-Identifier: MIT */
/* Messages: made, prefixed, cut, kept to one line of UTF-8; errno values mapped to codes. */
#include <errno.h>

#include "support/check.h"
#include "util/utf8.h"
#include "zarrbridge/version.h"

static void assert_utf8_line(const char *text) {
    size_t left = strlen(text);
    assert_true(left < ZB_MESSAGE_SIZE);
    while (left > 0) {
        size_t length = zb__utf8_length(text, left);
        assert_true(length > 0);
        assert_true((unsigned char)*text >= ' ' && *text != 0x7f);
        text += length;
        left -= length;
    }
}

static void fills_code_and_message(void **state) {
    (void)state;
    zb_error err;
    memset(&err, 0x55, sizeof err);
    assert_int_equal(zb_fail(&err, ZB_EFORMAT, "saw %d, expected %s", 3, "four"), ZB_EFORMAT);
    assert_int_equal(err.code, ZB_EFORMAT);
    assert_int_equal(err.sys_errno, 0);
    assert_string_equal(err.message, "saw 3, expected four");
    assert_int_equal(zb_fail(NULL, ZB_EIO, "nobody %s", "listens"), ZB_EIO);
    assert_int_equal(zb_fail_errno(NULL, ENOENT, "nobody"), ZB_ENOTFOUND);
    assert_int_equal(zb_error_prefix(NULL, ZB_EIO, "nobody"), ZB_EIO);
}

static void maps_errno(void **state) {
    (void)state;
    static const struct {
        int sys_errno;
        enum zb_code code;
    } rows[] = {{ENOENT, ZB_ENOTFOUND}, {ENOTDIR, ZB_ENOTFOUND}, {ENOMEM, ZB_ENOMEM},
                {EIO, ZB_EIO},          {EACCES, ZB_EIO},        {EMFILE, ZB_EIO}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_error err;
        assert_int_equal(zb_fail_errno(&err, rows[i].sys_errno, "cannot open '%s'", "k"),
                         rows[i].code);
        assert_int_equal(err.code, rows[i].code);
        assert_int_equal(err.sys_errno, rows[i].sys_errno);
        char expected[200];
        snprintf(expected, sizeof expected, "cannot open 'k': %s", strerror(rows[i].sys_errno));
        assert_string_equal(err.message, expected);
    }
}

static void prefixes_in_order(void **state) {
    (void)state;
    zb_error err;
    zb_fail_errno(&err, EIO, "cannot read");
    assert_int_equal(zb_error_prefix(&err, ZB_EIO, "chunk %s", "c/0"), ZB_EIO);
    assert_int_equal(zb_error_prefix(&err, ZB_EIO, "store %s", "s"), ZB_EIO);
    char expected[200];
    snprintf(expected, sizeof expected, "store s: chunk c/0: cannot read: %s", strerror(EIO));
    assert_string_equal(err.message, expected);
    assert_int_equal(err.sys_errno, EIO); /* survives */
}

/* Characters of 1 to 4 bytes, begun at every offset: the cut never leaves half of one. */
static void cuts_between_characters(void **state) {
    (void)state;
    static const char *const characters[] = {"x", "é", "√", "🂡"};
    for (size_t c = 0; c < 4; c++) {
        for (size_t offset = 0; offset < 5; offset++) {
            char text[2 * ZB_MESSAGE_SIZE] = "";
            memset(text, '.', offset);
            while (strlen(text) < sizeof text - 5)
                strcat(text, characters[c]);
            zb_error err;
            zb_fail(&err, ZB_EIO, "%s", text);
            assert_utf8_line(err.message);
            assert_true(strlen(err.message) >= ZB_MESSAGE_SIZE - 8);
            zb_fail(&err, ZB_EIO, "short");
            zb_error_prefix(&err, ZB_EIO, "%s", text);
            assert_utf8_line(err.message);
            zb_fail(&err, ZB_EIO, "%.*s", ZB_MESSAGE_SIZE / 2, text);
            zb_error_prefix(&err, ZB_EIO, "%s", "store");
            zb_error_prefix(&err, ZB_EIO, "%.*s", ZB_MESSAGE_SIZE / 2, text);
            assert_utf8_line(err.message);
            zb_fail_errno(&err, EIO, "%s", text);
            assert_utf8_line(err.message);
        }
    }
}

/* File names may hold anything but '/' and NUL; a message stays one line of UTF-8 nevertheless.
   (The split strings below keep the compiler from seeing trigraphs.) */
static void replaces_what_is_no_text(void **state) {
    (void)state;
    zb_error err;
    zb_fail(&err, ZB_EIO, "key '%s'", "a\nb\x1b[31m\xff\xc3(\x7f é");
    assert_utf8_line(err.message);
    assert_string_equal(err.message, "key 'a?b?[31m?" "?(? é'");
    zb_error_prefix(&err, ZB_EIO, "store %s", "\r\n");
    assert_string_equal(err.message, "store ?" "?: key 'a?b?[31m?" "?(? é'");
    zb_fail_errno(&err, EIO, "\xf0\x9f\x82");
    assert_utf8_line(err.message);
}

static void names_every_code(void **state) {
    (void)state;
    static const struct {
        enum zb_code code;
        const char *name;
    } rows[] = {{ZB_OK, "ZB_OK"},
                {ZB_EIO, "ZB_EIO"},
                {ZB_ENOTFOUND, "ZB_ENOTFOUND"},
                {ZB_ENOMEM, "ZB_ENOMEM"},
                {ZB_EFORMAT, "ZB_EFORMAT"},
                {ZB_EUNSUPPORTED, "ZB_EUNSUPPORTED"},
                {ZB_EINVAL, "ZB_EINVAL"},
                {ZB_ECHECKSUM, "ZB_ECHECKSUM"},
                {ZB_ELIMIT, "ZB_ELIMIT"},
                {ZB_ECONFLICT, "ZB_ECONFLICT"},
                {ZB_ECANCELLED, "ZB_ECANCELLED"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal((int)rows[i].code, -(int)i); /* the numbers are stable */
        assert_string_equal(zb_code_name(rows[i].code), rows[i].name);
    }
    assert_string_equal(zb_code_name((enum zb_code) - 99), "unknown code");
    assert_string_equal(zb_version(), ZB_VERSION);
    assert_true(ZB_VERSION_NUMBER >= ZB_MAKE_VERSION(0, 1, 0));
    assert_true(ZB_VERSION_NUMBER < ZB_MAKE_VERSION(ZB_VERSION_MAJOR + 1, 0, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_code_and_message),  cmocka_unit_test(maps_errno),
        cmocka_unit_test(prefixes_in_order),       cmocka_unit_test(cuts_between_characters),
        cmocka_unit_test(replaces_what_is_no_text), cmocka_unit_test(names_every_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
