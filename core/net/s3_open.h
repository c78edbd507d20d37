/* SPDX-License-Identifier: MIT */
/* Opening stores in S3, and in services that speak as S3 does. */
#ifndef ZB_NET_S3_OPEN_H
#define ZB_NET_S3_OPEN_H

#include "request.h"

/* Sets protocol and state of the store; *label is its name for messages, malloc'ed. */
enum zb_code zb__s3_open(const char *name, const zb_store_settings *settings, zb__remote *store,
                         char **label, zb_error *err);

#endif
