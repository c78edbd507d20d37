/* SPDX-License-Identifier: MIT */
#include "conditional_put.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fetch.h"
#include "remote.h"
#include "util/pages.h"
#include "util/token.h"

/* From this size on the check of a put goes along with its body. Bytes. */
#define CHECKED_ON_THE_WAY ((uint64_t)1 << 20)
_Static_assert(CHECKED_ON_THE_WAY > ZB__HELD_BACK, "a body has something before its end");

/* After a put whose condition did not hold: was it our own first try that has changed the
   object? */
static bool was_ours(const zb__sending *s, const char *id, zb__version *version) {
    zb__reply there;
    const bool is = !zb__conditional_ask(s->store, s->put->key, &there, NULL) &&
                    strcmp(there.write_id, id) == 0;
    if (is)
        *version = there.version;
    return is;
}

/* The content in one piece; *owned is to be freed. NULL: no memory. */
static const void *join(const zb__sending *s, char **owned) {
    const zb_put *put = s->put;
    *owned = NULL;
    if (put->count <= 1)
        return put->count ? put->parts[0].data : "";
    char *at = *owned = zb__pages_alloc((size_t)s->size, NULL);
    for (size_t i = 0; i < put->count && at; i++) {
        if (put->parts[i].size)
            memcpy(at, put->parts[i].data, put->parts[i].size);
        at += put->parts[i].size;
    }
    return *owned;
}

/* Whether the check goes along with the body, or comes between an object's parts and the request
   that makes it; else the caller makes it before. */
static bool is_checked_on_the_way(const zb__sending *s) {
    return s->put->batch && s->put->batch->check && s->size >= CHECKED_ON_THE_WAY;
}

enum zb_code zb__conditional_send_whole(zb__sending *s, const char *mark, const char *condition,
                                        bool *in_doubt, zb_error *err) {
    const char *const headers[] = {"Content-Type: application/octet-stream", "Expect:", mark,
                                   condition, NULL};
    char *owned;
    zb__request request = {.store = s->store,
                           .method = ZB__PUT,
                           .key = s->put->key,
                           .headers = headers,
                           .body = join(s, &owned),
                           .body_size = (size_t)s->size,
                           .most = ZB__MOST_REPLY};
    enum zb_code code = ZB_OK;
    if (!request.body)
        code = zb_fail(err, ZB_ENOMEM, "no memory for an object");
    else if (is_checked_on_the_way(s))
        code = zb__request_wait_checked(&request, s->put, &s->is_refused, err);
    else
        code = zb__request_wait(&request, err);
    free(request.buffer);
    free(owned);
    s->version = request.reply.version;
    s->status = request.reply.status;
    *in_doubt = request.sendings > 1 && mark;
    return code;
}

enum zb_code zb__conditional_send(zb__sending *s, zb_error *err) {
    char id[ZB__TOKEN_SIZE], mark[64], condition[sizeof s->version.etag + 16];
    const zb__service *service = s->store->protocol->service;
    const bool has_condition = s->seen != ZB__UNSEEN;
    bool in_doubt;
    enum zb_code code = zb__token_make(id, err);
    if (code)
        return code;
    if (s->seen == ZB__PRESENT && !zb__version_is_strong(&s->version))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "%s/%s: the service gives no strong ETag, so that the object cannot be "
                       "replaced safely",
                       s->store->base.label, s->put->key);
    snprintf(mark, sizeof mark, "%s: %s", service->mark, id);
    if (s->seen == ZB__PRESENT)
        snprintf(condition, sizeof condition, "If-Match: %s", s->version.etag);
    else
        snprintf(condition, sizeof condition, "If-None-Match: *");
    const char *asked = has_condition ? condition : NULL;
    if (s->in_parts)
        code = service->send_in_parts(s, mark, asked, &in_doubt, err);
    else
        code = zb__conditional_send_whole(s, asked ? mark : NULL, asked, &in_doubt, err);
    if (!s->is_refused && (!code || (in_doubt && was_ours(s, id, &s->version))))
        return ZB_OK;
    if (s->is_refused || !has_condition || (code != ZB_ECONFLICT && code != ZB_ENOTFOUND))
        return code;
    return zb__conditional_fail(s->store, s->put->key, err);
}

static enum zb_code measure(zb__sending *s, zb_error *err) {
    for (size_t i = 0; i < s->put->count; i++) {
        if (__builtin_add_overflow(s->size, s->put->parts[i].size, &s->size))
            return zb_fail(err, ZB_ELIMIT, "%s/%s: too many bytes", s->store->base.label,
                           s->put->key);
    }
    return s->store->protocol->service->measure(s, err);
}

enum zb_code zb__conditional_put(zb_store *store, const zb_put *put, zb_error *err) {
    zb__sending s = {.store = (zb__remote *)store, .put = put};
    if (put->expected == ZB_EXPECT_NOTHING || put->expected == ZB_EXPECT_FREE)
        return ZB_EUNSUPPORTED;
    enum zb_code code = measure(&s, err);
    if (!code && !is_checked_on_the_way(&s))
        code = zb_batch_check(put->batch, put->key, err);
    if (!code) {
        s.seen = zb__conditional_seen(s.store, put->key, &s.version);
        if (s.seen == ZB__UNSEEN && put->expected == ZB_EXPECT_NO_OBJECT &&
            zb__conditional_is_locked(s.store, put->key))
            s.seen = ZB__ABSENT;
        code = zb__conditional_send(&s, err);
    }
    s.version.size = s.size;
    if (!code)
        zb__conditional_replaced(s.store, put->key, &s.version);
    else if (code == ZB_ECONFLICT && !s.is_refused && zb__key_is_document(put->key))
        zb__conditional_refused(s.store, put->key);
    return code;
}
