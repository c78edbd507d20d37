/* SPDX-License-Identifier: MIT */
#include "s3_parts.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/text.h"
#include "fetch.h"
#include "remote.h"
#include "s3.h"
#include "xml.h"
#include "url.h"
#include "zarrbridge/limits.h"

/* S3 takes parts from 5 MiB on (the last one may be smaller), and 10 000 of them. */
#define LEAST_PART_BYTES ((uint64_t)5 << 20)
#define MOST_PARTS 10000
#define MOST_WHOLE 4 /* parts that go as one */
#define AT_ONCE 4
#define COMPLETIONS 4 /* tries of one that the service has begun and given up */
#define PAUSE_NS 200000000
#define COPY_SECONDS 60 /* of the service, at most, for one part */

/* An upload that has been begun. */
typedef struct running {
    const zb__s3_upload *upload;
    char *query;           /* "uploadId=..." */
    uint64_t part, number; /* bytes of a part, and how many there are */
    char (*etags)[sizeof(((zb__version *)NULL)->etag)];
    size_t piece; /* of the put's parts, in which the next part begins */
    size_t at;    /* in there */
} running;

static uint64_t part_bytes(void) {
    const uint64_t wanted = zb_limits_get()->remote_put_bytes;
    return wanted > LEAST_PART_BYTES ? wanted : LEAST_PART_BYTES;
}

bool zb__s3_pays_in_parts(uint64_t size) {
    return size / MOST_WHOLE > part_bytes();
}

static enum zb_code no_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for an upload in parts");
}

/* ---- Beginning and ending ---- */

/* malloc'ed; NULL without memory. */
static char *query_of(const char *id) {
    zb__text query = {.data = NULL};
    zb__text_add(&query, "uploadId=");
    zb__url_encode(&query, id, false);
    return zb__text_take(&query, NULL);
}

static enum zb_code begin(running *r, zb_error *err) {
    const zb__s3_upload *u = r->upload;
    char id[ZB__S3_UPLOAD_ID];
    const char *const headers[] = {"Content-Type: application/octet-stream", "Expect:", u->mark,
                                   NULL};
    zb__request request = {.store = u->store,
                           .method = ZB__POST,
                           .key = u->put->key,
                           .query = "uploads=",
                           .headers = headers,
                           .most = ZB__MOST_REPLY};
    enum zb_code code = zb__request_wait(&request, err);
    if (!code && !zb__s3_value_parse(request.buffer, request.got, "InitiateMultipartUploadResult",
                                     "UploadId", id, sizeof id))
        code = zb_fail(err, ZB_EIO, "%s/%s: the service begins no upload in parts",
                       u->store->base.label, u->put->key);
    free(request.buffer);
    if (!code && !zb__s3_can_sign(u->store->state, id))
        code = zb_fail(err, ZB_EUNSUPPORTED,
                       "%s/%s: this libcurl cannot sign the name of the service's upload",
                       u->store->base.label, u->put->key);
    if (code)
        return code;
    r->query = query_of(id);
    return r->query ? ZB_OK : no_memory(err);
}

static enum zb_code abort_one(zb__remote *store, const char *key, const char *query,
                              zb_error *err) {
    zb__request request = {
        .store = store, .method = ZB__DELETE, .key = key, .query = query, .most = ZB__MOST_REPLY};
    const enum zb_code code = zb__request_wait(&request, err);
    free(request.buffer);
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

/* What cannot be aborted is not to be seen, and costs its bytes until the service drops it. */
static void drop(const running *r) {
    if (r->query)
        (void)abort_one(r->upload->store, r->upload->put->key, r->query, NULL);
}

enum zb_code zb__s3_upload_abort(zb__remote *store, const char *key, const char *id,
                                 zb_error *err) {
    if (!zb__s3_can_sign(store->state, id))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "%s/%s: this libcurl cannot sign the name of the upload, 8.19 does",
                       store->base.label, key);
    char *query = query_of(id);
    const enum zb_code code = query ? abort_one(store, key, query, err) : no_memory(err);
    free(query);
    return code;
}

/* ---- Parts ---- */

/* The next bytes that lie together, at most `most`: *size of them. There are some. */
static const void *take(running *r, size_t most, size_t *size) {
    const zb_part *from = &r->upload->put->parts[r->piece];
    while (r->at == from->size) {
        from = &r->upload->put->parts[++r->piece];
        r->at = 0;
    }
    const char *data = (const char *)from->data + r->at;
    const size_t left = from->size - r->at;
    *size = left < most ? left : most;
    r->at += *size;
    return data;
}

/* The next `size` bytes, from where they lie, if they lie together; else *owned holds them. NULL:
   no memory. */
static const void *next_bytes(running *r, size_t size, char **owned) {
    size_t got;
    const void *data = take(r, size, &got);
    *owned = NULL;
    if (got == size)
        return data;
    *owned = malloc(size);
    if (!*owned)
        return NULL;
    memcpy(*owned, data, got);
    for (size_t filled = got; filled < size; filled += got) {
        data = take(r, size - filled, &got);
        memcpy(*owned + filled, data, got);
    }
    return *owned;
}

/* A part under way. */
typedef struct sent_part {
    zb__request request;
    uint64_t number;
    char *owned, *query;
    char range[64];
    const char *headers[6];
    enum { IDLE, UNDER_WAY, ANSWERED } state; /* the I/O thread sets ANSWERED, with the lock */
} sent_part;

/* The parts under way: as soon as one is answered, the next one takes its place. */
typedef struct window {
    running *r;    /* all but the answers is the caller's */
    uint64_t next; /* the part to begin */
    pthread_mutex_t lock;
    pthread_cond_t answered;
    sent_part parts[AT_ONCE];
} window;

static void part_done(zb__request *request) {
    window *w = request->context;
    sent_part *part = (sent_part *)(void *)request; /* its first member */
    pthread_mutex_lock(&w->lock);
    part->state = ANSWERED;
    pthread_cond_signal(&w->answered);
    pthread_mutex_unlock(&w->lock);
}

static void clear_part(sent_part *part) {
    free(part->request.buffer);
    free(part->owned);
    free(part->query);
    *part = (sent_part){.state = IDLE};
}

static void set_headers(const zb__s3_upload *upload, sent_part *part, uint64_t offset,
                        size_t size) {
    const char **next = part->headers;
    *next++ = "Content-Type: application/octet-stream";
    *next++ = "Expect:";
    if (!upload->source)
        return;
    snprintf(part->range, sizeof part->range, "x-amz-copy-source-range: bytes=%llu-%llu",
             (unsigned long long)offset, (unsigned long long)(offset + size - 1));
    *next++ = upload->source;
    *next++ = upload->version;
    *next = part->range;
}

static enum zb_code begin_part(window *w, sent_part *part, zb_error *err) {
    running *r = w->r;
    const bool is_copy = r->upload->source != NULL;
    part->number = w->next++;
    const uint64_t offset = part->number * r->part, left = r->upload->size - offset;
    const size_t size = (size_t)(left < r->part ? left : r->part);
    if (asprintf(&part->query, "partNumber=%llu&%s", (unsigned long long)part->number + 1,
                 r->query) < 0)
        part->query = NULL;
    set_headers(r->upload, part, offset, size);
    part->request = (zb__request){.store = r->upload->store,
                                  .method = ZB__PUT,
                                  .key = r->upload->put->key,
                                  .query = part->query,
                                  .headers = part->headers,
                                  .body = is_copy ? "" : next_bytes(r, size, &part->owned),
                                  .body_size = is_copy ? 0 : size,
                                  .most = ZB__MOST_REPLY,
                                  .work = is_copy ? COPY_SECONDS : 0,
                                  .group = w,
                                  .done = part_done,
                                  .context = w};
    part->state = UNDER_WAY;
    enum zb_code code =
        part->request.body && part->query ? zb__request_send(&part->request, err) : no_memory(err);
    if (code)
        clear_part(part);
    return code;
}

/* Of a copied part the body tells, where an error may stand in place of it. */
static void read_etag(const running *r, const zb__request *request, zb__version *version) {
    *version = request->reply.version;
    if (r->upload->source && !zb__s3_value_parse(request->buffer, request->got, "CopyPartResult",
                                                 "ETag", version->etag, sizeof version->etag))
        version->etag[0] = '\0';
}

/* The service's name of a part goes back to it in XML. */
static enum zb_code keep_etag(running *r, uint64_t number, const zb__request *request,
                              zb_error *err) {
    zb__version version;
    read_etag(r, request, &version);
    bool is_good = zb__version_is_strong(&version);
    for (const char *at = version.etag; *at && is_good; at++)
        is_good = *at > ' ' && *at < 127 && !strchr("<>&", *at);
    if (!is_good)
        return zb_fail(err, ZB_EIO, "%s/%s: the service gives no good ETag for a part",
                       r->upload->store->base.label, r->upload->put->key);
    snprintf(r->etags[number], sizeof r->etags[number], "%s", version.etag);
    return ZB_OK;
}

/* Waits for the next answer. NULL: nothing is under way. */
static sent_part *next_answered(window *w) {
    sent_part *found = NULL;
    bool is_busy = true;
    pthread_mutex_lock(&w->lock);
    while (!found && is_busy) {
        is_busy = false;
        for (size_t i = 0; i < AT_ONCE && !found; i++) {
            found = w->parts[i].state == ANSWERED ? &w->parts[i] : NULL;
            is_busy |= w->parts[i].state == UNDER_WAY;
        }
        if (!found && is_busy)
            pthread_cond_wait(&w->answered, &w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return found;
}

/* After an error none is begun. Those under way are waited for: the upload is aborted after
   them. */
static enum zb_code run_window(window *w, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < AT_ONCE && w->next < w->r->number && !code; i++)
        code = begin_part(w, &w->parts[i], err);
    for (sent_part *part; (part = next_answered(w)) != NULL;) {
        if (!code && part->request.code) {
            code = part->request.code;
            if (err)
                *err = part->request.error;
        }
        if (!code)
            code = keep_etag(w->r, part->number, &part->request, err);
        clear_part(part);
        if (!code && w->next < w->r->number)
            code = begin_part(w, part, err);
    }
    return code;
}

static enum zb_code send_all(running *r, zb_error *err) {
    window *w = calloc(1, sizeof *w);
    if (!w)
        return no_memory(err);
    w->r = r;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->answered, NULL);
    const enum zb_code code = run_window(w, err);
    pthread_cond_destroy(&w->answered);
    pthread_mutex_destroy(&w->lock);
    free(w);
    return code;
}

/* ---- Making the object ---- */

static char *list_of_parts(const running *r, size_t *size) {
    zb__text text = {.data = NULL};
    zb__text_add(&text, "<CompleteMultipartUpload>");
    for (uint64_t i = 0; i < r->number; i++) {
        const size_t length = strlen(r->etags[i]);
        zb__text_addf(&text,
                      "<Part><PartNumber>%llu</PartNumber><ETag>&quot;%.*s&quot;</ETag></Part>",
                      (unsigned long long)i + 1, (int)length - 2, r->etags[i] + 1);
    }
    zb__text_add(&text, "</CompleteMultipartUpload>");
    return zb__text_take(&text, size);
}

/* A success may turn into an error while the service works at it: that is in its body then. */
static enum zb_code judge_success(const running *r, const zb__request *request,
                                  zb__version *version, zb_error *err) {
    const zb__s3_upload *u = r->upload;
    zb__s3_error error;
    *version = request->reply.version;
    if (zb__s3_value_parse(request->buffer, request->got, "CompleteMultipartUploadResult", "ETag",
                           version->etag, sizeof version->etag)) {
        version->size = u->size;
        return ZB_OK;
    }
    zb__s3_error_parse(request->buffer, request->got, &error);
    if (strcmp(error.code, "PreconditionFailed") == 0 ||
        strcmp(error.code, "ConditionalRequestConflict") == 0)
        return zb_fail(err, ZB_ECONFLICT, "%s/%s: %s", u->store->base.label, u->put->key,
                       error.code);
    return zb_fail(err, ZB_EIO, "%s/%s: the service could not make an object of its parts%s%s",
                   u->store->base.label, u->put->key, *error.code ? ": " : "", error.code);
}

static enum zb_code complete_once(const running *r, const char *body, size_t size,
                                  zb__version *version, bool *in_doubt, bool *again,
                                  zb_error *err) {
    const zb__s3_upload *u = r->upload;
    const char *const headers[] = {"Content-Type: application/xml", "Expect:", u->condition, NULL};
    zb__request request = {.store = u->store,
                           .method = ZB__POST,
                           .key = u->put->key,
                           .query = r->query,
                           .headers = headers,
                           .body = body,
                           .body_size = size,
                           .most = ZB__MOST_REPLY};
    enum zb_code code = zb__request_wait(&request, err);
    const bool was_answered = !code;
    if (was_answered)
        code = judge_success(r, &request, version, err);
    *again = was_answered && code == ZB_EIO;
    *in_doubt |= request.sendings > 1 || code == ZB_EIO;
    free(request.buffer);
    return code;
}

static enum zb_code complete(const running *r, zb__version *version, bool *in_doubt,
                             zb_error *err) {
    size_t size;
    char *body = list_of_parts(r, &size);
    bool again = body != NULL;
    enum zb_code code = body ? ZB_OK : no_memory(err);
    for (long i = 0; again && i < COMPLETIONS; i++) {
        const struct timespec pause = {.tv_nsec = i * PAUSE_NS};
        nanosleep(&pause, NULL);
        code = complete_once(r, body, size, version, in_doubt, &again, err);
    }
    free(body);
    return code;
}

enum zb_code zb__s3_upload_run(const zb__s3_upload *upload, zb__version *version, bool *in_doubt,
                               zb_error *err) {
    const uint64_t least = (upload->size + MOST_PARTS - 1) / MOST_PARTS;
    running r = {.upload = upload, .part = least > part_bytes() ? least : part_bytes()};
    r.number = (upload->size + r.part - 1) / r.part;
    r.etags = calloc((size_t)r.number, sizeof *r.etags);
    *in_doubt = false;
    enum zb_code code = r.etags ? begin(&r, err) : no_memory(err);
    if (!code)
        code = send_all(&r, err);
    const bool is_of_source = code == ZB_ECONFLICT && upload->source;
    if ((code == ZB_ENOTFOUND || code == ZB_ECONFLICT) && !is_of_source) /* said of the upload */
        code = zb_fail(err, ZB_EIO, "%s/%s: the service has dropped the upload of its parts",
                       upload->store->base.label, upload->put->key);
    if (!code) { /* the array may have changed while the parts were sent */
        code = zb_batch_check(upload->put->batch, upload->put->key, err);
        if (code && upload->is_refused)
            *upload->is_refused = true;
    }
    if (!code)
        code = complete(&r, version, in_doubt, err);
    if (code)
        drop(&r);
    free(r.etags);
    free(r.query);
    return code;
}
