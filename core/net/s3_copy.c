/* SPDX-License-Identifier: MIT */
/*
 * A copy is one request, which names its source in a header and has no body. The service reads one
 * version of the source and makes the object of it as a whole, or not at all, so that trying again
 * does no harm. Metadata go along, with the random id of the put that has made the source: it still
 * tells whose bytes these are.
 *
 * An object of more than 5 GiB is copied in parts, all of the version that the first look has
 * found.
 *
 * Not every service can copy, and not all that may be read and put may be copied. So what is
 * refused is left to the caller, which carries the bytes. A service that does not know the header
 * puts an empty object and says nothing of a copy; the caller's put replaces that.
 */
#include "s3_copy.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fetch.h"
#include "remote.h"
#include "s3.h"
#include "s3_ability.h"
#include "conditional.h"
#include "s3_parts.h"
#include "xml.h"

#define TRIES 4 /* of a copy that the service has begun and given up */
#define PAUSE_NS 200000000

/* Of the service, at most: for the 5 GiB that one request may copy. */
#define WORK_SECONDS 180

typedef struct copying {
    zb__remote *to, *from;
    const char *key, *from_key;
    const char *source; /* a header */
} copying;

static bool is_same_service(const zb_store *a, const zb_store *b) {
    const zb__s3 *one = ((const zb__remote *)a)->state, *other = ((const zb__remote *)b)->state;
    return zb__text_same(one->endpoint.base, other->endpoint.base);
}

/* malloc'ed; NULL without memory. */
static char *header_of(const zb__remote *from, const char *key) {
    const zb__s3 *s3 = from->state;
    zb__text text = {.data = NULL};
    zb__text_add(&text, "x-amz-copy-source: ");
    zb__url_encode(&text, s3->name.bucket, true);
    zb__text_add(&text, "/");
    zb__url_encode(&text, s3->name.prefix, true);
    zb__url_encode(&text, key, true);
    return zb__text_take(&text, NULL);
}

static enum zb_code not_here(const zb__remote *store, const char *key, zb_error *err) {
    return zb_fail(err, ZB_EUNSUPPORTED, "%s/%s: the service does not copy the object",
                   store->base.label, key);
}

/* ---- One request ---- */

/* What is refused, and could be done with the bytes. */
static enum zb_code judge_refusal(const zb__request *request, enum zb_code code, bool *is_bad,
                                  zb_error *err) {
    const int status = request->reply.status;
    *is_bad = status == 400;
    if (code != ZB_EIO || !(*is_bad || status == 403 || status == 405 || status == 501))
        return code;
    if (!*is_bad)
        atomic_store(&((zb__s3 *)request->store->state)->copies, ZB__NO);
    return not_here(request->store, request->key, err);
}

/* A success may turn into an error while the service works at it: that is in its body then. */
static enum zb_code judge_success(const zb__request *request, zb__version *version, bool *again,
                                  zb_error *err) {
    zb__s3_error error;
    *version = request->reply.version;
    if (zb__s3_value_parse(request->buffer, request->got, "CopyObjectResult", "ETag", version->etag,
                           sizeof version->etag))
        return ZB_OK;
    zb__s3_error_parse(request->buffer, request->got, &error);
    if (!*error.code) {
        atomic_store(&((zb__s3 *)request->store->state)->copies, ZB__NO);
        return not_here(request->store, request->key, err);
    }
    *again = true;
    return zb_fail(err, ZB_EIO, "%s/%s: the service could not copy it: %s",
                   request->store->base.label, request->key, error.code);
}

/* *again: another try may mend the error. *is_bad: the service calls the request a bad one, as for
   an object that is too large for it. */
static enum zb_code copy_whole(const copying *c, zb__version *version, bool *again, bool *is_bad,
                               zb_error *err) {
    const char *const headers[] = {"Content-Type: application/octet-stream", "Expect:", c->source,
                                   NULL};
    zb__request request = {.store = c->to,
                           .method = ZB__PUT,
                           .key = c->key,
                           .headers = headers,
                           .most = ZB__MOST_REPLY,
                           .work = WORK_SECONDS};
    enum zb_code code = zb__request_wait(&request, err);
    code = code ? judge_refusal(&request, code, is_bad, err)
                : judge_success(&request, version, again, err);
    free(request.buffer);
    return code;
}

/* ---- In parts ---- */

static enum zb_code run_upload(const copying *c, const zb__reply *source, zb__version *version,
                               bool *again, zb_error *err) {
    char match[sizeof source->version.etag + 40], mark[sizeof source->write_id + 32];
    const zb_put put = {.key = c->key};
    zb__s3_upload upload = {.store = c->to,
                            .put = &put,
                            .size = source->length,
                            .source = c->source,
                            .version = match,
                            .mark = source->write_id[0] ? mark : NULL};
    bool in_doubt;
    snprintf(match, sizeof match, "x-amz-copy-source-if-match: %s", source->version.etag);
    snprintf(mark, sizeof mark, "x-amz-meta-zb-write: %s", source->write_id);
    enum zb_code code = zb__s3_upload_run(&upload, version, &in_doubt, err);
    *again = code == ZB_EIO || code == ZB_ECONFLICT;
    return code;
}

/* Of one version: another one at the source is copied anew. */
static enum zb_code copy_in_parts(const copying *c, zb__version *version, bool *again,
                                  zb_error *err) {
    zb__reply there;
    const enum zb_code code = zb__conditional_ask(c->from, c->from_key, &there, err);
    if (code)
        return code;
    return there.has_length && zb__s3_pays_in_parts(there.length) &&
                   zb__version_is_strong(&there.version) && zb__s3_takes_parts(c->to)
               ? run_upload(c, &there, version, again, err)
               : not_here(c->to, c->key, err);
}

/* ---- Both ---- */

static enum zb_code run(const copying *c, zb__version *version, zb_error *err) {
    bool again = true, is_bad = false;
    enum zb_code code = ZB_OK;
    for (long i = 0; again && i < TRIES; i++) {
        const struct timespec pause = {.tv_nsec = i * PAUSE_NS};
        nanosleep(&pause, NULL);
        again = false;
        if (!is_bad)
            code = copy_whole(c, version, &again, &is_bad, err);
        if (is_bad)
            code = copy_in_parts(c, version, &again, err);
    }
    return code;
}

enum zb_code zb__s3_copy(zb_store *store, const char *key, zb_store *from, const char *from_key,
                         zb_error *err) {
    copying c = {.to = (zb__remote *)store, .key = key, .from_key = from_key};
    zb__version version;
    if (from->ops->copy != zb__s3_copy || !is_same_service(store, from))
        return zb_fail(err, ZB_EUNSUPPORTED, "%s: the object is in another service", store->label);
    c.from = (zb__remote *)from;
    if (atomic_load(&((zb__s3 *)c.to->state)->copies) == ZB__NO)
        return not_here(c.to, key, err);
    char *source = header_of(c.from, from_key);
    if (!source)
        return zb_fail(err, ZB_ENOMEM, "no memory for a key");
    c.source = source;
    enum zb_code code = run(&c, &version, err);
    free(source);
    if (code == ZB_ENOTFOUND)
        return zb_fail(err, code, "%s/%s: there is no such object", from->label, from_key);
    if (!code)
        zb__conditional_replaced(c.to, key, &version);
    return code;
}
