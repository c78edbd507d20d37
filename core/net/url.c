/* SPDX-License-Identifier: MIT */
#include "url.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

static enum zb_code no_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for a URL");
}

/* ---- URLs ---- */

/* NULL where the URL has no such part, or memory is short, which *lacks tells. */
static char *part_of(CURLU *url, CURLUPart what, bool *lacks) {
    char *text = NULL, *copy = NULL;
    const CURLUcode code = curl_url_get(url, what, &text, 0);
    if (code == CURLUE_OK)
        copy = strdup(text);
    curl_free(text);
    if (code == CURLUE_OUT_OF_MEMORY || (code == CURLUE_OK && !copy))
        *lacks = true;
    return copy;
}

static bool has_part(CURLU *url, CURLUPart what) {
    char *text = NULL;
    const bool has = curl_url_get(url, what, &text, 0) == CURLUE_OK;
    curl_free(text);
    return has;
}

static enum zb_code check_parts(CURLU *url, const char *query, zb_error *err) {
    if (has_part(url, CURLUPART_USER) || has_part(url, CURLUPART_PASSWORD))
        return zb_fail(err, ZB_EINVAL, "a URL with a user or a password is not taken");
    if (query && strcasestr(query, "X-Amz-Signature="))
        return zb_fail(err, ZB_EINVAL,
                       "the query of the URL is signed for a single object, and a store has many: "
                       "use the s3:// name with credentials");
    return ZB_OK;
}

/* Slashes at its end mean nothing. */
static void trim_slashes(char *text) {
    for (size_t n = text ? strlen(text) : 0; n && text[n - 1] == '/'; n--)
        text[n - 1] = '\0';
}

static enum zb_code take_apart(CURLU *url, zb__url *out, zb_error *err) {
    bool lacks = false;
    char *query = part_of(url, CURLUPART_QUERY, &lacks);
    char *options = part_of(url, CURLUPART_FRAGMENT, &lacks);
    enum zb_code code = lacks ? no_memory(err) : check_parts(url, query, err);
    if (!code) {
        curl_url_set(url, CURLUPART_QUERY, NULL, 0);
        curl_url_set(url, CURLUPART_FRAGMENT, NULL, 0);
        out->base = part_of(url, CURLUPART_URL, &lacks);
        trim_slashes(out->base);
        if (asprintf(&out->query, "%s%s", query ? "?" : "", query ? query : "") < 0)
            out->query = NULL;
        out->label = out->base ? strdup(out->base) : NULL;
        out->options = strdup(options ? options : "");
        if (!out->base || !out->query || !out->label || !out->options)
            code = no_memory(err);
    }
    free(query);
    free(options);
    return code;
}

/* libcurl takes the first part of the path for the host then. */
static bool has_no_host(const char *name) {
    const char *rest = strstr(name, "://");
    return rest && strchr("/?#", rest[3]);
}

enum zb_code zb__url_parse(const char *name, zb__url *out, zb_error *err) {
    *out = (zb__url){.base = NULL};
    if (has_no_host(name))
        return zb_fail(err, ZB_EINVAL, "the URL is not valid: it has no host");
    CURLU *url = curl_url();
    if (!url)
        return no_memory(err);
    const CURLUcode bad =
        curl_url_set(url, CURLUPART_URL, name, CURLU_URLENCODE | CURLU_ALLOW_SPACE);
    enum zb_code code = bad == CURLUE_OUT_OF_MEMORY ? no_memory(err)
                        : bad ? zb_fail(err, ZB_EINVAL, "the URL is not valid")
                              : take_apart(url, out, err);
    curl_url_cleanup(url);
    if (!code && strncasecmp(out->base, "https://", 8) && strncasecmp(out->base, "http://", 7))
        code = zb_fail(err, ZB_EINVAL, "the URL is neither https:// nor http://");
    if (code)
        zb__url_clear(out);
    return code;
}

enum zb_code zb__endpoint_parse(const char *text, zb__url *out, zb_error *err) {
    enum zb_code code = zb__url_parse(text, out, err);
    if (!code && *out->query)
        code = zb_fail(err, ZB_EINVAL, "a query has no sense in it");
    return code ? zb_error_prefix(err, code, "the endpoint") : ZB_OK;
}

void zb__url_clear(zb__url *url) {
    free(url->base);
    free(url->query);
    free(url->label);
    free(url->options);
    *url = (zb__url){.base = NULL};
}

char *zb__url_follow(const char *from, const char *target) {
    CURLU *url = curl_url();
    bool lacks = false;
    char *to = NULL;
    if (url && curl_url_set(url, CURLUPART_URL, from, 0) == CURLUE_OK &&
        curl_url_set(url, CURLUPART_URL, target,
                     CURLU_URLENCODE | CURLU_ALLOW_SPACE | CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK)
        to = part_of(url, CURLUPART_URL, &lacks);
    curl_url_cleanup(url);
    return to;
}

void zb__url_encode(zb__text *text, const char *plain, bool is_path) {
    static const char as_it_is[] = LETTERS DIGITS "-._~/";
    for (; *plain; plain++) {
        const size_t run = strspn(plain, as_it_is);
        const char *slash = is_path ? NULL : memchr(plain, '/', run);
        const size_t count = slash ? (size_t)(slash - plain) : run;
        zb__text_put(text, plain, count);
        plain += count;
        if (!*plain)
            return;
        zb__text_addf(text, "%%%02X", (unsigned)(unsigned char)*plain);
    }
}

/* True if a part of the key is "." or "..", which libcurl and servers take out of a URL, encoded or
   not: the request would be for another object. */
static bool key_has_dots(const char *key) {
    for (;; key++) {
        const size_t length = strcspn(key, "/");
        if ((length == 1 || length == 2) && strspn(key, ".") >= length)
            return true;
        key += length;
        if (!*key)
            return false;
    }
}

enum zb_code zb__key_check(const char *key, zb_error *err) {
    if (!key || !key_has_dots(key))
        return ZB_OK;
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "a part of the key is '.' or '..', and no URL can carry that: erase the object, "
                   "or give it another name, by another program");
}

char *zb__url_of_key(const zb__url *url, const char *key) {
    zb__text text = {.data = NULL};
    zb__text_add(&text, url->base);
    zb__text_add(&text, "/");
    zb__url_encode(&text, key, true);
    zb__text_add(&text, url->query);
    return zb__text_take(&text, NULL);
}

char *zb__url_label(const zb__url *url) {
    return strdup(url->label);
}

static bool is_address(const char *host) {
    struct in_addr four;
    return host[0] == '[' || inet_pton(AF_INET, host, &four) == 1;
}

enum zb_code zb__url_with_host_label(const zb__url *url, const char *label, char **base, bool *can,
                                     zb_error *err) {
    CURLU *parts = curl_url();
    char *host = NULL, *longer = NULL;
    bool lacks = false;
    *can = false;
    *base = NULL;
    if (!parts || curl_url_set(parts, CURLUPART_URL, url->base, 0) != CURLUE_OK ||
        !(host = part_of(parts, CURLUPART_HOST, &lacks)))
        lacks = true;
    if (!lacks && !is_address(host)) {
        if (asprintf(&longer, "%s.%s", label, host) < 0)
            longer = NULL;
        lacks = !longer;
        *can = longer && curl_url_set(parts, CURLUPART_HOST, longer, 0) == CURLUE_OK;
        *base = *can ? part_of(parts, CURLUPART_URL, &lacks) : NULL;
        trim_slashes(*base);
    }
    free(longer);
    free(host);
    curl_url_cleanup(parts);
    return lacks ? no_memory(err) : ZB_OK;
}

/* ---- Names in buckets ---- */

/* By the rules of all kinds of servers: what is left cannot change the meaning of a URL. */
static bool is_bucket(const char *name, size_t length) {
    return length >= 1 && length <= 255 && strspn(name, LETTERS DIGITS "-._") >= length &&
           name[0] != '.' && name[0] != '-';
}

/* Without slashes at its end. */
static size_t prefix_length(const char *prefix, const char *end) {
    while (end > prefix && end[-1] == '/')
        end--;
    return (size_t)(end - prefix);
}

enum zb_code zb__bucket_name_parse(const char *name, const char *scheme, zb__bucket_name *out,
                                   zb_error *err) {
    *out = (zb__bucket_name){.bucket = NULL};
    const size_t begin = strlen(scheme);
    if (strncasecmp(name, scheme, begin) != 0)
        return zb_fail(err, ZB_EINVAL, "the name does not begin with %s", scheme);
    const char *bucket = name + begin, *hash = strrchr(bucket, '#');
    const char *end = hash ? hash : bucket + strlen(bucket);
    const size_t length = strcspn(bucket, "/#");
    if (!is_bucket(bucket, length) || (bucket + length < end && bucket[length] != '/'))
        return zb_fail(err, ZB_EINVAL, "the name of the bucket in the %s name is not valid",
                       scheme);
    const char *prefix = bucket + length + (bucket[length] == '/' && bucket + length < end);
    const size_t prefixed = prefix_length(prefix, end);
    char *keys = strndup(prefix, prefixed);
    const bool has_dots = keys && key_has_dots(keys);
    free(keys);
    if (has_dots)
        return zb_fail(err, ZB_EINVAL,
                       "the %s name has a part that is '.' or '..': no URL can carry such keys",
                       scheme);
    const char *slash = prefixed ? "/" : "";
    if (asprintf(&out->bucket, "%.*s", (int)length, bucket) < 0)
        out->bucket = NULL;
    if (asprintf(&out->prefix, "%.*s%s", (int)prefixed, prefix, slash) < 0)
        out->prefix = NULL;
    if (asprintf(&out->label, "%s%.*s%s%.*s", scheme, (int)length, bucket, slash, (int)prefixed,
                 prefix) < 0)
        out->label = NULL;
    out->options = strdup(hash ? hash + 1 : "");
    if (out->bucket && out->prefix && out->label && out->options)
        return ZB_OK;
    zb__bucket_name_clear(out);
    return no_memory(err);
}

void zb__bucket_name_clear(zb__bucket_name *name) {
    free(name->bucket);
    free(name->prefix);
    free(name->label);
    free(name->options);
    *name = (zb__bucket_name){.bucket = NULL};
}
