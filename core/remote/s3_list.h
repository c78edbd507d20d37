/* SPDX-License-Identifier: MIT */
/* Names in a store in S3. */
#ifndef ZB_REMOTE_S3_LIST_H
#define ZB_REMOTE_S3_LIST_H

#include "request.h"

/* As list() of zb__protocol. */
enum zb_code zb__s3_list(zb__remote *store, const zb_list *list, zb_list_fn fn, void *context,
                         zb_error *err);

/* The objects at the store's root whose names begin so, and prefixes: what follows in their names
   is told. */
enum zb_code zb__s3_list_names(zb__remote *store, const char *begin, zb_list_fn fn, void *context,
                               zb_error *err);

/* An object below a prefix. */
typedef struct zb__s3_found {
    char *key;
    char *etag; /* that it had then; "" where the listing does not tell */
} zb__s3_found;

typedef struct zb__s3_finds {
    zb__s3_found *found;
    size_t count, capacity;
} zb__s3_finds;

/* All objects below a prefix, in the versions that are there. The caller frees them, after an
   error, too. */
enum zb_code zb__s3_find_below(zb__remote *store, const char *prefix, zb__s3_finds *out,
                               zb_error *err);
void zb__s3_finds_free(zb__s3_finds *finds);

/* The answer to ZB_ASK_NOTHING, by one request, or two where many names beside the prefix begin in
   the same way. */
bool zb__s3_is_absent(zb_store *store, const char *prefix);

#endif
