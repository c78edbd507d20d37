/* SPDX-License-Identifier: MIT */
/*
 * A put is one request, or a large object's parts and a last request for all of them (s3_parts.h),
 * which the service carries out as a whole or not at all. One with a condition, or in parts,
 * carries a random id: where the reply to it was lost, its own second try finds the condition
 * broken, and the object's id tells whether that was done by the first try or by another program.
 *
 * The check of a put's batch asks the service, for a round trip. Of an object that takes long
 * enough it goes along with the body, whose end waits for the answer: so nothing is spent, and the
 * check is closer to the moment at which the object becomes visible.
 */
#include "s3_write.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/pages.h"
#include "base/token.h"
#include "fetch.h"
#include "node/notes.h"
#include "options.h"
#include "remote.h"
#include "s3.h"
#include "s3_known.h"
#include "s3_lock.h"
#include "s3_parts.h"

/* The most that S3 takes in one request, and in parts. */
#define MOST_AT_ONCE ((uint64_t)5 << 30)
#define MOST_IN_PARTS ((uint64_t)5 << 40)
#define MOST_REPLY 65536
/* From this size on the check of a put goes along with its body. Bytes. */
#define CHECKED_ON_THE_WAY ((uint64_t)1 << 20)
_Static_assert(CHECKED_ON_THE_WAY > ZB__HELD_BACK, "a body has something before its end");
#define ERASED_AT_ONCE 256

/* ---- Puts ---- */

/* An object on its way. */
typedef struct sending {
    zb__remote *store;
    const zb_put *put;
    uint64_t size; /* of its parts together */
    bool in_parts;
    bool is_refused; /* by the check of its batch */
    int status;      /* HTTP's, of a whole put: of its last try; 0: there was no reply */
    enum zb__seen seen;
    zb__version version; /* in: the one to replace, with ZB__PRESENT; out: the new one */
} sending;

/* After a put whose condition did not hold: was it our own first try that has changed the
   object? */
static bool was_ours(const sending *s, const char *id, zb__version *version) {
    zb__request head = {
        .store = s->store, .method = ZB__HEAD, .key = s->put->key, .most = MOST_REPLY};
    const bool is = !zb__request_wait(&head, NULL) && strcmp(head.reply.write_id, id) == 0;
    free(head.buffer);
    if (is)
        *version = head.reply.version;
    return is;
}

/* The content in one piece; *owned is to be freed. NULL: no memory. */
static const void *join(const sending *s, char **owned) {
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
   that makes it. */
static bool is_checked_on_the_way(const sending *s) {
    return s->put->batch && s->put->batch->check && s->size >= CHECKED_ON_THE_WAY;
}

/* mark, condition: headers, or NULL. *in_doubt: an earlier try may have put the object. */
static enum zb_code send_whole(sending *s, const char *mark, const char *condition, bool *in_doubt,
                               zb_error *err) {
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
    else if (is_checked_on_the_way(s))
        code = zb__request_wait_checked(&request, s->put, &s->is_refused, err);
    else
        code = zb__request_wait(&request, err);
    free(request.buffer);
    free(owned);
    s->version = request.reply.version;
    s->status = request.reply.status;
    *in_doubt = request.tries > 1 && mark;
    return code;
}

static enum zb_code send_in_parts(sending *s, const char *mark, const char *condition,
                                  bool *in_doubt, zb_error *err) {
    const zb__s3_upload upload = {.store = s->store,
                                  .put = s->put,
                                  .is_refused = &s->is_refused,
                                  .size = s->size,
                                  .mark = mark,
                                  .condition = condition};
    const zb__version seen = s->version;
    enum zb_code code = zb__s3_upload_run(&upload, &s->version, in_doubt, err);
    if (code != ZB_EUNSUPPORTED || s->is_refused || s->size > MOST_AT_ONCE)
        return code;
    atomic_store(&((zb__s3 *)s->store->state)->takes_parts, ZB__NO);
    s->version = seen;
    return send_whole(s, mark, condition, in_doubt, err);
}

static enum zb_code send(sending *s, zb_error *err) {
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

/* ---- Large objects ---- */

static const zb_part test_content = {.data = "1", .size = 1};

/* With the token; both have a NUL. */
#define TEST_KEY (sizeof ZB__TEST_OBJECT + ZB__TOKEN_SIZE - 1)

static enum zb_code make_test_key(char key[TEST_KEY], zb_error *err) {
    char id[ZB__TOKEN_SIZE];
    enum zb_code code = zb__token_make(id, err);
    snprintf(key, TEST_KEY, ZB__TEST_OBJECT "%s", id);
    return code;
}

/* An object that is there must not be replaced by one in parts that asks for none to be there. */
static int test_parts(zb__remote *store) {
    char key[TEST_KEY];
    const zb_put put = {.key = key, .parts = &test_content, .count = 1};
    sending s = {.store = store, .put = &put, .size = 1, .seen = ZB__ABSENT};
    if (make_test_key(key, NULL))
        return ZB__UNSAID;
    const bool is_there = send(&s, NULL) == ZB_OK;
    s.seen = ZB__ABSENT;
    s.in_parts = true;
    const bool is_refused = is_there && send(&s, NULL) == ZB_ECONFLICT;
    (void)zb__s3_erase(&store->base, key, NULL);
    return !is_there ? ZB__UNSAID : is_refused ? ZB__YES : ZB__NO;
}

/* Not every service that keeps to the conditions of puts keeps to those of uploads in parts. */
bool zb__s3_takes_parts(zb__remote *store) {
    zb__s3 *s3 = store->state;
    int known = s3->endpoint.base ? atomic_load(&s3->takes_parts) : ZB__YES;
    if (known == ZB__UNSAID) {
        known = zb__s3_is_known(s3, ZB__TAKES_PARTS) ? ZB__YES : test_parts(store);
        int unsaid = ZB__UNSAID; /* the test may have met an upload that cannot be signed for */
        if (!atomic_compare_exchange_strong(&s3->takes_parts, &unsaid, known))
            known = unsaid;
        if (known == ZB__YES)
            zb__s3_learn(s3, ZB__TAKES_PARTS);
    }
    return known == ZB__YES;
}

static enum zb_code measure(const zb_put *put, sending *s, zb_error *err) {
    *s = (sending){.store = s->store, .put = put};
    for (size_t i = 0; i < put->count; i++) {
        if (__builtin_add_overflow(s->size, put->parts[i].size, &s->size))
            return zb_fail(err, ZB_ELIMIT, "%s/%s: too many bytes", s->store->base.label, put->key);
    }
    s->in_parts = zb__s3_pays_in_parts(s->size) && zb__s3_takes_parts(s->store);
    if (s->size <= (s->in_parts ? MOST_IN_PARTS : MOST_AT_ONCE))
        return ZB_OK;
    return zb_fail(err, ZB_ELIMIT,
                   "%s/%s: an object is put with at most %s here: choose smaller chunks or shards",
                   s->store->base.label, s->put->key, s->in_parts ? "5 TiB" : "5 GiB");
}

enum zb_code zb__s3_put(zb_store *store, const zb_put *put, zb_error *err) {
    sending s = {.store = (zb__remote *)store};
    enum zb_code code = measure(put, &s, err);
    if (!code && !is_checked_on_the_way(&s))
        code = zb_put_check(put, err);
    if (!code) {
        s.seen = zb__s3_seen(s.store, put->key, &s.version);
        code = send(&s, err);
    }
    s.version.size = s.size;
    if (!code)
        zb__s3_replaced(s.store, put->key, &s.version);
    return code;
}

/* ---- Conditions ---- */

/* *is: a put whose condition does not hold is no success. An error: the answer is not known. */
static enum zb_code is_kept_to(sending *s, bool *is, zb_error *err) {
    const enum zb_code code = send(s, err);
    const bool is_unknown = s->status == 400 || s->status == 405 || s->status == 501;
    *is = code == ZB_ECONFLICT;
    return *is || is_unknown ? ZB_OK : code;
}

/* The object with the test's key is put, and stays. */
static enum zb_code test_conditions(zb__remote *store, const char *key, bool *are_kept,
                                    zb_error *err) {
    const zb_put put = {.key = key, .parts = &test_content, .count = 1};
    sending s = {.store = store, .put = &put, .size = 1, .seen = ZB__ABSENT};
    enum zb_code code = send(&s, err);
    if (code)
        return code;
    s.seen = ZB__ABSENT;
    code = is_kept_to(&s, are_kept, err);
    if (code || !*are_kept)
        return code;
    s.seen = ZB__PRESENT;
    snprintf(s.version.etag, sizeof s.version.etag, "\"00000000000000000000000000000000\"");
    return is_kept_to(&s, are_kept, err);
}

static enum zb_code ask_for_conditions(zb__remote *store, int *known, zb_error *err) {
    char key[TEST_KEY];
    bool are_kept = false;
    enum zb_code code = make_test_key(key, err);
    if (code)
        return code;
    code = test_conditions(store, key, &are_kept, err);
    (void)zb__s3_erase(&store->base, key, NULL);
    *known = are_kept ? ZB__YES : ZB__NO;
    if (!code && *known == ZB__YES)
        zb__s3_learn(store->state, ZB__KEEPS_CONDITIONS);
    return code;
}

enum zb_code zb__s3_check_conditions(zb__remote *store, zb_error *err) {
    zb__s3 *s3 = store->state;
    int known = s3->endpoint.base ? atomic_load(&s3->conditions) : ZB__YES;
    if (known == ZB__UNSAID && zb__s3_is_known(s3, ZB__KEEPS_CONDITIONS))
        known = ZB__YES;
    if (known == ZB__UNSAID) {
        enum zb_code code = ask_for_conditions(store, &known, err);
        if (code)
            return code;
        atomic_store(&s3->conditions, known);
    }
    return known == ZB__YES
               ? ZB_OK
               : zb_fail(err, ZB_EUNSUPPORTED,
                         "%s: the service takes no notice of If-Match and If-None-Match, so that "
                         "programs could undo each other's changes",
                         store->base.label);
}

/* ---- Erasing ---- */

/* At most ERASED_AT_ONCE keys. */
static enum zb_code erase_keys(zb__remote *store, char *const *keys, size_t count, zb_error *err) {
    zb__request *requests = calloc(count, sizeof *requests);
    if (!requests)
        return zb_fail(err, ZB_ENOMEM, "no memory for requests");
    for (size_t i = 0; i < count; i++)
        requests[i] =
            (zb__request){.store = store, .method = ZB__DELETE, .key = keys[i], .most = MOST_REPLY};
    enum zb_code code = zb__requests_wait(requests, count, err);
    const bool was_begun = !code;
    for (size_t i = 0; i < count && was_begun; i++) {
        free(requests[i].buffer);
        if (!requests[i].code || requests[i].code == ZB_ENOTFOUND) {
            zb__s3_replaced(store, keys[i], NULL);
        } else if (!code) {
            code = requests[i].code;
            if (err)
                *err = requests[i].error;
        }
    }
    free(requests);
    return code;
}

enum zb_code zb__s3_erase(zb_store *store, const char *key, zb_error *err) {
    char *name = strdup(key);
    if (!name)
        return zb_fail(err, ZB_ENOMEM, "no memory for a key");
    enum zb_code code = erase_keys((zb__remote *)store, &name, 1, err);
    free(name);
    return code;
}

/* Keys below a prefix. */
typedef struct keys {
    const char *prefix;
    char **key;
    size_t count, capacity;
    bool is_short; /* of memory */
} keys;

static int take(void *context, const zb_list_entry *entry) {
    keys *k = context;
    char *key;
    k->is_short = !zb__list_grow(&k->key, k->count, &k->capacity, sizeof *k->key) ||
                  asprintf(&key, "%s%s%s", k->prefix, *k->prefix ? "/" : "", entry->name) < 0;
    if (!k->is_short)
        k->key[k->count++] = key;
    return k->is_short;
}

/* Erases the documents, or all else. */
static enum zb_code erase_some(zb__remote *store, const keys *k, bool documents, zb_error *err) {
    char *next[ERASED_AT_ONCE];
    enum zb_code code = ZB_OK;
    size_t count = 0;
    for (size_t i = 0; i < k->count && !code; i++) {
        if (zb__key_is_document(k->key[i]) == documents)
            next[count++] = k->key[i];
        if (count == ERASED_AT_ONCE) {
            code = erase_keys(store, next, count, err);
            count = 0;
        }
    }
    return code || !count ? code : erase_keys(store, next, count, err);
}

/* Documents before chunks: of what is left after a kill no array has lost some of them. */
static enum zb_code erase_tree(zb__remote *store, const char *prefix, zb_error *err) {
    keys k = {.prefix = prefix};
    enum zb_code code = zb__s3_list_below(&store->base, prefix, take, &k, err);
    if (!code && k.is_short)
        code = zb_fail(err, ZB_ENOMEM, "no memory for keys");
    if (!code)
        code = erase_some(store, &k, true, err);
    if (!code)
        code = erase_some(store, &k, false, err);
    for (size_t i = 0; i < k.count; i++)
        free(k.key[i]);
    free(k.key);
    return code;
}

/* The document goes first: what is left after a kill is no node. */
enum zb_code zb__s3_erase_below(zb_store *store, const char *prefix, zb_error *err) {
    char *document;
    if (asprintf(&document, "%s%szarr.json", prefix, *prefix ? "/" : "") < 0)
        return zb_fail(err, ZB_ENOMEM, "no memory for a key");
    enum zb_code code = zb__s3_erase(store, document, err);
    free(document);
    return code ? code : erase_tree((zb__remote *)store, prefix, err);
}
