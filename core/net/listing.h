/* SPDX-License-Identifier: MIT */
/* What services of buckets have in common when they list names. */
#ifndef ZB_NET_LISTING_H
#define ZB_NET_LISTING_H

#include <stddef.h>

#include "request.h"
#include "xml.h"

/* An object below a prefix. */
typedef struct zb__found {
    char *key;
    char *etag; /* that it had then; "" where the listing does not tell */
} zb__found;

typedef struct zb__finds {
    zb__found *found;
    size_t count, capacity;
} zb__finds;

void zb__finds_free(zb__finds *finds);

/* How a service lists keys. */
typedef struct zb__listing zb__listing;
typedef struct zb__pages {
    const zb__page_words *words;
    size_t most; /* bytes of a page */
    /* The query of the next page, malloc'ed; NULL: no memory. end: behind the prefix; most: names
       in the page, 0: as many as the service likes. */
    char *(*query)(const zb__listing *listing, const char *end, unsigned most);
    /* Called before the first one, with the prefix. NULL: nothing to do. */
    enum zb_code (*begin)(zb__listing *listing, zb_error *err);
    zb__entry_fn take; /* of a zb__listing: zb__listing_take, and more */
} zb__pages;

struct zb__listing {
    zb__remote *store;
    const zb__pages *pages;
    bool is_deep; /* all keys below the prefix, in place of the names in it */
    zb_list_fn fn;
    void *context;
    zb__finds *finds;   /* takes the objects in place of fn; or NULL */
    const char *hidden; /* objects whose names begin so are not told to fn; or NULL */
    /* Set by zb__listing_run and its like: */
    const char *prefix; /* of the keys; and what they begin with in the store */
    const char *below;
    bool is_ended;
    char marker[ZB__MARKER]; /* where the next page begins, in the service's words; "" at first */
    char before[ZB__MARKER]; /* where this page began */
    int status;              /* HTTP's, of the last page */
};

/* Lists the keys that begin with these three, page by page. Pages may be empty. */
enum zb_code zb__listing_run(zb__listing *listing, const char *root, const char *prefix,
                             const char *end, zb_error *err);

/* Takes one that a page tells, but the prefix itself. ZB_EIO: it was not asked for, which is a key
   below another prefix, or where the listing is not deep, one with a slash. */
enum zb_code zb__listing_take(void *listing, const zb__entry *found, zb_error *err);

/* Whether there is surely nothing at a prefix, nor below it. One request tells, or two where many
   names beside the prefix begin in the same way. */
bool zb__listing_is_empty(zb__listing *listing, const char *root, const char *prefix);

#endif
