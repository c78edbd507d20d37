/* SPDX-License-Identifier: MIT */
/* Options of stores on the network: of the name, then of the environment. */
#include "options.h"
#include "support/check.h"

static const char *const variables[] = {"AWS_NO_SIGN_REQUEST",
                                        "AWS_SKIP_SIGNATURE",
                                        "AWS_ENDPOINT_URL_S3",
                                        "AWS_ENDPOINT_URL",
                                        "AWS_S3_ENDPOINT",
                                        "AWS_HTTPS",
                                        "AWS_VIRTUAL_HOSTING",
                                        "AWS_PROFILE",
                                        "AWS_DEFAULT_PROFILE",
                                        "AWS_REGION",
                                        "AWS_DEFAULT_REGION",
                                        "AWS_REQUEST_PAYER",
                                        "AWS_CA_BUNDLE",
                                        "CURL_CA_BUNDLE",
                                        "SSL_CERT_FILE",
                                        "HDF5_ROS3_VFD_FORCE_PATH_STYLE",
                                        "ZARRBRIDGE_REMOTE_MISSING_403"};

static const zb_store_settings nothing = {.options = NULL};

static int clean(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    return 0;
}

static zb__options read_options(const char *text) {
    zb_error err;
    zb__options options;
    ASSERT_OK(zb__options_read(text, &nothing, &options, &err), err);
    return options;
}

static void options_of_names(void **state) {
    (void)state;
    zb__options o = read_options("");
    assert_true(o.anon == ZB__UNSAID && o.path_style == ZB__UNSAID && !o.region && !o.endpoint);
    zb__options_clear(&o);
    o = read_options("anon=1&&region=eu%2Dwest-1&endpoint=http%3A//h:9/%26&path_style=FALSE&"
                     "requester_pays&missing_403=yes&profile=a%20b&");
    assert_int_equal(o.anon, ZB__YES);
    assert_int_equal(o.path_style, ZB__NO);
    assert_int_equal(o.requester_pays, ZB__YES);
    assert_int_equal(o.missing_403, ZB__YES);
    assert_string_equal(o.region, "eu-west-1");
    assert_string_equal(o.endpoint, "http://h:9/&");
    assert_string_equal(o.profile, "a b");
    assert_true(o.names_profile);
    zb__options_clear(&o);
}

static void wrong_options(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"anon=canary", "neither yes nor no"},  {"secret=canary", "'secret' is no option"},
        {"CANARY/canary=1", "'' is no option"}, {"region", "needs a value"},
        {"region=", "needs a value"},           {"region=a%00canary", "needs a value"}};
    zb_error err;
    zb__options options;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ASSERT_FAILS(zb__options_read(wrong[i][0], &nothing, &options, &err), ZB_EINVAL, err,
                     wrong[i][1]);
        assert_null(strcasestr(err.message, "canary"));
    }
    setenv("AWS_NO_SIGN_REQUEST", "canary", 1);
    ASSERT_FAILS(zb__options_read("", &nothing, &options, &err), ZB_EINVAL, err,
                 "AWS_NO_SIGN_REQUEST is neither");
    assert_null(strstr(err.message, "canary"));
}

static void names_come_before_the_environment(void **state) {
    (void)state;
    setenv("AWS_REGION", "", 1); /* as if it were not there */
    setenv("AWS_DEFAULT_REGION", "two", 1);
    setenv("AWS_PROFILE", "p", 1);
    setenv("AWS_ENDPOINT_URL", "http://general", 1);
    setenv("AWS_ENDPOINT_URL_S3", "http://s3", 1);
    setenv("AWS_NO_SIGN_REQUEST", "YES", 1);
    setenv("AWS_REQUEST_PAYER", "requester", 1);
    zb__options o = read_options("anon=0");
    assert_int_equal(o.anon, ZB__NO);
    assert_int_equal(o.requester_pays, ZB__YES);
    assert_string_equal(o.region, "two");
    assert_string_equal(o.endpoint, "http://s3");
    assert_true(o.profile && !o.names_profile);
    zb__options_clear(&o);
}

static void variables_of_one_cloud_say_nothing_of_another(void **state) {
    (void)state;
    zb_error err;
    zb__options o;
    setenv("AWS_ENDPOINT_URL", "http://s3", 1);
    setenv("AWS_S3_ENDPOINT", "s3", 1);
    setenv("AWS_NO_SIGN_REQUEST", "1", 1);
    setenv("AWS_REQUEST_PAYER", "requester", 1);
    setenv("CURL_CA_BUNDLE", "/of/all", 1);
    ASSERT_OK(zb__options_read_azure("account=me", &nothing, &o, &err), err);
    assert_string_equal(o.account, "me");
    assert_string_equal(o.ca_file, "/of/all");
    assert_true(!o.endpoint && o.anon == ZB__UNSAID && o.requester_pays == ZB__UNSAID);
    zb__options_clear(&o);
    clean(state);
    setenv("AZURE_NO_SIGN_REQUEST", "1", 1);
    o = read_options("");
    assert_int_equal(o.anon, ZB__UNSAID);
    zb__options_clear(&o);
    ASSERT_OK(zb__options_read_azure("", &nothing, &o, &err), err);
    assert_int_equal(o.anon, ZB__YES);
    zb__options_clear(&o);
    unsetenv("AZURE_NO_SIGN_REQUEST");
}

static void variables_of_gdal(void **state) {
    (void)state;
    setenv("AWS_S3_ENDPOINT", "host:9000", 1);
    setenv("AWS_VIRTUAL_HOSTING", "FALSE", 1);
    zb__options o = read_options("");
    assert_string_equal(o.endpoint, "https://host:9000");
    assert_int_equal(o.path_style, ZB__YES);
    zb__options_clear(&o);
    setenv("AWS_HTTPS", "NO", 1);
    o = read_options("path_style=0");
    assert_string_equal(o.endpoint, "http://host:9000");
    assert_int_equal(o.path_style, ZB__NO);
    zb__options_clear(&o);
}

static void front_ends_come_between(void **state) {
    (void)state;
    zb_error err;
    zb__options o;
    setenv("AWS_REGION", "three", 1);
    setenv("AWS_CA_BUNDLE", "", 1);
    setenv("CURL_CA_BUNDLE", "/of/the/environment", 1);
    zb_store_settings said = {.options = "region=two&anon=1&endpoint=http://h&profile=p"};
    ASSERT_OK(zb__options_read("region=one&anon=0", &said, &o, &err), err);
    assert_string_equal(o.region, "one");
    assert_string_equal(o.endpoint, "http://h");
    assert_string_equal(o.ca_file, "/of/the/environment");
    assert_int_equal(o.anon, ZB__NO);
    assert_true(o.names_profile && strcmp(o.profile, "p") == 0 && !o.key_id && !o.headers);
    zb__options_clear(&o);
    said.options = "region=two&ca_file=/said&proxy=http%3A//h:1";
    ASSERT_OK(zb__options_read("", &said, &o, &err), err);
    assert_string_equal(o.region, "two");
    assert_string_equal(o.ca_file, "/said");
    assert_string_equal(o.proxy, "http://h:1");
    zb__options_clear(&o);
    said.options = "key_id=canary";
    ASSERT_FAILS(zb__options_read("", &said, &o, &err), ZB_EINVAL, err, "'key_id' is no option");
    said.options = "proxy=http://canary:canary@h";
    ASSERT_FAILS(zb__options_read("", &said, &o, &err), ZB_EINVAL, err, "no password");
    assert_null(strstr(err.message, "canary"));
}

/* A program's own count before its profile, and not before the one that the name tells. */
static void credentials_of_front_ends(void **state) {
    (void)state;
    zb_error err;
    zb__options o;
    zb_store_settings said = {
        .options = "profile=p", .key_id = "id", .secret_key = "secret", .headers = "A: b"};
    ASSERT_OK(zb__options_read("", &said, &o, &err), err);
    assert_string_equal(o.key_id, "id");
    assert_string_equal(o.secret_key, "secret");
    assert_string_equal(o.headers, "A: b");
    assert_true(!o.session_token && !o.names_profile);
    zb__options_clear(&o);
    ASSERT_OK(zb__options_read("profile=q", &said, &o, &err), err);
    assert_true(o.names_profile && strcmp(o.profile, "q") == 0);
    zb__options_clear(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(options_of_names, clean),
        cmocka_unit_test_setup(wrong_options, clean),
        cmocka_unit_test_setup(names_come_before_the_environment, clean),
        cmocka_unit_test_setup(variables_of_one_cloud_say_nothing_of_another, clean),
        cmocka_unit_test_setup(variables_of_gdal, clean),
        cmocka_unit_test_setup(front_ends_come_between, clean),
        cmocka_unit_test_setup(credentials_of_front_ends, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
