/* SPDX-License-Identifier: MIT */
/* The URLs and headers of requests to S3, without a server. */
#include "remote.h"
#include "s3_open.h"
#include "support/check.h"

static int clean(void **state) {
    (void)state;
    static const char *const variables[] = {
        "AWS_ENDPOINT_URL",    "AWS_ENDPOINT_URL_S3", "AWS_S3_ENDPOINT",     "AWS_REGION",
        "AWS_DEFAULT_REGION",  "AWS_PROFILE",         "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN",
        "AWS_VIRTUAL_HOSTING", "AWS_NO_SIGN_REQUEST"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    setenv("HOME", "/nowhere", 1);
    setenv("AWS_ACCESS_KEY_ID", "AK", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
    return 0;
}

static zb__remote *open_store(const char *name) {
    zb_error err;
    char *label;
    zb__remote *store = calloc(1, sizeof *store);
    ASSERT_OK(zb__s3_open(name, &(zb_store_settings){.options = NULL}, store, &label, &err), err);
    store->base.label = label;
    store->stopper = zb__stopper_mine;
    ASSERT_OK(store->protocol->prepare(store, &err), err);
    return store;
}

static void close_store(zb__remote *store) {
    free(store->base.label);
    zb__remote_free(store);
}

static zb__outgoing address(zb__remote *store, const char *key, const char *query) {
    zb_error err;
    zb__outgoing out = {.url = NULL};
    const zb__request request = {.store = store, .key = key, .query = query};
    ASSERT_OK(store->protocol->address(store, &request, &out, &err), err);
    return out;
}

static void assert_url(const char *name, const char *expected, const char *expected_list) {
    zb__remote *store = open_store(name);
    zb__outgoing out = address(store, "c/0", NULL);
    assert_string_equal(out.url, expected);
    assert_string_equal(out.user, "AK");
    zb__outgoing_clear(&out);
    out = address(store, NULL, "q=1");
    assert_string_equal(out.url, expected_list);
    zb__outgoing_clear(&out);
    close_store(store);
}

static void places_of_buckets(void **state) {
    (void)state;
    assert_url("s3://my-bucket/x.zarr", "https://my-bucket.s3.us-east-1.amazonaws.com/x.zarr/c/0",
               "https://my-bucket.s3.us-east-1.amazonaws.com?q=1");
    assert_url("s3://my-bucket#region=cn-north-1",
               "https://my-bucket.s3.cn-north-1.amazonaws.com.cn/c/0",
               "https://my-bucket.s3.cn-north-1.amazonaws.com.cn?q=1");
    assert_url("s3://my.bucket/x#region=eu-west-1",
               "https://s3.eu-west-1.amazonaws.com/my.bucket/x/c/0",
               "https://s3.eu-west-1.amazonaws.com/my.bucket?q=1");
    assert_url("s3://My_bucket", "https://s3.us-east-1.amazonaws.com/My_bucket/c/0",
               "https://s3.us-east-1.amazonaws.com/My_bucket?q=1");
    assert_url("s3://bucket/a+b#endpoint=http://localhost:9/",
               "http://localhost:9/bucket/a%2Bb/c/0", "http://localhost:9/bucket?q=1");
    assert_url("s3://bucket/x#endpoint=https://h/s3&path_style=0", "https://bucket.h/s3/x/c/0",
               "https://bucket.h/s3?q=1");
}

static bool has_header(const zb__outgoing *out, const char *begin) {
    for (size_t i = 0; i < out->header_count; i++) {
        if (strncmp(out->headers[i], begin, strlen(begin)) == 0)
            return true;
    }
    return false;
}

static enum zb__verdict judge(zb__remote *store, int status, const char *body, const char *region,
                              zb_error *err) {
    zb__reply reply = {.status = status, .version = {.dated = 1000000}};
    const zb__request request = {.store = store, .key = "c/0"};
    snprintf(reply.body, sizeof reply.body, "%s", body);
    snprintf(reply.region, sizeof reply.region, "%s", region);
    *err = (zb_error){.code = ZB_OK};
    return store->protocol->judge(store, &request, &reply, err);
}

static void what_replies_teach(void **state) {
    (void)state;
    zb_error err;
    setenv("AWS_SESSION_TOKEN", "token", 1);
    zb__remote *store = open_store("s3://bucket/x#requester_pays");
    zb__outgoing out = address(store, "k", NULL);
    assert_string_equal(out.sigv4, "aws:amz:us-east-1:s3");
    assert_true(has_header(&out, "x-amz-security-token: token"));
    assert_true(has_header(&out, "x-amz-request-payer: requester"));
    assert_false(has_header(&out, "X-Amz-Date"));
    zb__outgoing_clear(&out);
    assert_int_equal(judge(store, 301, "", "eu-west-1", &err), ZB__AGAIN_NOW);
    assert_int_equal(
        judge(store, 403, "<Error><Code>RequestTimeTooSkewed</Code></Error>", "", &err),
        ZB__AGAIN_NOW);
    out = address(store, "k", NULL);
    assert_string_equal(out.sigv4, "aws:amz:eu-west-1:s3");
    assert_string_equal(out.url, "https://bucket.s3.eu-west-1.amazonaws.com/x/k");
    assert_true(has_header(&out, "X-Amz-Date: 19700112T"));
    zb__outgoing_clear(&out);
    assert_int_equal(judge(store, 301, "", "evil.example/", &err), ZB__FAILED);
    out = address(store, "k", NULL);
    assert_string_equal(out.url, "https://bucket.s3.eu-west-1.amazonaws.com/x/k");
    zb__outgoing_clear(&out);
    close_store(store);
}

static void what_errors_mean(void **state) {
    (void)state;
    static const struct {
        int status;
        const char *code;
        enum zb__verdict verdict, with_missing_403;
    } cases[] = {
        {404, "NoSuchKey", ZB__MISSING, ZB__MISSING},
        {404, "NoSuchBucket", ZB__FAILED, ZB__FAILED},
        {404, "", ZB__BY_STATUS, ZB__BY_STATUS},
        {404, "XAdminUserNotFound", ZB__FAILED, ZB__FAILED},
        {403, "AccessDenied", ZB__FAILED, ZB__MISSING},
        {403, "", ZB__FAILED, ZB__MISSING},
        {403, "InvalidAccessKeyId", ZB__FAILED, ZB__FAILED},
        {403, "SignatureDoesNotMatch", ZB__FAILED, ZB__FAILED},
        {400, "ExpiredToken", ZB__RENEW, ZB__RENEW},
        {401, "", ZB__RENEW, ZB__RENEW},
        {400, "RequestTimeout", ZB__AGAIN, ZB__AGAIN},
        {503, "SlowDown", ZB__AGAIN, ZB__AGAIN},
        {400, "InvalidArgument", ZB__FAILED, ZB__FAILED},
        {412, "PreconditionFailed", ZB__BY_STATUS, ZB__BY_STATUS},
        {416, "InvalidRange", ZB__BY_STATUS, ZB__BY_STATUS},
        {500, "", ZB__BY_STATUS, ZB__BY_STATUS},
    };
    zb_error err;
    zb__remote *store = open_store("s3://bucket/x"),
               *lenient = open_store("s3://bucket/x#missing_403");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[128];
        snprintf(body, sizeof body, "<Error><Code>%s</Code></Error>", cases[i].code);
        assert_int_equal(judge(store, cases[i].status, body, "", &err), cases[i].verdict);
        assert_true(cases[i].verdict != ZB__FAILED || err.message[0]);
        assert_int_equal(judge(lenient, cases[i].status, body, "", &err),
                         cases[i].with_missing_403);
    }
    close_store(store);
    close_store(lenient);
    store = open_store("s3://bucket/x#anon=1");
    assert_int_equal(judge(store, 401, "", "", &err), ZB__FAILED);
    assert_non_null(strstr(err.message, "401): the request was not signed"));
    close_store(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(places_of_buckets, clean),
        cmocka_unit_test_setup(what_replies_teach, clean),
        cmocka_unit_test_setup(what_errors_mean, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
