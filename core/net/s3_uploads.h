/* SPDX-License-Identifier: MIT */
/*
 * What killed writers have left: uploads in parts, which are not to be seen and cost their bytes,
 * and objects that services were tested with (s3_ability.h).
 *
 * Source: the S3 API reference, ListMultipartUploads, AbortMultipartUpload.
 */
#ifndef ZB_NET_S3_UPLOADS_H
#define ZB_NET_S3_UPLOADS_H

#include "request.h"

/* As in zb_store_ops. Uploads below the store that have begun more than a day ago are left-overs,
   and test objects of that age; of uploads none is known where the service does not list them, or
   not for everyone. */
enum zb_code zb__s3_sweep(zb_store *store, const char *prefix, enum zb_sweep what, zb_list_fn fn,
                          void *context, zb_error *err);

#endif
