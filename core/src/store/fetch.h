/* SPDX-License-Identifier: MIT */
/* One request, while its caller waits. */
#ifndef ZB_STORE_FETCH_H
#define ZB_STORE_FETCH_H

#include "zarrbridge/sys/store.h"

/* ---- Several requests side by side, whose caller waits for all of them. */

/* Submits a list of `count` requests to a store that takes them, and returns when all have been
   answered; each has its own code. An error: none was begun. Where the thread is not to wait
   (zb_thread_may_stop), those without an answer are taken back and have ZB_ECANCELLED. */
enum zb_code zb__fetch_all(zb_store *store, zb_fetch *list, size_t count, zb_error *err);

#endif
