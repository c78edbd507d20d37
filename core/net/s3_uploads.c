/* SPDX-License-Identifier: MIT */
#include "s3_uploads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fetch.h"
#include "hierarchy/markers.h"
#include "remote.h"
#include "s3.h"
#include "s3_list.h"
#include "s3_parts.h"
#include "util/clock.h"
#include "util/names.h"
#include "xml.h"

/* A page has 1000 of them, whose texts XML may write six times as long. */
#define MOST_PAGE (16u * 1024u * 1024u)
/* A writer that has been at work on one object for longer is none of ours: see
   ZARRBRIDGE_REMOTE_SECONDS. */
#define OLD_SECONDS (24 * 3600)

typedef struct sweeping {
    zb__remote *store;
    const char *prefix; /* of the store's keys */
    size_t length;
    bool removes;
    zb_list_fn fn;
    void *context;
    bool is_ended;
    zb__s3_begun last; /* of the pages so far */
    zb__names tests;
    enum zb_code code; /* of take_name */
    zb_error *err;     /* for it */
} sweeping;

/* What cannot be read is young. */
static bool is_old(const char *begun) {
    struct tm when = {.tm_sec = 0};
    const char *rest = strptime(begun, "%Y-%m-%dT%H:%M:%S", &when);
    return rest && (*rest == '.' || *rest == 'Z') && timegm(&when) + OLD_SECONDS < time(NULL);
}

static enum zb_code take(void *context, const zb__s3_begun *upload, zb_error *err) {
    sweeping *s = context;
    s->last = *upload;
    if (s->is_ended || !*upload->id || strncmp(upload->key, s->prefix, s->length) != 0 ||
        !is_old(upload->begun))
        return ZB_OK;
    const char *key = upload->key + s->length;
    const enum zb_code code =
        s->removes ? zb__s3_upload_abort(s->store, key, upload->id, err) : ZB_OK;
    char *name = NULL;
    if (code)
        return code;
    if (asprintf(&name, "%s?uploads", key) < 0)
        return zb_fail(err, ZB_ENOMEM, "no memory for a name");
    const zb_list_entry entry = {.name = name};
    s->is_ended = s->fn(s->context, &entry) != 0;
    free(name);
    return ZB_OK;
}

/* The page behind the last upload; behind all of its key where its name cannot be signed. */
static char *query_of(const sweeping *s) {
    zb__text text = {.data = NULL};
    if (*s->last.key) {
        zb__text_add(&text, "key-marker=");
        zb__url_encode(&text, s->last.key, false);
        zb__text_add(&text, "&");
    }
    zb__text_add(&text, "prefix=");
    zb__url_encode(&text, s->prefix, false);
    if (*s->last.id && zb__s3_can_sign(s->store->state, s->last.id)) {
        zb__text_add(&text, "&upload-id-marker=");
        zb__url_encode(&text, s->last.id, false);
    }
    zb__text_add(&text, "&uploads=");
    return zb__text_take(&text, NULL);
}

/* Some services have no such list, and many users no right to it. */
static bool has_no_list(const zb__request *request) {
    const int status = request->reply.status;
    return status == 501 || (status >= 400 && status < 500 && status != 408 && status != 429);
}

static enum zb_code get_page(sweeping *s, bool *goes_on, zb_error *err) {
    char *query = query_of(s);
    if (!query)
        return zb_fail(err, ZB_ENOMEM, "no memory for a request");
    zb__request request = {
        .store = s->store, .method = ZB__GET, .query = query, .span = ZB__ALL, .most = MOST_PAGE};
    const zb__s3_begun before = s->last;
    enum zb_code code = zb__request_wait(&request, err);
    *goes_on = false;
    if (code && has_no_list(&request))
        code = ZB_OK;
    else if (!code)
        code = zb__s3_uploads_parse(request.buffer, request.got, take, s, goes_on, err);
    const int further = strcmp(s->last.key, before.key);
    if (!code && *goes_on && (further < 0 || (!further && strcmp(s->last.id, before.id) == 0)))
        code = zb_fail(err, ZB_EIO, "%s: the server's list of uploads does not go on",
                       s->store->base.label);
    free(request.buffer);
    free(query);
    return code;
}

static enum zb_code sweep_uploads(sweeping *s, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (bool goes_on = true; goes_on && !code && !s->is_ended;)
        code = get_page(s, &goes_on, err);
    return code;
}

/* ---- Objects that services were tested with ---- */

static int take_name(void *context, const zb_list_entry *entry) {
    sweeping *s = context;
    char *key;
    if (entry->is_prefix)
        return 0;
    s->code = asprintf(&key, "%s%s", ZB__TEST_OBJECT, entry->name) < 0
                  ? zb_fail(s->err, ZB_ENOMEM, "no memory for a name")
                  : zb__names_add(&s->tests, (zb__name){.text = key}, s->err);
    return s->code;
}

/* Of an object that has gone meanwhile nothing is said. */
static enum zb_code sweep_test(sweeping *s, const char *key, zb_error *err) {
    zb_object_info info;
    enum zb_code code = zb_store_stat(&s->store->base, key, &info, err);
    if (code || info.age / ZB__SECOND < OLD_SECONDS)
        return code == ZB_ENOTFOUND ? ZB_OK : code;
    if (s->removes && (code = zb_store_erase(&s->store->base, key, err)))
        return code;
    const zb_list_entry entry = {.name = key};
    s->is_ended = s->fn(s->context, &entry) != 0;
    return ZB_OK;
}

static enum zb_code sweep_tests(sweeping *s, zb_error *err) {
    s->err = err;
    enum zb_code code = zb__s3_list_names(s->store, ZB__TEST_OBJECT, take_name, s, err);
    code = code ? code : s->code;
    for (size_t i = 0; i < s->tests.count && !code && !s->is_ended; i++)
        code = sweep_test(s, s->tests.name[i].text, err);
    zb__names_free(&s->tests);
    return code;
}

/* All that are below the store are told at its root. */
enum zb_code zb__s3_sweep(zb_store *store, const char *prefix, enum zb_sweep what, zb_list_fn fn,
                          void *context, zb_error *err) {
    const bool remove = what == ZB_SWEEP_REMOVE;
    if (what == ZB_SWEEP_ERASED)
        return ZB_OK;
    zb__remote *remote = (zb__remote *)store;
    const zb__s3 *s3 = remote->state;
    sweeping s = {.store = remote, .removes = remove, .fn = fn, .context = context};
    if (*prefix)
        return ZB_OK;
    enum zb_code code = remote->protocol->prepare(remote, err);
    s.prefix = s3->name.prefix;
    s.length = strlen(s.prefix);
    if (!code && strchr(s.prefix, '+') && !zb__s3_can_sign(remote->state, "+"))
        return ZB_OK; /* nor are its names listed */
    if (!code)
        code = sweep_uploads(&s, err);
    return code || s.is_ended ? code : sweep_tests(&s, err);
}
