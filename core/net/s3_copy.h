/* SPDX-License-Identifier: MIT */
/* Copying objects within a service, which does it itself. */
#ifndef ZB_NET_S3_COPY_H
#define ZB_NET_S3_COPY_H

#include "request.h"

/* As copy() of zb_store_ops. From other stores in S3, too, if they are in the same service; its
   buckets may differ. */
enum zb_code zb__s3_copy(zb_store *store, const char *key, zb_store *from, const char *from_key,
                         zb_error *err);

#endif
