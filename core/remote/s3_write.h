/* SPDX-License-Identifier: MIT */
/* Putting objects of a store in S3, with what the holder of a lock knows of them. */
#ifndef ZB_REMOTE_S3_WRITE_H
#define ZB_REMOTE_S3_WRITE_H

#include "request.h"

/* As in zb_store_ops. A put answers when the service has stored the object. */
enum zb_code zb__s3_put(zb_store *store, const zb_put *put, zb_error *err);

#endif
