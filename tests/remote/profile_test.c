/* SPDX-License-Identifier: MIT */
/* Profiles in the files of the AWS tools. */
#include "profile.h"
#include "support/check.h"

static enum zb_code parse(const char *text, const char *name, zb__profile *out, zb_error *err) {
    *out = (zb__profile){.id = NULL};
    return zb__profile_parse(text, strlen(text), "profile ", name, out, err);
}

static void settings(void **state) {
    (void)state;
    zb_error err;
    zb__profile p;
    ASSERT_OK(parse("# a comment\n[default]\nregion = one\n\n[profile x]\r\nregion=two\r\n"
                    "aws_access_key_id =  AK \naws_secret_access_key=a/b+c=\n"
                    "s3 =\n  region = three\n  endpoint_url = http://no\nendpoint_url: http://h\n"
                    "credential_process = get 'a b' c\n[profile xy]\nregion=four\n",
                    "x", &p, &err),
              err);
    assert_true(p.exists && !p.is_elsewhere && !p.token);
    assert_string_equal(p.id, "AK");
    assert_string_equal(p.secret, "a/b+c=");
    assert_string_equal(p.region, "two");
    assert_string_equal(p.endpoint, "http://h");
    assert_string_equal(p.process, "get 'a b' c");
    zb__profile_clear(&p);
    ASSERT_OK(parse("\xef\xbb\xbf[default]\nregion=one\n", "default", &p, &err), err);
    assert_string_equal(p.region, "one");
    zb__profile_clear(&p);
    ASSERT_OK(parse("[x]\nregion=one\n", "x", &p, &err), err);
    assert_false(p.exists);
    ASSERT_OK(parse("[profile x]\nrole_arn = arn\nsource_profile=y\n", "x", &p, &err), err);
    assert_true(p.exists && p.is_elsewhere);
}

/* A session token is longer than a line that libinih takes: none of any length is cut. */
static void long_values(void **state) {
    (void)state;
    zb_error err;
    zb__profile p;
    char value[2001], text[8192];
    for (size_t length = 100; length < sizeof value; length += length < 900 ? 1 : 97) {
        for (size_t i = 0; i < length; i++)
            value[i] = "abc/+=d;#:"[(i * 7 + length) % 10];
        value[0] = 'x';
        value[length] = '\0';
        snprintf(text, sizeof text,
                 "[profile x]\naws_session_token = %s\nregion = r\n# %s\n[profile y]\nregion = %s",
                 value, value, value);
        ASSERT_OK(parse(text, "x", &p, &err), err);
        assert_string_equal(p.token, value);
        assert_string_equal(p.region, "r");
        zb__profile_clear(&p);
    }
}

static void lines_that_cannot_be_read(void **state) {
    (void)state;
    zb_error err;
    zb__profile p = {.id = NULL};
    char text[70100] = "[profile x]\nregion = ";
    const size_t begin = strlen(text);
    memset(text + begin, 'a', sizeof text - begin - 1);
    ASSERT_FAILS(parse(text, "x", &p, &err), ZB_EINVAL, err, "too long");
    zb__profile_clear(&p);
    memset(text + begin, ' ', 500);
    memset(text + begin + 500, 'a', 10);
    text[begin + 510] = '\0';
    ASSERT_FAILS(parse(text, "x", &p, &err), ZB_EINVAL, err, "cannot be understood");
    zb__profile_clear(&p);
    ASSERT_FAILS(zb__profile_parse("[x]\na=\0b", 8, "", "x", &p, &err), ZB_EINVAL, err,
                 "understood");
    zb__profile_clear(&p);
}

static void files(void **state) {
    (void)state;
    zb_error err;
    zb__profile p;
    char *folder = check_new_directory(), credentials[256], config[256];
    snprintf(credentials, sizeof credentials, "%s/credentials", folder);
    snprintf(config, sizeof config, "%s/config", folder);
    ASSERT_OK(zb__profile_read(credentials, NULL, "x", &p, &err), err);
    assert_false(p.exists);
    static const char keys[] = "[x]\naws_access_key_id=one\nregion=\n",
                      others[] = "[profile x]\naws_access_key_id=two\nregion=r\n[x]\nregion=no\n";
    check_write_file(folder, "credentials", keys, sizeof keys - 1);
    check_write_file(folder, "config", others, sizeof others - 1);
    ASSERT_OK(zb__profile_read(credentials, config, "x", &p, &err), err);
    assert_string_equal(p.id, "one");
    zb__profile_clear(&p);
    ASSERT_OK(zb__profile_read("/dev/null", config, "x", &p, &err), err);
    assert_string_equal(p.id, "two");
    zb__profile_clear(&p);
    ASSERT_FAILS(zb__profile_read(folder, NULL, "x", &p, &err), ZB_EINVAL, err, folder);
    ASSERT_FAILS(
        zb__profile_read(NULL, NULL, "a profile with a name that is much too long", &p, &err),
        ZB_EINVAL, err, "longer than");
    check_remove_directory(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings),
        cmocka_unit_test(long_values),
        cmocka_unit_test(lines_that_cannot_be_read),
        cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
