/* SPDX-License-Identifier: MIT */
/*
 * Listings of S3, page by page. A page begins behind the last name of the one before: the tokens
 * that servers hand out have bytes that not every libcurl signs as servers do (a plus:
 * zb__s3_can_sign).
 */
#include "s3_list.h"

#include <curl/curl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "fetch.h"
#include "hierarchy/notes.h"
#include "remote.h"
#include "s3.h"
#include "s3_lock.h"
#include "s3_xml.h"

/* A page has 1000 names of 1024 bytes, which XML may write six times as long, and some words on
   each. */
#define MOST_PAGE (16u * 1024u * 1024u)

#define LONGEST_NAME 4096

/* All that S3 sorts before it comes behind a prefix. */
#define LAST_OF_ALL "\xf4\x8f\xbf\xbf"

typedef struct listing {
    const char *prefix; /* of the keys */
    size_t length;
    zb_list_fn fn;
    void *context;
    zb__s3_finds *finds; /* takes the objects in place of fn; or NULL */
    const char *below;   /* with finds: what their keys begin with in the store */
    char *last;          /* the last name of the pages so far: a key or a prefix */
    char *seen;          /* the last one of the pages before this one; NULL: this is the first */
    bool last_is_prefix, is_ended;
    bool is_deep;     /* all keys below the prefix, in place of the names in it */
    bool avoids_plus; /* a plus in a query would be signed wrongly */
    bool hides_tests; /* objects that services were tested with: sweep() tells of them */
} listing;

static enum zb_code keep_last(listing *l, const char *key, bool is_prefix, zb_error *err) {
    if (l->last && strcmp(key, l->last) <= 0)
        return ZB_OK; /* keys come before prefixes in a page */
    char *copy = strdup(key);
    if (!copy)
        return zb_fail(err, ZB_ENOMEM, "no memory for a name");
    free(l->last);
    l->last = copy;
    l->last_is_prefix = is_prefix;
    return ZB_OK;
}

static enum zb_code keep_find(const listing *l, const char *name, const char *etag, zb_error *err) {
    zb__s3_finds *finds = l->finds;
    char *key = NULL, *tag = strdup(etag);
    if (!tag || asprintf(&key, "%s%s%s", l->below, *l->below ? "/" : "", name) < 0 ||
        !zb__list_grow(&finds->found, finds->count, &finds->capacity, sizeof *finds->found)) {
        free(tag);
        free(key);
        return zb_fail(err, ZB_ENOMEM, "no memory for keys");
    }
    finds->found[finds->count++] = (zb__s3_found){.key = key, .etag = tag};
    return ZB_OK;
}

static enum zb_code take(void *context, const zb__s3_entry *found, zb_error *err) {
    listing *l = context;
    const char *key = found->key;
    const bool is_prefix = found->is_prefix;
    char name[LONGEST_NAME + 1];
    if (l->seen && strcmp(key, l->seen) <= 0)
        return ZB_OK; /* the page begins before what it has to begin behind */
    if (strncmp(key, l->prefix, l->length) != 0)
        return zb_fail(err, ZB_EIO, "the server lists names that were not asked for");
    const char *begin = key + l->length;
    size_t length = strlen(begin);
    if (is_prefix && length && begin[length - 1] == '/')
        length--;
    if (length > LONGEST_NAME || (!l->is_deep && memchr(begin, '/', length)))
        return zb_fail(err, ZB_EIO, "the server lists names that were not asked for");
    memcpy(name, begin, length);
    name[length] = '\0';
    const zb_list_entry entry = {.name = name, .is_prefix = is_prefix};
    const bool is_hidden = l->hides_tests && !is_prefix &&
                           strncmp(name, ZB__TEST_OBJECT, strlen(ZB__TEST_OBJECT)) == 0;
    enum zb_code code = ZB_OK;
    if (length && l->finds) /* an object may have the prefix itself as its key */
        code = keep_find(l, name, found->etag, err);
    else if (length && !is_hidden && !l->is_ended)
        l->is_ended = l->fn(l->context, &entry) != 0;
    return code ? code : keep_last(l, key, is_prefix, err);
}

/* A name behind which the next page begins: the last one of the page before, or one that is less
   and can be signed. What stands between them is listed twice. */
static void add_begin(const listing *l, zb__text *text) {
    const char *plus = l->avoids_plus ? strchr(l->last, '+') : NULL;
    char *begin = strndup(l->last, plus ? (size_t)(plus - l->last) : strlen(l->last));
    if (!begin) {
        zb__text_fail(text);
        return;
    }
    zb__text_add(text, "&start-after=");
    zb__url_encode(text, begin, false);
    zb__url_encode(text, plus ? "*" LAST_OF_ALL : l->last_is_prefix ? LAST_OF_ALL : "", false);
    free(begin);
}

static char *query_of(const listing *l) {
    zb__text text = {.data = NULL};
    zb__text_add(&text, l->is_deep ? "list-type=2&prefix=" : "delimiter=%2F&list-type=2&prefix=");
    zb__url_encode(&text, l->prefix, false);
    if (l->last)
        add_begin(l, &text);
    return zb__text_take(&text, NULL);
}

static enum zb_code get_page(zb__remote *store, listing *l, bool *is_truncated, zb_error *err) {
    char *query = query_of(l);
    if (!query)
        return zb_fail(err, ZB_ENOMEM, "no memory for a request");
    zb__request request = {
        .store = store, .method = ZB__GET, .query = query, .span = ZB__ALL, .most = MOST_PAGE};
    free(l->seen);
    l->seen = l->last ? strdup(l->last) : NULL;
    enum zb_code code = l->last && !l->seen ? zb_fail(err, ZB_ENOMEM, "no memory for a name")
                                            : zb__request_wait(&request, err);
    if (!code) {
        code = zb__s3_page_parse(request.buffer, request.got, take, l, is_truncated, err);
        if (!code && *is_truncated && (!l->last || (l->seen && strcmp(l->last, l->seen) == 0)))
            code = zb_fail(err, ZB_EIO, "the server's list of names does not go on");
        if (code)
            zb_error_prefix(err, code, "%s: '%s'", store->base.label, l->prefix);
    }
    free(request.buffer);
    free(query);
    return code;
}

/* Finds out how requests are signed, which credentials tell. */
static enum zb_code check_prefix(zb__remote *store, listing *l, zb_error *err) {
    const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);
    enum zb_code code = store->protocol->prepare(store, err);
    l->avoids_plus = !code && !zb__s3_can_sign(store->state, "+");
    if (code || !l->avoids_plus || !strchr(l->prefix, '+'))
        return code;
    return zb_fail(
        err, ZB_EUNSUPPORTED,
        "%s: names below '%s' cannot be listed: libcurl %s signs no query with a plus as "
        "S3 wants it, 8.19 does (consolidated metadata are read without a listing)",
        store->base.label, l->prefix, curl->version);
}

/* Of all keys that begin so: prefix and end. */
static enum zb_code run_from(zb__remote *store, const char *prefix, const char *end, listing *l,
                             zb_error *err) {
    const zb__s3 *s3 = store->state;
    char *keys = NULL;
    bool goes_on = true;
    if (asprintf(&keys, "%s%s%s", s3->name.prefix, prefix, end) < 0)
        return zb_fail(err, ZB_ENOMEM, "no memory for a name");
    l->prefix = keys;
    l->length = strlen(keys);
    enum zb_code code = check_prefix(store, l, err);
    while (goes_on && !code && !l->is_ended)
        code = get_page(store, l, &goes_on, err);
    free(l->last);
    free(l->seen);
    free(keys);
    return code;
}

static enum zb_code run(zb__remote *store, const char *prefix, listing *l, zb_error *err) {
    return run_from(store, prefix, *prefix ? "/" : "", l, err);
}

enum zb_code zb__s3_list_names(zb__remote *store, const char *begin, zb_list_fn fn, void *context,
                               zb_error *err) {
    listing l = {.fn = fn, .context = context};
    return run_from(store, begin, "", &l, err);
}

enum zb_code zb__s3_list(zb__remote *store, const zb_list *list, zb_list_fn fn, void *context,
                         zb_error *err) {
    listing l = {.fn = fn,
                 .context = context,
                 .is_deep = list->is_recursive,
                 .hides_tests = !list->is_recursive && !*list->prefix};
    return run(store, list->prefix, &l, err);
}

enum zb_code zb__s3_find_below(zb__remote *store, const char *prefix, zb__s3_finds *out,
                               zb_error *err) {
    *out = (zb__s3_finds){.count = 0};
    listing l = {.finds = out, .below = prefix, .is_deep = true};
    return run(store, prefix, &l, err);
}

void zb__s3_finds_free(zb__s3_finds *finds) {
    for (size_t i = 0; i < finds->count; i++) {
        free(finds->found[i].key);
        free(finds->found[i].etag);
    }
    free(finds->found);
}

/* ---- Is there nothing? ---- */

/* Names beside a prefix that begin as it does, and come before it where they go on with a sign
   before the slash: of few of them one page tells. */
#define MOST_BESIDE "8"

typedef struct looking {
    const char *prefix; /* of keys, without a slash at its end */
    size_t length;
    bool is_there; /* a key that is the prefix itself, or begins below it */
    bool is_past;  /* a name that comes behind all that is below it */
} looking;

static enum zb_code look_at(void *context, const zb__s3_entry *found, zb_error *err) {
    looking *l = context;
    const char *key = found->key;
    (void)err;
    const bool begins = strncmp(key, l->prefix, l->length) == 0;
    const unsigned char next = begins ? (unsigned char)key[l->length] : 0;
    l->is_there |= begins && (!next || next == '/');
    l->is_past |= begins && next > '/';
    return ZB_OK;
}

/* False: not known. Where the right to list is missing, nobody is asked again. */
static bool get_first(zb__remote *store, looking *l, const char *end, bool *is_truncated) {
    zb__text text = {.data = NULL};
    zb__text_add(&text, "delimiter=%2F&list-type=2&max-keys=" MOST_BESIDE "&prefix=");
    zb__url_encode(&text, l->prefix, false);
    zb__url_encode(&text, end, false);
    char *query = zb__text_take(&text, NULL);
    zb__request request = {
        .store = store, .method = ZB__GET, .query = query, .span = ZB__ALL, .most = MOST_PAGE};
    enum zb_code code = query ? zb__request_wait(&request, NULL) : ZB_ENOMEM;
    if (code == ZB_EIO && request.reply.status == 403)
        atomic_store(&((zb__s3 *)store->state)->lists, ZB__NO);
    if (!code)
        code = zb__s3_page_parse(request.buffer, request.got, look_at, l, is_truncated, NULL);
    free(request.buffer);
    free(query);
    return !code;
}

static bool is_nothing(zb__remote *store, const char *prefix) {
    looking l = {.prefix = prefix, .length = strlen(prefix)};
    bool is_truncated;
    if (!get_first(store, &l, "", &is_truncated) || l.is_there)
        return false;
    if (!is_truncated || l.is_past)
        return true;
    return get_first(store, &l, "/", &is_truncated) && !l.is_there && !is_truncated;
}

bool zb__s3_is_absent(zb_store *store, const char *prefix) {
    zb__remote *remote = (zb__remote *)store;
    zb__s3 *s3 = remote->state;
    listing l = {.prefix = NULL};
    char *keys = NULL;
    if (atomic_load(&s3->lists) == ZB__NO || asprintf(&keys, "%s%s", s3->name.prefix, prefix) < 0)
        return false;
    l.prefix = keys;
    const bool is_absent = !check_prefix(remote, &l, NULL) && is_nothing(remote, keys);
    free(keys);
    if (is_absent)
        zb__s3_found_none(remote, prefix);
    return is_absent;
}
