/* SPDX-License-Identifier: MIT */
#include "s3_send.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "base/token.h"
#include "fetch.h"
#include "options.h"
#include "remote.h"
#include "s3.h"
#include "s3_parts.h"

#define MOST_REPLY 65536
/* From this size on the check of a put goes along with its body. Bytes. */
#define CHECKED_ON_THE_WAY ((uint64_t)1 << 20)
_Static_assert(CHECKED_ON_THE_WAY > ZB__HELD_BACK, "a body has something before its end");

/* After a put whose condition did not hold: was it our own first try that has changed the
   object? */
static bool was_ours(const zb__s3_sending *s, const char *id, zb__version *version) {
    zb__request head = {
        .store = s->store, .method = ZB__HEAD, .key = s->put->key, .most = MOST_REPLY};
    const bool is = !zb__request_wait(&head, NULL) && strcmp(head.reply.write_id, id) == 0;
    free(head.buffer);
    if (is)
        *version = head.reply.version;
    return is;
}

/* The content in one piece; *owned is to be freed. NULL: no memory. */
static const void *join(const zb__s3_sending *s, char **owned) {
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

bool zb__s3_is_checked_on_the_way(const zb__s3_sending *s) {
    return s->put->batch && s->put->batch->check && s->size >= CHECKED_ON_THE_WAY;
}

/* mark, condition: headers, or NULL. *in_doubt: an earlier try may have put the object. */
static enum zb_code send_whole(zb__s3_sending *s, const char *mark, const char *condition,
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
                           .most = MOST_REPLY};
    enum zb_code code = ZB_OK;
    if (!request.body)
        code = zb_fail(err, ZB_ENOMEM, "no memory for an object");
    else if (zb__s3_is_checked_on_the_way(s))
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

static enum zb_code send_in_parts(zb__s3_sending *s, const char *mark, const char *condition,
                                  bool *in_doubt, zb_error *err) {
    const zb__s3_upload upload = {.store = s->store,
                                  .put = s->put,
                                  .is_refused = &s->is_refused,
                                  .size = s->size,
                                  .mark = mark,
                                  .condition = condition};
    const zb__version seen = s->version;
    enum zb_code code = zb__s3_upload_run(&upload, &s->version, in_doubt, err);
    if (code != ZB_EUNSUPPORTED || s->is_refused || s->size > ZB__S3_MOST_AT_ONCE)
        return code;
    atomic_store(&((zb__s3 *)s->store->state)->takes_parts, ZB__NO);
    s->version = seen;
    return send_whole(s, mark, condition, in_doubt, err);
}

enum zb_code zb__s3_send(zb__s3_sending *s, zb_error *err) {
    char id[ZB__TOKEN_SIZE], mark[64], condition[sizeof s->version.etag + 16];
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
    snprintf(mark, sizeof mark, "x-amz-meta-zb-write: %s", id);
    if (s->seen == ZB__PRESENT)
        snprintf(condition, sizeof condition, "If-Match: %s", s->version.etag);
    else
        snprintf(condition, sizeof condition, "If-None-Match: *");
    code = s->in_parts ? send_in_parts(s, mark, has_condition ? condition : NULL, &in_doubt, err)
                       : send_whole(s, has_condition ? mark : NULL,
                                    has_condition ? condition : NULL, &in_doubt, err);
    if (!s->is_refused && (!code || (in_doubt && was_ours(s, id, &s->version))))
        return ZB_OK;
    if (s->is_refused || !has_condition || (code != ZB_ECONFLICT && code != ZB_ENOTFOUND))
        return code;
    return zb_fail(err, ZB_ECONFLICT, "%s/%s: another program has changed the object meanwhile",
                   s->store->base.label, s->put->key);
}
