/* SPDX-License-Identifier: MIT */
/*
 * Listings of S3, page by page. A page begins behind the last name of the one before: the tokens
 * that servers hand out have bytes that not every libcurl signs as servers do (a plus:
 * zb__s3_can_sign).
 */
#include "s3_list.h"

#include <curl/curl.h>
#include <stdatomic.h>
#include <string.h>

#include "hierarchy/markers.h"
#include "remote.h"
#include "s3.h"

/* A page has 1000 names of 1024 bytes, which XML may write six times as long, and some words on
   each. */
#define MOST_PAGE (16u * 1024u * 1024u)

/* All that S3 sorts before it comes behind a prefix. */
#define LAST_OF_ALL "\xf4\x8f\xbf\xbf"

typedef struct listing {
    zb__listing base; /* its marker is the last name of the pages so far: a key or a prefix */
    bool last_is_prefix;
    bool avoids_plus; /* a plus in a query would be signed wrongly */
} listing;

static enum zb_code take(void *context, const zb__entry *found, zb_error *err) {
    listing *l = context;
    if (*l->base.before && strcmp(found->key, l->base.before) <= 0)
        return ZB_OK; /* the page begins before what it has to begin behind */
    const enum zb_code code = zb__listing_take(&l->base, found, err);
    if (code || strcmp(found->key, l->base.marker) <= 0)
        return code; /* keys come before prefixes in a page */
    strcpy(l->base.marker, found->key);
    l->last_is_prefix = found->is_prefix;
    return ZB_OK;
}

/* A name behind which the next page begins: the last one of the page before, or one that is less
   and can be signed. What stands between them is listed twice. */
static void add_begin(const listing *l, zb__text *text) {
    char begin[ZB__MARKER];
    strcpy(begin, l->base.marker);
    char *plus = l->avoids_plus ? strchr(begin, '+') : NULL;
    if (plus)
        *plus = '\0';
    zb__text_add(text, "&start-after=");
    zb__url_encode(text, begin, false);
    zb__url_encode(text, plus ? "*" LAST_OF_ALL : l->last_is_prefix ? LAST_OF_ALL : "", false);
}

static char *query_of(const zb__listing *l, const char *end, unsigned most) {
    zb__text text = {.data = NULL};
    zb__text_add(&text, l->is_deep ? "list-type=2" : "delimiter=%2F&list-type=2");
    if (most)
        zb__text_addf(&text, "&max-keys=%u", most);
    zb__text_add(&text, "&prefix=");
    zb__url_encode(&text, l->prefix, false);
    zb__url_encode(&text, end, false);
    if (*l->marker)
        add_begin((const listing *)l, &text);
    return zb__text_take(&text, NULL);
}

/* Finds out how requests are signed, which credentials tell. */
static enum zb_code check_prefix(zb__listing *l, zb_error *err) {
    const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);
    enum zb_code code = l->store->protocol->prepare(l->store, err);
    const bool avoids_plus = !code && !zb__s3_can_sign(l->store->state, "+");
    ((listing *)l)->avoids_plus = avoids_plus;
    if (code || !avoids_plus || !strchr(l->prefix, '+'))
        return code;
    return zb_fail(
        err, ZB_EUNSUPPORTED,
        "%s: names below '%s' cannot be listed: libcurl %s signs no query with a plus as "
        "S3 wants it, 8.19 does (consolidated metadata are read without a listing)",
        l->store->base.label, l->prefix, curl->version);
}

static const zb__pages pages = {.words = &zb__page_of_s3,
                                .most = MOST_PAGE,
                                .query = query_of,
                                .begin = check_prefix,
                                .take = take};

static const char *root_of(const zb__remote *store) {
    return ((const zb__s3 *)store->state)->name.prefix;
}

enum zb_code zb__s3_list_names(zb__remote *store, const char *begin, zb_list_fn fn, void *context,
                               zb_error *err) {
    listing l = {.base = {.store = store, .pages = &pages, .fn = fn, .context = context}};
    return zb__listing_run(&l.base, root_of(store), begin, "", err);
}

/* What services were tested with is told by sweep(). */
enum zb_code zb__s3_list(zb__remote *store, const zb_list *list, zb_list_fn fn, void *context,
                         zb_error *err) {
    listing l = {.base = {.store = store,
                          .pages = &pages,
                          .is_deep = list->is_recursive,
                          .fn = fn,
                          .context = context,
                          .hidden = list->is_recursive || *list->prefix ? NULL : ZB__TEST_OBJECT}};
    return zb__listing_run(&l.base, root_of(store), list->prefix, *list->prefix ? "/" : "", err);
}

enum zb_code zb__s3_find_below(zb__remote *store, const char *prefix, zb__finds *finds,
                               zb_error *err) {
    listing l = {.base = {.store = store, .pages = &pages, .is_deep = true, .finds = finds}};
    return zb__listing_run(&l.base, root_of(store), prefix, *prefix ? "/" : "", err);
}

/* Where the right to list is missing, nobody is asked again. */
bool zb__s3_is_absent(zb__remote *store, const char *prefix) {
    zb__s3 *s3 = store->state;
    listing l = {.base = {.store = store, .pages = &pages}};
    if (atomic_load(&s3->lists) == ZB__NO)
        return false;
    const bool is_absent = zb__listing_is_empty(&l.base, root_of(store), prefix);
    if (l.base.status == 403)
        atomic_store(&s3->lists, ZB__NO);
    return is_absent;
}
