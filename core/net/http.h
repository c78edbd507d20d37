/* SPDX-License-Identifier: MIT */
/* Stores behind plain HTTP: each object at its own URL, below that of the store. */
#ifndef ZB_NET_HTTP_H
#define ZB_NET_HTTP_H

#include "request.h"

/* Sets protocol and state of the store; *label is its name for messages, malloc'ed. */
enum zb_code zb__http_open(const char *name, const zb_store_settings *settings, zb__remote *store,
                           char **label, zb_error *err);

#endif
