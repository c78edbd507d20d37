/* SPDX-License-Identifier: MIT */
/*
 * The bucket's URL, signatures (which libcurl makes), credentials, and what errors of S3 mean. What
 * is learned from replies (the region, the clock) is the store's as long as it is open.
 */
#include "s3.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "remote.h"
#include "util/clock.h"
#include "util/fork.h"
#include "xml.h"

/* libcurl 8.14 is the oldest one whose signatures were checked against servers. */
#define OLDEST_SIGNER 0x080e00
#define SIGNS_PLUS 0x081300

#define PAUSE_OF_SEARCHES (30 * ZB__SECOND)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static enum zb_code no_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for a store in S3");
}

/* ---- The state ---- */

static void guard_lock(void) {
    static zb__fork_guard guard = {.lock = &lock};
    zb__fork_guard_add(&guard);
}

zb__s3 *zb__s3_new(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, guard_lock);
    return calloc(1, sizeof(zb__s3));
}

void zb__s3_destroy(zb__remote *store) {
    zb__s3 *s3 = store->state;
    zb__bucket_name_clear(&s3->name);
    zb__url_clear(&s3->endpoint);
    zb__cred_places_clear(&s3->places);
    zb__cred_clear(&s3->cred);
    free(s3->base);
    free(s3);
}

/* ---- The bucket's URL ---- */

static bool is_region(const char *text) {
    const size_t length = strlen(text);
    return length && length < sizeof((zb__s3 *)NULL)->region &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") ==
               length;
}

static enum zb_code endpoint_of_region(const char *region, zb__url *out, zb_error *err) {
    *out = (zb__url){.base = NULL};
    if (asprintf(&out->base, "https://s3.%s.amazonaws.com%s", region,
                 strncmp(region, "cn-", 3) == 0 ? ".cn" : "") >= 0)
        return ZB_OK;
    out->base = NULL;
    return no_memory(err);
}

/* The store is the caller's alone, or the lock is held. */
enum zb_code zb__s3_set_region(zb__s3 *s3, const char *region, zb_error *err) {
    if (!is_region(region))
        return zb_fail(err, ZB_EINVAL, "the region's name is not valid");
    zb__url aws = {.base = NULL};
    char *base = NULL;
    bool has_host = false;
    enum zb_code code = s3->endpoint.base ? ZB_OK : endpoint_of_region(region, &aws, err);
    const zb__url *endpoint = s3->endpoint.base ? &s3->endpoint : &aws;
    if (!code && !s3->path_style)
        code = zb__url_with_host_label(endpoint, s3->name.bucket, &base, &has_host, err);
    if (!code && !has_host && asprintf(&base, "%s/%s", endpoint->base, s3->name.bucket) < 0) {
        base = NULL;
        code = no_memory(err);
    }
    zb__url_clear(&aws);
    if (code)
        return code;
    free(s3->base);
    s3->base = base;
    snprintf(s3->region, sizeof s3->region, "%s", region);
    return ZB_OK;
}

/* ---- Credentials ---- */

static bool has_good(const zb__s3 *s3) {
    return s3->is_known && !s3->code && (!s3->cred.id || zb__cred_is_good(&s3->cred));
}

/* Those that are there are valid for a while, and others could not be had a moment ago. */
static bool may_wait(const zb__s3 *s3) {
    return s3->is_known && !s3->code && s3->cred.id && s3->tried &&
           zb__now() - s3->tried < PAUSE_OF_SEARCHES && s3->cred.expires > (int64_t)time(NULL);
}

static enum zb_code check_signer(const zb__cred *cred, zb_error *err) {
    const curl_version_info_data *version = curl_version_info(CURLVERSION_NOW);
    if (!cred->id || version->version_num >= OLDEST_SIGNER)
        return ZB_OK;
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "libcurl %s signs requests not as S3 wants it: 8.14 is needed, or anon=1 for a "
                   "public bucket",
                   version->version);
}

/* Gets credentials, which may take a while, and takes them for the store's. */
static enum zb_code search(zb__s3 *s3, bool anew, zb__stopper *stopper, zb_error *err) {
    zb__cred found;
    zb_error why = {.code = ZB_OK};
    enum zb_code code = zb__cred_find(&s3->places, anew, stopper, &found, &why);
    if (!code)
        code = check_signer(&found, &why);
    if (code)
        zb__cred_clear(&found);
    if (code == ZB_ECANCELLED) /* nothing was learned */
        return zb__fail_stopped(err);
    pthread_mutex_lock(&lock);
    const bool serves_on = code && !anew && s3->is_known && !s3->code && s3->cred.id &&
                           s3->cred.expires > (int64_t)time(NULL);
    s3->tried = code ? zb__now() : 0;
    if (!serves_on) {
        const zb__cred old = s3->cred;
        s3->cred = found;
        s3->code = code;
        s3->error = why;
        s3->is_known = true;
        found = old;
    }
    pthread_mutex_unlock(&lock);
    zb__cred_clear(&found);
    if (!code || serves_on)
        return ZB_OK;
    if (err)
        *err = why;
    return code;
}

enum zb_code zb__s3_prepare(zb__remote *store, zb_error *err) {
    zb__s3 *s3 = store->state;
    if (s3->anon)
        return ZB_OK;
    pthread_mutex_lock(&lock);
    const bool is_ready = has_good(s3) || may_wait(s3);
    pthread_mutex_unlock(&lock);
    enum zb_code code = is_ready ? ZB_OK : search(s3, false, store->stopper(), err);
    return code ? zb_error_prefix(err, code, "%s", store->base.label) : ZB_OK;
}

void zb__s3_renew(zb__remote *store) {
    (void)search(store->state, true, store->stopper(), NULL);
}

/* ---- Requests ---- */

static enum zb_code add_headers(const zb__s3 *s3, zb__outgoing *out, zb_error *err) {
    enum zb_code code = ZB_OK;
    if (s3->requester_pays)
        code = zb__outgoing_add(out, err, "x-amz-request-payer: requester");
    if (!code && s3->cred.id && s3->cred.token)
        code = zb__outgoing_add(out, err, "x-amz-security-token: %s", s3->cred.token);
    if (!code && s3->cred.id && s3->clock_behind) {
        const time_t now = time(NULL) + (time_t)s3->clock_behind;
        char date[32];
        struct tm parts;
        if (gmtime_r(&now, &parts) && strftime(date, sizeof date, "%Y%m%dT%H%M%SZ", &parts))
            code = zb__outgoing_add(out, err, "X-Amz-Date: %s", date);
    }
    return code;
}

static enum zb_code sign(const zb__s3 *s3, zb__outgoing *out, zb_error *err) {
    if (!s3->cred.id)
        return ZB_OK;
    if (asprintf(&out->sigv4, "aws:amz:%s:s3", s3->region) < 0)
        out->sigv4 = NULL;
    out->user = strdup(s3->cred.id);
    out->secret = strdup(s3->cred.secret);
    return out->sigv4 && out->user && out->secret ? ZB_OK : no_memory(err);
}

static enum zb_code set_url(const zb__s3 *s3, const zb__request *request, zb__outgoing *out,
                            zb_error *err) {
    zb__text text = {.data = NULL};
    const enum zb_code code = zb__key_check(request->key, err);
    if (code)
        return code;
    zb__text_add(&text, s3->base);
    if (request->key) {
        zb__text_add(&text, "/");
        zb__url_encode(&text, s3->name.prefix, true);
        zb__url_encode(&text, request->key, true);
    }
    if (request->query) {
        zb__text_add(&text, "?");
        zb__text_add(&text, request->query);
    }
    out->url = zb__text_take(&text, NULL);
    return out->url ? ZB_OK : no_memory(err);
}

enum zb_code zb__s3_address(zb__remote *store, const zb__request *request, zb__outgoing *out,
                            zb_error *err) {
    const zb__s3 *s3 = store->state;
    pthread_mutex_lock(&lock);
    enum zb_code code = s3->code;
    if (code)
        *err = s3->error;
    if (!code)
        code = set_url(s3, request, out, err);
    if (!code)
        code = add_headers(s3, out, err);
    if (!code)
        code = sign(s3, out, err);
    pthread_mutex_unlock(&lock);
    return code;
}

/* ---- Replies ---- */

static bool is_one_of(const char *code, const char *const *codes) {
    for (; *codes; codes++) {
        if (strcmp(code, *codes) == 0)
            return true;
    }
    return false;
}

/* The bucket is in another region, and the reply tells in which. */
static bool learn_region(zb__s3 *s3, const zb__reply *reply, const zb__s3_error *error) {
    static const char *const codes[] = {"PermanentRedirect", "TemporaryRedirect",
                                        "AuthorizationHeaderMalformed",
                                        "IllegalLocationConstraintException", NULL};
    const char *region = reply->region[0] ? reply->region : error->region;
    const bool is_meant =
        reply->status == 301 || reply->status == 307 || is_one_of(error->code, codes);
    if (!is_meant)
        return false;
    pthread_mutex_lock(&lock);
    /* A request that was signed before another one has learned it goes again, too. */
    const enum zb_code code = zb__s3_set_region(s3, region, NULL);
    pthread_mutex_unlock(&lock);
    return code == ZB_OK;
}

static bool learn_clock(zb__s3 *s3, const zb__reply *reply) {
    if (!reply->version.dated)
        return false;
    pthread_mutex_lock(&lock);
    s3->clock_behind = reply->version.dated - (int64_t)time(NULL);
    pthread_mutex_unlock(&lock);
    return true;
}

/* Are requests signed? After prepare(). */
static bool is_signed(const zb__s3 *s3) {
    pthread_mutex_lock(&lock);
    const bool is = s3->cred.id != NULL;
    pthread_mutex_unlock(&lock);
    return is;
}

/* Before 8.19 libcurl signs a plus in a query as a blank, however it is written. */
bool zb__s3_can_sign(const zb__s3 *s3, const char *text) {
    return !strchr(text, '+') || curl_version_info(CURLVERSION_NOW)->version_num >= SIGNS_PLUS ||
           !is_signed(s3);
}

static enum zb__verdict fail_denied(const zb__remote *store, const zb__request *request, int status,
                                    const char *code, zb_error *err) {
    const zb__s3 *s3 = store->state;
    const char *who = s3->anon        ? "the request was not signed (anon=1)"
                      : is_signed(s3) ? "the credentials are not allowed to do this"
                                      : "no credentials were found, so it was not signed";
    zb_fail(err, ZB_EIO, "access is denied (HTTP status %d%s%s): %s%s", status, *code ? ", " : "",
            code, who,
            status == 403 && request->key && request->method == ZB__GET
                ? "; or the object does not exist, and nobody may know: then add #missing_403=1 to "
                  "the name"
                : "");
    return ZB__FAILED;
}

static enum zb__verdict judge_403(const zb__remote *store, const zb__request *request,
                                  const char *code, zb_error *err) {
    if (*code && strcmp(code, "AccessDenied") != 0 && strcmp(code, "AllAccessDisabled") != 0) {
        zb_fail(err, ZB_EIO, "HTTP status 403, %s",
                code); /* of the credentials, not of the object */
        return ZB__FAILED;
    }
    if (store->missing_403 && request->key && request->method == ZB__GET)
        return ZB__MISSING;
    return fail_denied(store, request, 403, code, err);
}

static enum zb__verdict fail_redirect(const zb__s3 *s3, const char *code, zb_error *err) {
    zb_fail(err, ZB_EIO,
            "%s%sthe bucket '%s' is served elsewhere, and the reply does not tell its region: say "
            "region= or endpoint= in the name",
            code, *code ? ": " : "", s3->name.bucket);
    return ZB__FAILED;
}

static enum zb__verdict judge_code(const zb__remote *store, const zb__request *request,
                                   const zb__reply *reply, const char *code, zb_error *err) {
    static const char *const expired[] = {"ExpiredToken", "ExpiredTokenException",
                                          "TokenRefreshRequired", NULL};
    static const char *const busy[] = {"SlowDown", "InternalError",  "ServiceUnavailable",
                                       "Busy",     "RequestTimeout", "OperationAborted",
                                       NULL};
    const zb__s3 *s3 = store->state;
    const int status = reply->status;
    if (is_one_of(code, expired) || (status == 401 && is_signed(s3))) {
        zb_fail(err, ZB_EIO, "the credentials have expired (HTTP status %d%s%s)", status,
                *code ? ", " : "", code);
        return ZB__RENEW;
    }
    if (is_one_of(code, busy)) {
        zb_fail(err, ZB_EIO, "HTTP status %d, %s", status, code);
        return ZB__AGAIN;
    }
    if (strcmp(code, "NoSuchKey") == 0)
        return ZB__MISSING;
    if (strcmp(code, "NoSuchBucket") == 0) {
        zb_fail(err, ZB_EIO, "there is no bucket '%s'", s3->name.bucket);
        return ZB__FAILED;
    }
    /* Some servers answer so of a key's owner whom they do not know. */
    if ((status == 404 || status == 410) && *code && request->method == ZB__GET) {
        zb_fail(err, ZB_EIO, "HTTP status %d, %s", status, code);
        return ZB__FAILED;
    }
    if (status == 401)
        return fail_denied(store, request, status, code, err);
    if (status == 403)
        return judge_403(store, request, code, err);
    if (status >= 300 && status < 400)
        return fail_redirect(s3, code, err);
    if (status != 400 || !*code)
        return ZB__BY_STATUS;
    zb_fail(err, ZB_EIO, "HTTP status 400, %s", code);
    return ZB__FAILED;
}

enum zb__verdict zb__s3_judge(zb__remote *store, const zb__request *request, const zb__reply *reply,
                              zb_error *err) {
    zb__s3_error error;
    zb__s3_error_parse(reply->body, strlen(reply->body), &error);
    if (request->at_once < 2 && learn_region(store->state, reply, &error))
        return ZB__AGAIN_NOW;
    if (strcmp(error.code, "RequestTimeTooSkewed") == 0 && !request->at_once &&
        learn_clock(store->state, reply))
        return ZB__AGAIN_NOW;
    return judge_code(store, request, reply, error.code, err);
}
