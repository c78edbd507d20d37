/* SPDX-License-Identifier: MIT */
/*
 * The files of the AWS tools, and what programs print that give credentials. Reading ends with
 * settings or an error that has nothing of the input; no value has a line break.
 */
#include "fuzz.h"

#include "cred_process.h"
#include "profile.h"

static void check_value(const char *value) {
    REQUIRE(!value || !strpbrk(value, "\n"));
}

static void check_file(const char *text, size_t size, const char *head) {
    zb__profile profile = {.id = NULL};
    zb_error err;
    const enum zb_code code = zb__profile_parse(text, size, head, "work", &profile, &err);
    fuzz_check_error(code, &err);
    check_value(profile.id);
    check_value(profile.secret);
    check_value(profile.token);
    check_value(profile.process);
    check_value(profile.region);
    check_value(profile.endpoint);
    zb__profile_clear(&profile);
}

/* What is taken can stand in a header. */
static void check_output(const char *text, size_t size) {
    zb__cred cred;
    zb_error err;
    const enum zb_code code = zb__cred_parse(text, size, &cred, &err);
    fuzz_check_error(code, &err);
    REQUIRE(code ? !cred.id : cred.id && cred.secret);
    REQUIRE(code || !strpbrk(cred.id, "\r\n /:"));
    REQUIRE(code || !cred.token || !strpbrk(cred.token, "\r\n "));
    zb__cred_clear(&cred);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    /* A copy of its size, so that the sanitizer sees each byte behind it that is read. */
    char *text = malloc(size ? size : 1);
    REQUIRE(text);
    memcpy(text, data, size);
    check_file(text, size, "");
    check_file(text, size, "profile ");
    check_output(text, size);
    free(text);
    return 0;
}
