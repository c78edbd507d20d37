/* SPDX-License-Identifier: MIT */
#include "s3_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "fetch.h"
#include "remote.h"
#include "s3_ability.h"
#include "s3_list.h"
#include "s3_lock.h"
#include "s3_parts.h"
#include "s3_send.h"

#define MOST_REPLY 65536
#define ERASED_AT_ONCE 256

/* ---- Puts ---- */

static enum zb_code measure(const zb_put *put, zb__s3_sending *s, zb_error *err) {
    *s = (zb__s3_sending){.store = s->store, .put = put};
    for (size_t i = 0; i < put->count; i++) {
        if (__builtin_add_overflow(s->size, put->parts[i].size, &s->size))
            return zb_fail(err, ZB_ELIMIT, "%s/%s: too many bytes", s->store->base.label, put->key);
    }
    s->in_parts = zb__s3_pays_in_parts(s->size) && zb__s3_takes_parts(s->store);
    if (s->size <= (s->in_parts ? ZB__S3_MOST_IN_PARTS : ZB__S3_MOST_AT_ONCE))
        return ZB_OK;
    return zb_fail(err, ZB_ELIMIT,
                   "%s/%s: an object is put with at most %s here: choose smaller chunks or shards",
                   s->store->base.label, s->put->key, s->in_parts ? "5 TiB" : "5 GiB");
}

enum zb_code zb__s3_put(zb_store *store, const zb_put *put, zb_error *err) {
    if (put->expected != ZB_EXPECT_ANYTHING)
        return ZB_EUNSUPPORTED;
    zb__s3_sending s = {.store = (zb__remote *)store};
    enum zb_code code = measure(put, &s, err);
    if (!code && !zb__s3_is_checked_on_the_way(&s))
        code = zb_put_check(put, err);
    if (!code) {
        s.seen = zb__s3_seen(s.store, put->key, &s.version);
        code = zb__s3_send(&s, err);
    }
    s.version.size = s.size;
    if (!code)
        zb__s3_replaced(s.store, put->key, &s.version);
    else if (code == ZB_ECONFLICT && !s.is_refused && zb__key_is_document(put->key))
        zb__s3_refused(s.store, put->key);
    return code;
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

static enum zb_code erase_key(zb__remote *store, const char *key, zb_error *err) {
    char *name = strdup(key);
    if (!name)
        return zb_fail(err, ZB_ENOMEM, "no memory for a key");
    enum zb_code code = erase_keys(store, &name, 1, err);
    free(name);
    return code;
}

/* Only the newest services keep to conditions of a DELETE, and the others carry it out: what was
   read is not erased. Where nothing was read (a whole chunk is written) there is no condition, as
   with puts. */
static enum zb_code erase_object(zb__remote *remote, const zb_erase *erase, zb_error *err) {
    zb__version version;
    enum zb_code code = zb_erase_check(erase, err);
    const enum zb__seen seen = erase->expected == ZB_EXPECT_AS_READ && !code
                                   ? zb__s3_seen(remote, erase->key, &version)
                                   : ZB__UNSEEN;
    if (code || seen == ZB__ABSENT)
        return code;
    return seen == ZB__PRESENT ? ZB_EUNSUPPORTED : erase_key(remote, erase->key, err);
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
    const zb_list all = {.prefix = prefix, .is_recursive = true};
    enum zb_code code = zb__s3_list(store, &all, take, &k, err);
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
static enum zb_code erase_below(zb__remote *store, const char *prefix, zb_error *err) {
    char *document;
    if (asprintf(&document, "%s%szarr.json", prefix, *prefix ? "/" : "") < 0)
        return zb_fail(err, ZB_ENOMEM, "no memory for a key");
    enum zb_code code = erase_key(store, document, err);
    free(document);
    return code ? code : erase_tree(store, prefix, err);
}

enum zb_code zb__s3_erase(zb_store *store, const zb_erase *erase, zb_error *err) {
    zb__remote *remote = (zb__remote *)store;
    return erase->is_recursive ? erase_below(remote, erase->key, err)
                               : erase_object(remote, erase, err);
}
