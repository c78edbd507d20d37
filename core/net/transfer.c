/* SPDX-License-Identifier: MIT */
#include "transfer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "authorities.h"
#include "body.h"
#include "remote.h"
#include "url.h"
#include "zarrbridge/limits.h"

/* A reply of this speed is slow, and no longer waited for: bytes in a second. */
#define SLOWEST 1024L

/* The time for a try: a fixed part, and one for its length at the slowest speed of a long reply. */
#define TRY_SECONDS 30
#define SLOWEST_OF_ALL (64u * 1024u)

#define RECEIVE_BUFFER (128L * 1024L)

/* libcurl takes so many bytes of a body before it sends them, those beside the head of the request
   besides: what is held back has to be more. */
#define SEND_BUFFER (64L * 1024L)
_Static_assert(ZB__HELD_BACK >= 4 * SEND_BUFFER, "what is held back may be in libcurl's hands");

/* ---- What libcurl calls ---- */

static size_t take_head(char *line, size_t size, size_t count, void *context) {
    zb__request *request = context;
    size *= count;
    if (zb__reply_line(&request->reply, line, size))
        return size;
    request->stop = zb_fail(&request->stop_error, ZB_EIO, "the head of the reply is too long");
    return 0;
}

static size_t take_body(char *data, size_t size, size_t count, void *context) {
    size *= count;
    return zb__body_take(context, data, size) ? size : 0;
}

/* Stops a body before its end. Where that cannot be done the transfer is broken off: that is what
   another value than 0 says. */
static int watch_body(void *context, curl_off_t down_all, curl_off_t down, curl_off_t up_all,
                      curl_off_t up) {
    zb__request *request = context;
    (void)down_all, (void)down, (void)up_all;
    if (request->hold != ZB__HELD || (size_t)up + ZB__HELD_BACK < request->body_size)
        return 0;
    if (curl_easy_pause(request->handle, CURLPAUSE_SEND) != CURLE_OK)
        return 1;
    request->hold = ZB__PAUSED;
    return 0;
}

/* Called each time the request is about to go out on a connection. */
static int count_sending(void *context, char *from, char *to, int from_port, int to_port) {
    zb__request *request = context;
    (void)from, (void)to, (void)from_port, (void)to_port;
    request->sendings++;
    return CURL_PREREQFUNC_OK;
}

/* ---- Options ---- */

static long milliseconds_for(const zb__request *request) {
    const uint64_t length = request->span == ZB__ALL ? request->most : request->length;
    const uint64_t seconds =
        TRY_SECONDS + request->work + (length + request->body_size) / SLOWEST_OF_ALL;
    return seconds < 86400 ? (long)seconds * 1000 : 86400000L;
}

static long seconds_of(uint64_t limit) {
    return limit < 86400 ? (long)limit : 86400L;
}

static CURLcode set_limits(const zb__request *request, CURL *h) {
    const zb_limits *limits = zb_limits_get();
    CURLcode code = curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    code |= curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT, seconds_of(limits->remote_connect_seconds));
    code |= curl_easy_setopt(h, CURLOPT_LOW_SPEED_LIMIT, SLOWEST);
    code |= curl_easy_setopt(h, CURLOPT_LOW_SPEED_TIME,
                             seconds_of(limits->remote_stall_seconds) + (long)request->work);
    code |= curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, milliseconds_for(request));
    code |= curl_easy_setopt(h, CURLOPT_BUFFERSIZE, RECEIVE_BUFFER);
    return code;
}

static CURLcode set_protocol(CURL *h) {
#if LIBCURL_VERSION_NUM >= 0x075500
    CURLcode code = curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    CURLcode code = curl_easy_setopt(h, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
    code |= curl_easy_setopt(h, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    code |= curl_easy_setopt(h, CURLOPT_FOLLOWLOCATION, 0L);
    code |= curl_easy_setopt(h, CURLOPT_DNS_SHUFFLE_ADDRESSES, 1L);
    code |= curl_easy_setopt(h, CURLOPT_TCP_KEEPALIVE, 1L);
    code |= curl_easy_setopt(h, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L); /* a proxy's own reply */
    return code;
}

/* Reads by TLS share one connection of a host that speaks HTTP/2: later ones wait until the first
   one knows. All else goes by HTTP/1.1: the end of a body can be held back only where libcurl has
   little of it in its hands. */
static CURLcode set_version(const zb__request *request, const char *url, CURL *h) {
    const bool reads = request->method == ZB__GET || request->method == ZB__HEAD;
    if (reads && strncasecmp(url, "https:", 6) == 0 &&
        curl_easy_setopt(h, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS) == CURLE_OK)
        return curl_easy_setopt(h, CURLOPT_PIPEWAIT, 1L);
    return curl_easy_setopt(h, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
}

static CURLcode set_callbacks(zb__request *request, CURL *h) {
    CURLcode code = curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, take_head);
    code |= curl_easy_setopt(h, CURLOPT_HEADERDATA, request);
    code |= curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, take_body);
    code |= curl_easy_setopt(h, CURLOPT_WRITEDATA, request);
    code |= curl_easy_setopt(h, CURLOPT_PREREQFUNCTION, count_sending);
    code |= curl_easy_setopt(h, CURLOPT_PREREQDATA, request);
    code |= curl_easy_setopt(h, CURLOPT_PRIVATE, request);
    code |= curl_easy_setopt(h, CURLOPT_ERRORBUFFER, request->failure);
    return code;
}

static CURLcode set_hold(zb__request *request, CURL *h) {
    CURLcode code = curl_easy_setopt(h, CURLOPT_UPLOAD_BUFFERSIZE, SEND_BUFFER);
    code |= curl_easy_setopt(h, CURLOPT_XFERINFOFUNCTION, watch_body);
    code |= curl_easy_setopt(h, CURLOPT_XFERINFODATA, request);
    return code | curl_easy_setopt(h, CURLOPT_NOPROGRESS, 0L);
}

/* libcurl signs what it is given in one piece. */
static CURLcode set_body(zb__request *request, CURL *h) {
    const curl_off_t size = (curl_off_t)request->body_size;
    CURLcode code = curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, size);
    if (request->hold)
        code |= set_hold(request, h);
    return code | curl_easy_setopt(h, CURLOPT_POSTFIELDS, request->body ? request->body : "");
}

static CURLcode set_method(zb__request *request, CURL *h) {
    switch (request->method) {
    case ZB__HEAD:
        return curl_easy_setopt(h, CURLOPT_NOBODY, 1L);
    case ZB__PUT:
        return set_body(request, h) | curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, "PUT");
    case ZB__POST:
        return set_body(request, h);
    case ZB__DELETE:
        return curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, "DELETE");
    case ZB__GET:
        break;
    }
    return request->any_encoding ? curl_easy_setopt(h, CURLOPT_ACCEPT_ENCODING, "") : CURLE_OK;
}

static CURLcode set_signature(const zb__outgoing *out, CURL *h) {
    if (!out->sigv4)
        return CURLE_OK;
    CURLcode code = curl_easy_setopt(h, CURLOPT_AWS_SIGV4, out->sigv4);
    code |= curl_easy_setopt(h, CURLOPT_USERNAME, out->user);
    code |= curl_easy_setopt(h, CURLOPT_PASSWORD, out->secret);
    return code;
}

static struct curl_slist *list_of(const zb__outgoing *out) {
    struct curl_slist *list = NULL;
    for (size_t i = 0; i < out->header_count; i++) {
        struct curl_slist *longer = curl_slist_append(list, out->headers[i]);
        if (!longer) {
            curl_slist_free_all(list);
            return NULL;
        }
        list = longer;
    }
    return list;
}

static CURLcode set_options(zb__request *request, const zb__outgoing *out, CURL *h) {
    CURLcode code = curl_easy_setopt(h, CURLOPT_URL, out->url);
    code |= curl_easy_setopt(h, CURLOPT_USERAGENT, "zarrbridge/" ZB_VERSION);
    code |= curl_easy_setopt(h, CURLOPT_HTTPHEADER, request->lists);
    const char *ca_file =
        request->store->ca_file ? request->store->ca_file : zb__authorities_file();
    if (ca_file)
        code |= curl_easy_setopt(h, CURLOPT_CAINFO, ca_file);
    if (request->store->proxy)
        code |= curl_easy_setopt(h, CURLOPT_PROXY, request->store->proxy);
    code |= set_limits(request, h);
    code |= set_protocol(h);
    code |= set_version(request, out->url, h);
    code |= set_callbacks(request, h);
    code |= set_method(request, h);
    return code | set_signature(out, h);
}

/* Codes of single options are or-ed: any that is not CURLE_OK fails them all. */
enum zb_code zb__transfer_set_up(zb__request *request, CURL *handle, CURLSH *share, zb_error *err) {
    zb__outgoing out = {.url = NULL};
    enum zb_code code = zb__request_address(request, &out, err);
    if (!code && !request->any_encoding && request->method == ZB__GET)
        code = zb__outgoing_add(&out, err, "Accept-Encoding: identity");
    if (!code) {
        request->failure[0] = '\0';
        request->handle = handle;
        request->lists = list_of(&out);
        CURLcode set = out.header_count && !request->lists ? CURLE_OUT_OF_MEMORY
                                                           : set_options(request, &out, handle);
        if (share)
            set |= curl_easy_setopt(handle, CURLOPT_SHARE, share);
        if (set)
            code = zb_fail(err, ZB_EIO, "libcurl cannot be set up for the request");
    }
    zb__outgoing_clear(&out);
    return code;
}

/* libcurl gives a target that it cannot take as it is written. */
static void keep_redirect(zb__request *request) {
    char *from = NULL, *target = NULL;
    if (curl_easy_getinfo(request->handle, CURLINFO_REDIRECT_URL, &target) == CURLE_OK && target &&
        curl_easy_getinfo(request->handle, CURLINFO_EFFECTIVE_URL, &from) == CURLE_OK && from)
        request->moved_to = zb__url_follow(from, target);
}

void zb__transfer_clear(zb__request *request) {
    curl_off_t sent = 0, first = 0; /* microseconds */
    if (request->handle &&
        curl_easy_getinfo(request->handle, CURLINFO_PRETRANSFER_TIME_T, &sent) == CURLE_OK &&
        curl_easy_getinfo(request->handle, CURLINFO_STARTTRANSFER_TIME_T, &first) == CURLE_OK)
        request->waited = first > sent ? (int64_t)(first - sent) * 1000 : 0;
    if (request->handle)
        keep_redirect(request);
    curl_slist_free_all(request->lists);
    request->lists = NULL;
    request->handle = NULL;
}

/* libcurl quotes the URL of a proxy that it does not understand, and a password may stand in it. */
static bool quotes_url(const zb__request *request) {
    return strstr(request->failure, "://") || strchr(request->failure, '@');
}

const char *zb__transfer_words(zb__request *request, CURLcode failure) {
    if (quotes_url(request))
        return "the proxy's URL is not understood (https_proxy, http_proxy, the option proxy)";
    if (!request->failure[0])
        snprintf(request->failure, sizeof request->failure, "%s", curl_easy_strerror(failure));
    return request->failure;
}

const char *zb__transfer_advice(const zb__request *request, CURLcode failure) {
    switch (failure) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
        return " (name the file with the certificate of its authority: SSL_CERT_FILE, or "
               "#ca_file=PATH behind the URL)";
    case CURLE_SSL_CACERT_BADFILE:
        return " (this file is named by #ca_file=PATH behind the URL, or by SSL_CERT_FILE, "
               "CURL_CA_BUNDLE or AWS_CA_BUNDLE)";
    case CURLE_SSL_CONNECT_ERROR:
        return strstr(request->failure, "wrong version number")
                   ? " (the host may speak http:// at this port)"
                   : "";
    default:
        return "";
    }
}

bool zb__transfer_may_again(const zb__request *request, CURLcode failure) {
    if (quotes_url(request))
        return false;
    switch (failure) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_SSL_CONNECT_ERROR: /* a connection cut before it was ready */
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_HTTP2: /* the connection's, and that of one request on it */
    case CURLE_HTTP2_STREAM:
        return true;
    default:
        return false;
    }
}
