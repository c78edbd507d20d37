/* SPDX-License-Identifier: MIT */
#include "document.h"

#include <stdlib.h>
#include <string.h>

#include "fetch.h"
#include "object.h"
#include "remote.h"
#include "util/in_flight.h"
#include "zarrbridge/limits.h"

/* One who wants a document. */
typedef struct reader {
    zb__in_flight base;
    zb_store *store;
    const char *key;
    uint64_t changes; /* of the store, when it came */
} reader;

static bool asks_alike(const zb__remote *a, const zb__remote *b) {
    return a == b || (a->protocol == b->protocol && a->protocol->is_same &&
                      a->missing_403 == b->missing_403 && a->protocol->is_same(a, b));
}

static bool is_same(const zb__in_flight *one, const zb__in_flight *other) {
    const reader *a = (const reader *)one, *b = (const reader *)other;
    return a->changes == b->changes && strcmp(a->key, b->key) == 0 &&
           asks_alike((const zb__remote *)a->store, (const zb__remote *)b->store);
}

static enum zb_code ask(zb_store *store, const char *key, zb__remote_object **out, zb_error *err) {
    zb_fetch fetch = {
        .key = key, .range = {.length = ZB_WHOLE}, .most = zb_limits_get()->consolidated_bytes};
    enum zb_code code = zb__fetch_one(store, &fetch, err);
    if (code) {
        free(fetch.range.buffer);
        return code;
    }
    *out = (zb__remote_object *)fetch.object;
    (*out)->head = fetch.range.buffer;
    (*out)->head_size = fetch.range.got;
    return ZB_OK;
}

static enum zb_code ask_for_all(zb__in_flight *own, zb__answer **out, zb_error *err) {
    const reader *r = (const reader *)own;
    zb__remote_object *object;
    const enum zb_code code = ask(r->store, r->key, &object, err);
    if (!code)
        *out = &object->answer;
    return code;
}

/* A handle of the store with the bytes that have come for all. */
static enum zb_code share(zb_store *store, const char *key, zb__remote_object **out,
                          zb_error *err) {
    reader r = {
        .base.is_same = is_same, .store = store, .key = key, .changes = zb_store_changes(store)};
    zb__answer *answer;
    enum zb_code code =
        zb__in_flight_ask(&r.base, ((zb__remote *)store)->stopper(), ask_for_all, &answer, err);
    if (!code && !(*out = zb__object_share(store, answer)))
        code = zb_fail(err, ZB_ENOMEM, "no memory for a document");
    return code;
}

enum zb_code zb__document_open(zb_store *store, const char *key, zb_object **out,
                               zb_object_info *info, zb_error *err) {
    zb__remote *remote = (zb__remote *)store;
    zb__remote_object *object = NULL;
    const bool is_locked = remote->protocol->is_locked && remote->protocol->is_locked(remote, key);
    enum zb_code code = is_locked ? ask(store, key, &object, err) : share(store, key, &object, err);
    if (code)
        return code;
    *out = &object->base;
    if (info)
        *info = zb__object_info(&object->version);
    return ZB_OK;
}
