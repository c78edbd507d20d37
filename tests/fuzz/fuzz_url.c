/* SPDX-License-Identifier: MIT */
/*
 * Names of stores on the network. A name is refused, or gives a URL without user, query and
 * options, to which keys can be added so that libcurl reads their bytes again. The first part of
 * the input is the name, the second one a key.
 */
#include "fuzz.h"

#include <curl/curl.h>

#include "url.h"

/* The path of the URL, decoded, ends with the text. */
static void check_path(const char *url, const char *end) {
    CURLU *parts = curl_url();
    char *path = NULL;
    REQUIRE(parts);
    REQUIRE(curl_url_set(parts, CURLUPART_URL, url, CURLU_PATH_AS_IS) == CURLUE_OK);
    REQUIRE(curl_url_get(parts, CURLUPART_PATH, &path, 0) == CURLUE_OK);
    int size = 0;
    char *plain = curl_easy_unescape(NULL, path, 0, &size);
    const size_t length = strlen(end);
    REQUIRE(plain && (size_t)size >= length && memcmp(plain + size - length, end, length) == 0);
    curl_free(plain);
    curl_free(path);
    curl_url_cleanup(parts);
}

static void check_key(const zb__url *url, const char *key) {
    char *text = zb__url_of_key(url, key);
    REQUIRE(text && strncmp(text, url->base, strlen(url->base)) == 0);
    check_path(text, key);
    free(text);
}

static void check_url(const char *name, const char *key) {
    zb_error err;
    zb__url url;
    const enum zb_code code = zb__url_parse(name, &url, &err);
    fuzz_check_error(code, &err);
    if (code)
        return;
    REQUIRE(!strpbrk(url.label, "?#") && (!*url.query || *url.query == '?'));
    check_key(&url, key);
    zb__url_clear(&url);
}

static void check_s3_name(const char *name, const char *key) {
    zb_error err;
    zb__bucket_name s3;
    const enum zb_code code = zb__bucket_name_parse(name, "s3://", &s3, &err);
    fuzz_check_error(code, &err);
    if (code)
        return;
    const size_t length = strlen(s3.prefix);
    REQUIRE(*s3.bucket && !strpbrk(s3.bucket, "/?#@: "));
    REQUIRE(length == 0 || s3.prefix[length - 1] == '/');
    zb__url host = {.base = (char *)"https://s3.example.org", .query = (char *)""};
    char *base = NULL, *full = NULL;
    bool can;
    REQUIRE_OK(zb__url_with_host_label(&host, s3.bucket, &base, &can, &err), err);
    zb__url url = {.base = can ? base : host.base, .query = (char *)""};
    REQUIRE(asprintf(&full, "%s%s", s3.prefix, key) >= 0);
    check_key(&url, full);
    free(full);
    free(base);
    zb__bucket_name_clear(&s3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *name = fuzz_next_text(&data, &size), *key = fuzz_next_text(&data, &size);
    check_url(name, key);
    check_s3_name(name, key);
    free(name);
    free(key);
    return 0;
}
