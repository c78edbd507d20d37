/* SPDX-License-Identifier: MIT */
#include "conditional_erase.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conditional.h"
#include "fetch.h"
#include "remote.h"

#define ERASED_AT_ONCE 256
/* Tries of an object that other programs replace meanwhile. */
#define MOST_TRIES 16

/* ---- Requests ---- */

static bool erases_as_seen(zb__remote *store) {
    const zb__service *service = store->protocol->service;
    return !service->erases_as_seen || service->erases_as_seen(store);
}

/* A DELETE, with its condition. */
typedef struct deletion {
    char condition[sizeof(((zb__version *)NULL)->etag) + 16];
    const char *headers[2];
} deletion;

/* etag "": there is no condition. True if there is one. */
static bool prepare(zb__remote *store, const char *key, const char *etag, deletion *d,
                    zb__request *request) {
    *request =
        (zb__request){.store = store, .method = ZB__DELETE, .key = key, .most = ZB__MOST_REPLY};
    if (etag[0] != '"' || !erases_as_seen(store))
        return false;
    snprintf(d->condition, sizeof d->condition, "If-Match: %s", etag);
    d->headers[0] = d->condition;
    d->headers[1] = NULL;
    request->headers = d->headers;
    return true;
}

/* What a DELETE has come to. That nothing is there is as good as a success. */
static enum zb_code judge(zb__request *request, zb_error *err) {
    free(request->buffer);
    if (!request->code || request->code == ZB_ENOTFOUND) {
        zb__conditional_replaced(request->store, request->key, NULL);
        return ZB_OK;
    }
    if (request->code == ZB_ECONFLICT)
        return zb__conditional_fail(request->store, request->key, err);
    if (err)
        *err = request->error;
    return request->code;
}

static enum zb_code erase_one(zb__remote *store, const char *key, const char *etag, zb_error *err) {
    deletion d;
    zb__request request;
    prepare(store, key, etag, &d, &request);
    const enum zb_code code = zb__request_wait(&request, err);
    return code && code != request.code ? code : judge(&request, err);
}

static enum zb_code look(zb__remote *store, const char *document, zb_error *err) {
    return document ? zb__conditional_stands(store, document, err) : ZB_OK;
}

/* An object that another program has put since it was seen: it goes, as long as the document stands
   after it was seen anew. */
static enum zb_code erase_again(zb__remote *store, const char *key, const char *document,
                                zb_error *err) {
    enum zb_code code = ZB_ECONFLICT;
    for (unsigned tries = 0; tries < MOST_TRIES && code == ZB_ECONFLICT; tries++) {
        zb__reply there;
        code = zb__conditional_ask(store, key, &there, err);
        if (code)
            return code == ZB_ENOTFOUND ? ZB_OK : code;
        code = look(store, document, err);
        if (code)
            return code;
        code = erase_one(store, key, there.version.etag, err);
    }
    return code;
}

/* ---- One ---- */

/* Where nothing was read (a whole chunk is written) there is no condition, as with puts. */
static enum zb_code erase_object(zb__remote *remote, const zb_erase *erase, zb_error *err) {
    zb__version version;
    enum zb_code code = zb_batch_check(erase->batch, erase->key, err);
    const bool is_as_read = erase->expected == ZB_EXPECT_AS_READ,
               counts = is_as_read || zb__key_is_document(erase->key);
    const enum zb__seen seen =
        counts && !code ? zb__conditional_seen(remote, erase->key, &version) : ZB__UNSEEN;
    if (code || seen == ZB__ABSENT)
        return code;
    const bool has_condition = seen == ZB__PRESENT && zb__version_is_strong(&version);
    if (is_as_read && seen == ZB__PRESENT && !(has_condition && erases_as_seen(remote)))
        return ZB_EUNSUPPORTED;
    return erase_one(remote, erase->key, has_condition ? version.etag : "", err);
}

/* ---- Many ---- */

/* Objects of a listing that are going to be erased. */
typedef struct erasing {
    zb__remote *store;
    const char *document; /* that has to stand, or NULL */
    bool has_looked;      /* at the document, since the listing: where there are conditions */
    zb__request requests[ERASED_AT_ONCE];
    deletion deletions[ERASED_AT_ONCE];
    size_t count;
} erasing;

static enum zb_code judge_all(erasing *e, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < e->count; i++) {
        zb_error own;
        enum zb_code one = judge(&e->requests[i], &own);
        if (one == ZB_ECONFLICT && !code)
            one = erase_again(e->store, e->requests[i].key, e->document, &own);
        if (one && !code && err)
            *err = own;
        code = code ? code : one;
    }
    return code;
}

static enum zb_code erase_batch(erasing *e, zb__found *const *found, size_t count, zb_error *err) {
    bool has_conditions = true;
    for (e->count = 0; e->count < count; e->count++)
        has_conditions &= prepare(e->store, found[e->count]->key, found[e->count]->etag,
                                  &e->deletions[e->count], &e->requests[e->count]);
    enum zb_code code = e->has_looked && has_conditions ? ZB_OK : look(e->store, e->document, err);
    e->has_looked = true;
    if (!code)
        code = zb__requests_wait(e->requests, count, err);
    return code ? code : judge_all(e, err);
}

/* Erases the documents, or all else. */
static enum zb_code erase_some(erasing *e, const zb__finds *finds, bool documents, zb_error *err) {
    zb__found *next[ERASED_AT_ONCE];
    enum zb_code code = ZB_OK;
    size_t count = 0;
    for (size_t i = 0; i < finds->count && !code; i++) {
        if (zb__key_is_document(finds->found[i].key) == documents)
            next[count++] = &finds->found[i];
        if (count == ERASED_AT_ONCE) {
            code = erase_batch(e, next, count, err);
            count = 0;
        }
    }
    return code || !count ? code : erase_batch(e, next, count, err);
}

/* Documents before all else: of what is left after a kill no array has lost some of its chunks. */
static enum zb_code erase_found(zb__remote *store, const zb__finds *finds, const char *document,
                                zb_error *err) {
    erasing *e = malloc(sizeof *e);
    if (!e)
        return zb_fail(err, ZB_ENOMEM, "no memory for requests");
    e->store = store;
    e->document = document;
    e->has_looked = false;
    enum zb_code code = erase_some(e, finds, true, err);
    if (!code)
        code = erase_some(e, finds, false, err);
    free(e);
    return code;
}

/* The document goes first: what is left after a kill is no node. */
static enum zb_code erase_below(zb__remote *remote, const char *prefix, zb_error *err) {
    char *document;
    zb__finds finds = {.count = 0};
    if (asprintf(&document, "%s%szarr.json", prefix, *prefix ? "/" : "") < 0)
        return zb_fail(err, ZB_ENOMEM, "no memory for a key");
    enum zb_code code = erase_object(remote, &(zb_erase){.key = document}, err);
    if (!code)
        code = remote->protocol->service->find_below(remote, prefix, &finds, err);
    if (!code)
        code = erase_found(remote, &finds, document, err);
    zb__finds_free(&finds);
    free(document);
    return code;
}

enum zb_code zb__conditional_erase(zb_store *store, const zb_erase *erase, zb_error *err) {
    zb__remote *remote = (zb__remote *)store;
    return erase->is_recursive ? erase_below(remote, erase->key, err)
                               : erase_object(remote, erase, err);
}

/* Takes out of the list what is not chosen. */
static enum zb_code choose_some(zb__finds *finds, const zb_erase_chosen *erase, zb_error *err) {
    enum zb_code code = ZB_OK;
    size_t kept = 0;
    for (size_t i = 0; i < finds->count && !code; i++) {
        bool is_chosen = false;
        code = erase->choose(erase->context, finds->found[i].key, &is_chosen, err);
        if (!is_chosen)
            continue;
        const zb__found chosen = finds->found[i];
        finds->found[i] = finds->found[kept];
        finds->found[kept++] = chosen;
    }
    for (size_t i = kept; i < finds->count; i++) {
        free(finds->found[i].key);
        free(finds->found[i].etag);
    }
    finds->count = kept;
    return code;
}

enum zb_code zb__conditional_erase_chosen(zb_store *store, const zb_erase_chosen *erase,
                                          zb_error *err) {
    zb__remote *remote = (zb__remote *)store;
    zb__finds finds = {.count = 0};
    enum zb_code code = remote->protocol->service->find_below(remote, erase->prefix, &finds, err);
    if (!code)
        code = choose_some(&finds, erase, err);
    if (!code)
        code = erase_found(remote, &finds, erase->document, err);
    zb__finds_free(&finds);
    return code;
}
