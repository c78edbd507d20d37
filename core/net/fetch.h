/* SPDX-License-Identifier: MIT */
/* The requests of the store interface (zb_fetch) as requests of the engine. */
#ifndef ZB_NET_FETCH_H
#define ZB_NET_FETCH_H

#include "request.h"

/* As submit() and cancel() of zb_store_ops. */
enum zb_code zb__fetch_submit(zb_store *store, zb_fetch *list, zb_fetch_fn done, void *context,
                              zb_error *err);
void zb__fetch_cancel(zb_store *store, void *context);

/* Submits and waits. What each fetch has come to is in its code; an error: none was begun. */
enum zb_code zb__fetch_wait(zb_store *store, zb_fetch *list, zb_error *err);

/* One fetch of that kind: its own error, too. */
enum zb_code zb__fetch_one(zb_store *store, zb_fetch *fetch, zb_error *err);

/* As probe() of zb_store_ops: what a request for an object tells of it. */
enum zb_code zb__fetch_probe(zb_store *store, zb_probe *probe, zb_error *err);

/* Sends one request that a protocol has made, and waits for its answer. */
enum zb_code zb__request_wait(zb__request *request, zb_error *err);

/* The same for a put: the store is asked meanwhile whether the object may be put (zb_batch_check).
   The end of its body is held back until the answer is there; where that is an error, which is
   returned with *is_refused, the request ends without it. The body is longer than ZB__HELD_BACK. */
enum zb_code zb__request_wait_checked(zb__request *request, const zb_put *put, bool *is_refused,
                                      zb_error *err);

/* Sends one request, and does not wait: its `done` is called unless this is an error. */
enum zb_code zb__request_send(zb__request *request, zb_error *err);

/* The same as zb__request_wait for several of one store, at least one, side by side. What each has
   come to is in its code; an error: none was begun. */
enum zb_code zb__requests_wait(zb__request *requests, size_t count, zb_error *err);

/* Is the key that of a document? Those come whole, since that is all that is done with them. */
bool zb__key_is_document(const char *key);

#endif
