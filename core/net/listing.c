/* SPDX-License-Identifier: MIT */
#include "listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fetch.h"
#include "remote.h"
#include "util/list.h"

void zb__finds_free(zb__finds *finds) {
    for (size_t i = 0; i < finds->count; i++) {
        free(finds->found[i].key);
        free(finds->found[i].etag);
    }
    free(finds->found);
}

/* ---- Names ---- */

/* What a listed key has behind the prefix, without the slash of a prefix at its end. */
static enum zb_code name_of(const zb__listing *l, const zb__entry *entry, char name[ZB__MARKER],
                            zb_error *err) {
    const size_t begins = strlen(l->prefix);
    const char *key = strncmp(entry->key, l->prefix, begins) == 0 ? entry->key + begins : NULL;
    size_t length = key ? strlen(key) : 0;
    if (entry->is_prefix && length && key[length - 1] == '/')
        length--;
    if (!key || length >= ZB__MARKER || (!l->is_deep && memchr(key, '/', length)))
        return zb_fail(err, ZB_EIO, "the server lists names that were not asked for");
    memcpy(name, key, length);
    name[length] = '\0';
    return ZB_OK;
}

/* The key is `name` below what is listed. */
static enum zb_code add_find(const zb__listing *l, const char *name, const char *etag,
                             zb_error *err) {
    zb__finds *finds = l->finds;
    char *key = NULL, *tag = strdup(etag);
    if (!tag || asprintf(&key, "%s%s%s", l->below, *l->below ? "/" : "", name) < 0 ||
        !zb__list_grow(&finds->found, finds->count, &finds->capacity, sizeof *finds->found)) {
        free(tag);
        free(key);
        return zb_fail(err, ZB_ENOMEM, "no memory for keys");
    }
    finds->found[finds->count++] = (zb__found){.key = key, .etag = tag};
    return ZB_OK;
}

enum zb_code zb__listing_take(void *listing, const zb__entry *found, zb_error *err) {
    zb__listing *l = listing;
    char name[ZB__MARKER];
    const enum zb_code code = name_of(l, found, name, err);
    if (code || !*name)
        return code;
    if (l->finds)
        return add_find(l, name, found->etag, err);
    const zb_list_entry entry = {.name = name, .is_prefix = found->is_prefix};
    const bool is_hidden =
        l->hidden && !found->is_prefix && strncmp(name, l->hidden, strlen(l->hidden)) == 0;
    if (!is_hidden && !l->is_ended)
        l->is_ended = l->fn(l->context, &entry) != 0;
    return ZB_OK;
}

/* ---- Pages ---- */

/* The query is freed; NULL: there was no memory for it. */
static enum zb_code get_page(zb__listing *l, char *query, zb__entry_fn fn, void *context,
                             bool *goes_on, zb_error *err) {
    if (!query)
        return zb_fail(err, ZB_ENOMEM, "no memory for a request");
    zb__request request = {.store = l->store,
                           .method = ZB__GET,
                           .query = query,
                           .span = ZB__ALL,
                           .most = l->pages->most};
    memcpy(l->before, l->marker, sizeof l->before);
    enum zb_code code = zb__request_wait(&request, err);
    l->status = request.reply.status;
    if (!code) {
        code = zb__page_parse(l->pages->words, request.buffer, request.got, fn, context, l->marker,
                              goes_on, err);
        if (code)
            zb_error_prefix(err, code, "%s: '%s'", l->store->base.label, l->prefix);
    }
    free(request.buffer);
    free(query);
    return code;
}

/* Sets the prefix; *keys is to be freed. */
static enum zb_code begin(zb__listing *l, char **keys, const char *root, const char *prefix,
                          const char *end, zb_error *err) {
    *keys = NULL;
    if (asprintf(keys, "%s%s%s", root, prefix, end) < 0) {
        *keys = NULL;
        return zb_fail(err, ZB_ENOMEM, "no memory for a name");
    }
    l->prefix = *keys;
    l->below = prefix;
    return l->pages->begin ? l->pages->begin(l, err) : ZB_OK;
}

enum zb_code zb__listing_run(zb__listing *l, const char *root, const char *prefix, const char *end,
                             zb_error *err) {
    char *keys;
    bool goes_on = true;
    enum zb_code code = begin(l, &keys, root, prefix, end, err);
    while (goes_on && !code && !l->is_ended) {
        code = get_page(l, l->pages->query(l, "", 0), l->pages->take, l, &goes_on, err);
        if (!code && goes_on && strcmp(l->marker, l->before) == 0)
            code = zb_fail(err, ZB_EIO, "%s: '%s': the server's list of names does not go on",
                           l->store->base.label, l->prefix);
    }
    free(keys);
    return code;
}

/* ---- Is there nothing? ---- */

/* Names beside a prefix that begin as it does, and come before it where they go on with a sign
   before the slash: of few of them one page tells. */
#define MOST_BESIDE 8u

typedef struct looking {
    const char *prefix; /* of keys, without a slash at its end */
    size_t length;
    bool is_there; /* a key that is the prefix itself, or begins below it */
    bool is_past;  /* a name that comes behind all that is below it */
} looking;

static enum zb_code look_at(void *context, const zb__entry *found, zb_error *err) {
    looking *l = context;
    const char *key = found->key;
    (void)err;
    const bool begins = strncmp(key, l->prefix, l->length) == 0;
    const unsigned char next = begins ? (unsigned char)key[l->length] : 0;
    l->is_there |= begins && (!next || next == '/');
    l->is_past |= begins && next > '/';
    return ZB_OK;
}

static bool is_nothing(zb__listing *l) {
    looking look = {.prefix = l->prefix, .length = strlen(l->prefix)};
    bool goes_on;
    char *query = l->pages->query(l, "", MOST_BESIDE);
    if (get_page(l, query, look_at, &look, &goes_on, NULL) || look.is_there)
        return false;
    if (!goes_on || look.is_past)
        return true;
    l->marker[0] = '\0';
    query = l->pages->query(l, "/", MOST_BESIDE);
    return !get_page(l, query, look_at, &look, &goes_on, NULL) && !look.is_there && !goes_on;
}

bool zb__listing_is_empty(zb__listing *l, const char *root, const char *prefix) {
    char *keys;
    const bool is_empty = !begin(l, &keys, root, prefix, "", NULL) && is_nothing(l);
    free(keys);
    return is_empty;
}
