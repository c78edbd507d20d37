/* SPDX-License-Identifier: MIT */
/* Putting and erasing objects of a store in S3. */
#ifndef ZB_REMOTE_S3_WRITE_H
#define ZB_REMOTE_S3_WRITE_H

#include "request.h"

/* As in zb_store_ops. A put answers when the service has stored the object. */
enum zb_code zb__s3_put(zb_store *store, const zb_put *put, zb_error *err);
enum zb_code zb__s3_erase(zb_store *store, const char *key, zb_error *err);
enum zb_code zb__s3_erase_below(zb_store *store, const char *prefix, zb_error *err);

/* Whether objects may go in parts, which is found out, once for a store, as below. */
bool zb__s3_takes_parts(zb__remote *store);

/* Finds out, once for a store, whether the service keeps to the conditions of puts: another one
   than AWS is asked by puts of an object that is erased again. ZB_EUNSUPPORTED: it does not. */
enum zb_code zb__s3_check_conditions(zb__remote *store, zb_error *err);

#endif
