/* SPDX-License-Identifier: MIT */
/* Credentials: what programs print, and the order of the places. */
#include "cred.h"
#include "cred_process.h"
#include "support/check.h"

static enum zb_code parse(const char *text, zb__cred *out, zb_error *err) {
    return zb__cred_parse(text, strlen(text), out, err);
}

#define KEYS "\"AccessKeyId\": \"AK\", \"SecretAccessKey\": \"canary\""

static void printed(void **state) {
    (void)state;
    zb_error err;
    zb__cred c;
    static const struct {
        const char *time;
        int64_t seconds;
    } times[] = {{"1970-01-02T00:00:01Z", 86401},
                 {"1970-01-02T00:00:01.25Z", 86401},
                 {"1970-01-02T02:00:01+02:00", 86401},
                 {"1970-01-01T19:00:01-0500", 86401}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "{\"Version\": 1, " KEYS ", \"SessionToken\": \"t\", \"Expiration\": \"%s\"}",
                 times[i].time);
        ASSERT_OK(parse(text, &c, &err), err);
        assert_string_equal(c.id, "AK");
        assert_string_equal(c.secret, "canary");
        assert_string_equal(c.token, "t");
        assert_int_equal(c.expires, times[i].seconds);
        assert_false(zb__cred_is_good(&c));
        zb__cred_clear(&c);
    }
    ASSERT_OK(parse("{" KEYS "}\n", &c, &err), err);
    assert_true(!c.token && !c.expires && zb__cred_is_good(&c));
    zb__cred_clear(&c);
}

static void printed_wrongly(void **state) {
    (void)state;
    zb_error err;
    zb__cred c;
    static const char *const wrong[] = {"",
                                        "canary",
                                        "[]",
                                        "{\"AccessKeyId\": \"canary\"}",
                                        "{\"Version\": 2, " KEYS "}",
                                        "{" KEYS ", \"Expiration\": \"canary\"}",
                                        "{" KEYS ", \"Expiration\": \"2030-01-01T00:00:00\"}",
                                        "{" KEYS
                                        ", \"Expiration\": \"2030-01-01T00:00:00Z canary\"}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ASSERT_FAILS(parse(wrong[i], &c, &err), ZB_EIO, err, "prints");
        assert_null(strstr(err.message, "canary"));
    }
    ASSERT_FAILS(parse("{" KEYS ", \"SessionToken\": \"canary\\r\\nX: y\"}", &c, &err), ZB_EINVAL,
                 err, "no credentials have");
    assert_null(strstr(err.message, "canary"));
}

static void programs(void **state) {
    (void)state;
    zb_error err;
    zb__cred c;
    const char *const good[] = {"/bin/sh", "-c", "echo '{" KEYS "}'", NULL};
    ASSERT_OK(zb__cred_run(good, "it", zb__stopper_mine(), &c, &err), err);
    zb__cred_clear(&c);
    const char *const killed[] = {"/bin/sh", "-c", "echo '{" KEYS "}'; kill -9 $$", NULL};
    ASSERT_FAILS(zb__cred_run(killed, "it", zb__stopper_mine(), &c, &err), ZB_EIO, err,
                 "it: gives no credentials, but ends with signal 9");
    const char *const endless[] = {"/bin/sh", "-c", "while :; do echo canary; done", NULL};
    ASSERT_FAILS(zb__cred_run(endless, "it", zb__stopper_mine(), &c, &err), ZB_EIO, err,
                 "it: prints too much");
    const char *const none[] = {"/nowhere/program", NULL};
    ASSERT_FAILS(zb__cred_run(none, "it", zb__stopper_mine(), &c, &err), ZB_EIO, err,
                 "it: there is no such program");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printed),
        cmocka_unit_test(printed_wrongly),
        cmocka_unit_test(programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
