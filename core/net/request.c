/* SPDX-License-Identifier: MIT */
/* A request from try to try: what goes out, and what follows from the end of a try. */
#include "request.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "body.h"
#include "remote.h"
#include "retry.h"
#include "util/clock.h"

#define MOST_REDIRECTS 5
#define MOST_AT_ONCE 2

/* ---- Going out ---- */

enum zb_code zb__outgoing_add(zb__outgoing *out, zb_error *err, const char *format, ...) {
    char *text = NULL;
    va_list args;
    va_start(args, format);
    const int length = vasprintf(&text, format, args);
    va_end(args);
    char **headers =
        length < 0 ? NULL : realloc(out->headers, (out->header_count + 1) * sizeof *headers);
    if (!headers) {
        if (length >= 0)
            free(text);
        return zb_fail(err, ZB_ENOMEM, "no memory for a header");
    }
    out->headers = headers;
    headers[out->header_count++] = text;
    return ZB_OK;
}

static void clear_headers(zb__outgoing *out) {
    for (size_t i = 0; i < out->header_count; i++)
        free(out->headers[i]);
    free(out->headers);
    out->headers = NULL;
    out->header_count = 0;
}

void zb__outgoing_clear(zb__outgoing *out) {
    clear_headers(out);
    free(out->url);
    free(out->sigv4);
    free(out->user);
    free(out->secret);
    *out = (zb__outgoing){.url = NULL};
}

/* Scheme, host and port as they are written: another spelling counts as another origin. */
static bool same_origin(const char *a, const char *b) {
    const char *host = strstr(a, "://");
    const size_t length = host ? (size_t)(host - a) + 3 + strcspn(host + 3, "/?#") : 0;
    return length && strncasecmp(a, b, length) == 0 && (!b[length] || strchr("/?#", b[length]));
}

/* The headers of a store are for its own origin. */
static enum zb_code redirect(const char *location, zb__outgoing *out, zb_error *err) {
    char *url = strdup(location);
    if (!url)
        return zb_fail(err, ZB_ENOMEM, "no memory for a URL");
    if (!same_origin(out->url, url))
        clear_headers(out);
    free(out->url);
    out->url = url;
    return ZB_OK;
}

static enum zb_code add_range(const zb__request *request, zb__outgoing *out, zb_error *err) {
    const unsigned long long first = request->offset + request->got;
    if (request->span == ZB__SUFFIX && !request->started)
        return request->asks_all ? ZB_OK
                                 : zb__outgoing_add(out, err, "Range: bytes=-%zu", request->length);
    if (request->span == ZB__ALL && !request->started)
        return ZB_OK;
    if (request->span == ZB__ALL)
        return zb__outgoing_add(out, err, "Range: bytes=%llu-", first);
    return zb__outgoing_add(out, err, "Range: bytes=%llu-%llu", first,
                            (unsigned long long)(request->offset + request->length - 1));
}

/* The version that must answer; NULL: any. */
static const zb__version *bound_to(const zb__request *request) {
    if (request->started)
        return &request->seen;
    return request->pin;
}

enum zb_code zb__request_address(zb__request *request, zb__outgoing *out, zb_error *err) {
    enum zb_code code = request->store->protocol->address(request->store, request, out, err);
    if (!code && request->location)
        code = redirect(request->location, out, err);
    if (!code && request->method == ZB__GET)
        code = add_range(request, out, err);
    const zb__version *bound = bound_to(request);
    if (!code && bound && zb__version_is_strong(bound))
        code = zb__outgoing_add(out, err, "If-Match: %s", bound->etag);
    for (const char *const *header = request->headers; !code && header && *header; header++)
        code = zb__outgoing_add(out, err, "%s", *header);
    if (!code && request->store->protocol->sign)
        code = request->store->protocol->sign(request->store, request, out, err);
    return code;
}

void zb__request_begin(zb__request *request) {
    request->try_begun = zb__now();
    if (!request->begun)
        request->begun = request->try_begun;
    request->tries++;
    request->reply = (zb__reply){.retry_after = -1};
    request->judged = request->refused = false;
    request->skip = 0;
    request->spilled = 0;
    request->waited = 0;
    request->stop = ZB_OK;
    free(request->moved_to);
    request->moved_to = NULL;
}

void zb__request_clear(zb__request *request) {
    free(request->moved_to);
    free(request->location);
    request->moved_to = request->location = NULL;
}

void zb__request_fail(zb__request *request, enum zb_code code, const char *format, ...) {
    char text[ZB_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    request->code = zb_fail(&request->error, code, "%s%s%s: %s", request->store->base.label,
                            request->key ? "/" : "", request->key ? request->key : "", text);
}

/* ---- The end of a try ---- */

/* The bytes that have come stay where the rest of the same version can be asked for. */
static void keep_or_begin_anew(zb__request *request) {
    const bool went_well = request->judged && !request->refused;
    if (went_well && request->got && request->has_goal && !request->reply.encoding[0] &&
        zb__version_is_strong(&request->version)) {
        request->seen = request->version;
        request->started = true;
    } else if (!request->started || went_well) {
        request->started = false;
        request->got = 0;
    }
}

static enum zb__next pause_or_fail(zb__request *request, const char *why) {
    const int64_t pause = zb__retry_pause(request->tries, request->reply.retry_after);
    const int64_t now = zb__now();
    request->due = now + pause;
    keep_or_begin_anew(request);
    if (zb__retry_may(request->tries, request->begun, request->due)) {
        free(request->location); /* what it led to may have been made for one try */
        request->location = NULL;
        request->redirects = 0;
        return ZB__PAUSE;
    }
    zb__request_fail(request, ZB_EIO, "%s, after %u %s in %.1f s", why, request->tries,
                     request->tries == 1 ? "try" : "tries",
                     (double)(now - request->begun) / ZB__SECOND);
    request->error.sys_errno = EREMOTEIO;
    return ZB__DONE;
}

static enum zb__next done(zb__request *request, enum zb_code code, const char *why) {
    if (code)
        zb__request_fail(request, code, "%s", why);
    else
        request->code = ZB_OK;
    return ZB__DONE;
}

static bool is_https(const char *url) {
    return strncasecmp(url, "https:", 6) == 0;
}

static enum zb__next follow(zb__request *request) {
    const char *from = request->location ? request->location : request->store->base.label;
    char *to = request->moved_to;
    if (!to)
        return done(request, ZB_EIO, "a redirect that leads nowhere");
    if (++request->redirects > MOST_REDIRECTS)
        return done(request, ZB_EIO, "more than 5 redirects in a row");
    if (!is_https(to) && (is_https(from) || strncasecmp(to, "http:", 5) != 0))
        return done(request, ZB_EIO,
                    is_https(from) ? "a redirect from https to another protocol is not followed"
                                   : "a redirect to another protocol than http is not followed");
    free(request->location);
    request->location = to;
    request->moved_to = NULL;
    request->tries--; /* its answer is still to come */
    return ZB__AT_ONCE;
}

/* Nothing is at the range: it begins at the object's end or behind it. Some servers say so of a
   suffix that is longer than the object, which then comes whole. */
static enum zb__next beyond_the_end(zb__request *request) {
    const zb__reply *reply = &request->reply;
    const bool has_size = reply->has_range && reply->range_is_good && !reply->range.satisfied;
    zb__version version = reply->version;
    version.size = has_size ? reply->range.size : 0;
    if (request->span == ZB__SUFFIX && !request->asks_all &&
        (has_size ? version.size && version.size < request->length : !request->started)) {
        request->asks_all = true;
        return ZB__AT_ONCE;
    }
    if (!has_size)
        return done(request, ZB_EIO, "HTTP status 416 without the object's size");
    if (request->pin && !zb__version_same(request->pin, &version))
        return done(request, ZB_ECONFLICT, "the object has changed meanwhile");
    const bool is_beyond = request->span == ZB__RANGE && request->offset >= version.size;
    if (!is_beyond && version.size > 0)
        return done(request, ZB_EIO, "HTTP status 416 for a range that the object has");
    request->got = 0;
    request->size = version.size;
    request->version = version;
    return done(request, ZB_OK, NULL);
}

/* A condition did not hold. One that the engine has set, to go on with a cut reply, makes it begin
   anew with the version that is there now. */
static enum zb__next changed(zb__request *request) {
    if (request->started && !request->pin) {
        request->started = false;
        request->got = 0;
        request->judged = false;
        return pause_or_fail(request, "the object keeps changing");
    }
    return done(request, ZB_ECONFLICT, "the object has changed meanwhile");
}

static enum zb__next by_status(zb__request *request) {
    const zb__remote *store = request->store;
    char text[64];
    const int status = request->reply.status;
    snprintf(text, sizeof text, "HTTP status %d", status);
    switch (status) {
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
        if (store->protocol->follows_redirects && request->method == ZB__GET)
            return follow(request);
        break;
    case 404:
    case 410:
        return done(request, ZB_ENOTFOUND, "there is no such object");
    case 403:
        if (store->missing_403 && request->method == ZB__GET)
            return done(request, ZB_ENOTFOUND, "there is no such object (HTTP status 403)");
        return done(request, ZB_EIO,
                    "HTTP status 403: access is denied (if the server says so of objects that do "
                    "not exist, add #missing_403=1 to the name)");
    case 412:
        return changed(request);
    case 409:
        if (request->method != ZB__GET)
            return changed(request);
        break;
    case 416:
        return beyond_the_end(request);
    default:
        break;
    }
    return zb__retry_status(status) ? pause_or_fail(request, text) : done(request, ZB_EIO, text);
}

static enum zb__next refused(zb__request *request) {
    zb__remote *store = request->store;
    zb_error err = {.code = ZB_EIO};
    enum zb__verdict verdict = store->protocol->judge
                                   ? store->protocol->judge(store, request, &request->reply, &err)
                                   : ZB__BY_STATUS;
    switch (verdict) {
    case ZB__BY_STATUS:
        return by_status(request);
    case ZB__MISSING:
        return done(request, ZB_ENOTFOUND, "there is no such object");
    case ZB__AGAIN:
        return pause_or_fail(request, err.message[0] ? err.message : "the server is busy");
    case ZB__AGAIN_NOW:
        return ++request->at_once > MOST_AT_ONCE ? by_status(request) : ZB__AT_ONCE;
    case ZB__RENEW:
        if (!request->renewed && store->protocol->renew) {
            request->renewed = true;
            return ZB__AFTER_RENEW;
        }
        return err.message[0] ? done(request, err.code, err.message) : by_status(request);
    case ZB__FAILED:
        break;
    }
    return done(request, err.code, err.message);
}

static enum zb__next broken(zb__request *request, const char *failure, bool may_again) {
    if (request->judged && request->has_goal && request->got == request->goal)
        return done(request, ZB_OK, NULL); /* we have hung up */
    return may_again ? pause_or_fail(request, failure) : done(request, ZB_EIO, failure);
}

enum zb__next zb__request_end(zb__request *request, const char *failure, bool may_again) {
    if (!failure && !request->judged)
        (void)zb__body_judge_head(request); /* a reply without a body */
    if (request->stop == ZB_ECONFLICT)
        return changed(request);
    if (request->stop)
        return done(request, request->stop, request->stop_error.message);
    if (request->refused)
        return refused(request);
    if (failure)
        return broken(request, failure, may_again);
    if (request->has_goal && request->got < request->goal)
        return pause_or_fail(request, "the reply is shorter than what was asked for");
    if (!zb__body_finish(request))
        return changed(request);
    return done(request, ZB_OK, NULL);
}
