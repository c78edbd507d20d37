/* SPDX-License-Identifier: MIT */
/* One request, while its caller waits. */
#ifndef ZB_STORE_BY_THREADS_H
#define ZB_STORE_BY_THREADS_H

#include "zarrbridge/sys/store.h"

/* Answers a request by at_once(), if there is one, or by the store's open() and read(), and returns
   the code, which the caller sets in it. */
enum zb_code zb__fetch_serve(zb_store *store, zb_fetch_serve_fn at_once, zb_fetch *fetch);

#endif
