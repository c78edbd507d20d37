/* SPDX-License-Identifier: MIT */
/* Names in a store in S3. */
#ifndef ZB_NET_S3_LIST_H
#define ZB_NET_S3_LIST_H

#include "conditional.h"

/* As list() of zb__protocol. */
enum zb_code zb__s3_list(zb__remote *store, const zb_list *list, zb_list_fn fn, void *context,
                         zb_error *err);

/* The objects at the store's root whose names begin so, and prefixes: what follows in their names
   is told. */
enum zb_code zb__s3_list_names(zb__remote *store, const char *begin, zb_list_fn fn, void *context,
                               zb_error *err);

/* As in zb__service. That there is nothing is told by one request, or two where many names beside
   the prefix begin in the same way. */
enum zb_code zb__s3_find_below(zb__remote *store, const char *prefix, zb__finds *finds,
                               zb_error *err);
bool zb__s3_is_absent(zb__remote *store, const char *prefix);

#endif
