/* SPDX-License-Identifier: MIT */
/* Names of stores on the network, and the URLs of their keys. */
#include <strings.h>

#include "support/check.h"
#include "url.h"

static void assert_url(const char *name, const char *base, const char *query, const char *options) {
    zb_error err;
    zb__url url;
    ASSERT_OK(zb__url_parse(name, &url, &err), err);
    assert_int_equal(strcasecmp(url.base, base), 0); /* libcurl 8.22 encodes by capitals */
    assert_string_equal(url.label, url.base);
    assert_string_equal(url.query, query);
    assert_string_equal(url.options, options);
    zb__url_clear(&url);
}

static void assert_refused(const char *name, const char *words) {
    zb_error err;
    zb__url url;
    ASSERT_FAILS(zb__url_parse(name, &url, &err), ZB_EINVAL, err, words);
    assert_null(strstr(err.message, "canary"));
}

static void parts_of_urls(void **state) {
    (void)state;
    assert_url("https://host/x.zarr", "https://host/x.zarr", "", "");
    assert_url("HTTPS://Host:8443/a/b.zarr//", "https://Host:8443/a/b.zarr", "", "");
    assert_url("http://host", "http://host", "", "");
    assert_url("https://h/x.zarr?sv=1&sig=a%2Bb#anon=1", "https://h/x.zarr", "?sv=1&sig=a%2Bb",
               "anon=1");
    assert_url("https://h/a b/\xc3\xa9.zarr", "https://h/a%20b/%c3%a9.zarr", "", "");
    assert_url("https://h/a%20b.zarr", "https://h/a%20b.zarr", "", "");
    assert_url("https://[::1]:80/x", "https://[::1]:80/x", "", "");
}

static void refused_urls(void **state) {
    (void)state;
    assert_refused("https://canary:canary@h/x.zarr", "user or a password");
    assert_refused("https://canary@h/x.zarr", "user or a password");
    assert_refused("https://h/x.zarr?X-Amz-Credential=canary&X-Amz-Signature=canary", "signed");
    assert_refused("https://", "not valid");
    assert_refused("https://h:canary/x", "not valid");
    assert_refused("https:///h/x", "no host"); /* libcurl asks h */
    assert_refused("http:///x.zarr", "no host");
    assert_refused("HTTP://?x", "no host");
    assert_refused("ftp://canary/x", "neither");
}

static void urls_of_keys(void **state) {
    (void)state;
    zb_error err;
    zb__url url;
    ASSERT_OK(zb__url_parse("https://h/x.zarr?q=1", &url, &err), err);
    char *text = zb__url_of_key(&url, "a/c.0~_-/=@'(!+ %\xc3\xa9#?&");
    assert_string_equal(text,
                        "https://h/x.zarr/a/c.0~_-/%3D%40%27%28%21%2B%20%25%C3%A9%23%3F%26?q=1");
    free(text);
    zb__url_clear(&url);
    zb__text parameter = {.data = NULL};
    zb__url_encode(&parameter, "/a/b=c/", false);
    text = zb__text_take(&parameter, NULL);
    assert_string_equal(text, "%2Fa%2Fb%3Dc%2F");
    free(text);
}

static void assert_host(const char *name, const char *label, const char *expected) {
    zb_error err;
    zb__url url;
    char *base;
    bool can;
    ASSERT_OK(zb__url_parse(name, &url, &err), err);
    ASSERT_OK(zb__url_with_host_label(&url, label, &base, &can, &err), err);
    assert_true(can == (expected != NULL));
    if (expected)
        assert_string_equal(base, expected);
    free(base);
    zb__url_clear(&url);
}

static void hosts_of_buckets(void **state) {
    (void)state;
    assert_host("https://s3.eu-west-1.amazonaws.com", "b", "https://b.s3.eu-west-1.amazonaws.com");
    assert_host("http://localhost:9000/", "my-bucket", "http://my-bucket.localhost:9000");
    assert_host("http://127.0.0.1:9000", "b", NULL);
    assert_host("http://[::1]:9000", "b", NULL);
}

static void assert_s3(const char *text, const char *bucket, const char *prefix, const char *label,
                      const char *options) {
    zb_error err;
    zb__bucket_name name;
    ASSERT_OK(zb__bucket_name_parse(text, *text == 'a' ? "az://" : "s3://", &name, &err), err);
    assert_string_equal(name.bucket, bucket);
    assert_string_equal(name.prefix, prefix);
    assert_string_equal(name.label, label);
    assert_string_equal(name.options, options);
    zb__bucket_name_clear(&name);
}

static void names_in_s3(void **state) {
    (void)state;
    zb_error err;
    zb__bucket_name name;
    assert_s3("s3://b", "b", "", "s3://b", "");
    assert_s3("s3://b/", "b", "", "s3://b", "");
    assert_s3("S3://b.c/x/y.zarr//", "b.c", "x/y.zarr/", "s3://b.c/x/y.zarr", "");
    assert_s3("s3://b/a%20 ?=x.zarr", "b", "a%20 ?=x.zarr/", "s3://b/a%20 ?=x.zarr", "");
    assert_s3("s3://b/x.zarr#anon=1", "b", "x.zarr/", "s3://b/x.zarr", "anon=1");
    assert_s3("s3://b/x.zarr/#", "b", "x.zarr/", "s3://b/x.zarr", "");
    assert_s3("s3://b/a#1.zarr#", "b", "a#1.zarr/", "s3://b/a#1.zarr", "");
    assert_s3("s3://b#anon=1", "b", "", "s3://b", "anon=1");
    assert_s3("az://b/x.zarr/#account=a", "b", "x.zarr/", "az://b/x.zarr", "account=a");
    static const char *const bad[] = {"s3://",     "s3:///x",    "s3://.b/x",    "s3://b@h/x",
                                      "s3://b:1/", "s3://b?x=1", "s3://b#x#y=1", "s3://a b/x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ASSERT_FAILS(zb__bucket_name_parse(bad[i], "s3://", &name, &err), ZB_EINVAL, err, "bucket");
    ASSERT_FAILS(zb__bucket_name_parse("https://b/x", "s3://", &name, &err), ZB_EINVAL, err,
                 "s3://");
    assert_s3("s3://b/...//.x/y..", "b", "...//.x/y../", "s3://b/...//.x/y..", "");
    static const char *const dots[] = {"s3://b/..", "s3://b/./x", "s3://b/../c/x", "s3://b/x/..//"};
    for (size_t i = 0; i < sizeof dots / sizeof *dots; i++)
        ASSERT_FAILS(zb__bucket_name_parse(dots[i], "s3://", &name, &err), ZB_EINVAL, err, "'..'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_urls), cmocka_unit_test(refused_urls),
        cmocka_unit_test(urls_of_keys),  cmocka_unit_test(hosts_of_buckets),
        cmocka_unit_test(names_in_s3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
