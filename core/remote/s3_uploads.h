/* SPDX-License-Identifier: MIT */
/*
 * Uploads in parts that killed writers have left: they are not to be seen, and cost their bytes.
 *
 * Source: the S3 API reference, ListMultipartUploads, AbortMultipartUpload.
 */
#ifndef ZB_REMOTE_S3_UPLOADS_H
#define ZB_REMOTE_S3_UPLOADS_H

#include "request.h"

/* As in zb_store_ops. Uploads below the store that have begun more than a day ago are left-overs;
   none is known where the service does not list them, or not for everyone. */
enum zb_code zb__s3_sweep(zb_store *store, const char *prefix, bool remove, zb_list_fn fn,
                          void *context, zb_error *err);

#endif
