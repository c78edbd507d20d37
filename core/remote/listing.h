/* SPDX-License-Identifier: MIT */
/* What services of buckets have in common when they list names. */
#ifndef ZB_REMOTE_LISTING_H
#define ZB_REMOTE_LISTING_H

#include <stddef.h>

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

/* The texts are copied, the key is `name` below `below`. ZB_ENOMEM. */
enum zb_code zb__finds_add(zb__finds *finds, const char *below, const char *name, const char *etag,
                           zb_error *err);
void zb__finds_free(zb__finds *finds);

/* Room for a name. */
#define ZB__LISTED_NAME 4097

/* What a listed key has behind the prefix, without the slash of a prefix at its end; "" for the
   prefix itself. ZB_EIO: it was not asked for, which is a key below another prefix, or where
   listings are not deep, one with a slash. */
enum zb_code zb__listed_name(const zb__entry *entry, const char *prefix, bool is_deep,
                             char name[ZB__LISTED_NAME], zb_error *err);

/* Names beside a prefix that begin as it does, and come before it where they go on with a sign
   before the slash: of few of them one page tells. */
#define ZB__MOST_BESIDE 8u

/* Whether there is something at a prefix, by names that begin as it does. */
typedef struct zb__looking {
    const char *prefix; /* of keys, without a slash at its end */
    size_t length;
    bool is_there; /* a key that is the prefix itself, or begins below it */
    bool is_past;  /* a name that comes behind all that is below it */
} zb__looking;

/* As zb__entry_fn, of a zb__looking. */
enum zb_code zb__look_at(void *looking, const zb__entry *found, zb_error *err);

#endif
