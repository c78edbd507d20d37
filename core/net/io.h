/* SPDX-License-Identifier: MIT */
/*
 * The engine: one thread of the process, which drives the requests of all remote stores. It is the
 * only source that knows libcurl's handles.
 *
 * A child of fork() has none of its parent's requests, and starts a thread of its own. What the
 * parent had open stays untouched in the child.
 */
#ifndef ZB_NET_IO_H
#define ZB_NET_IO_H

#include "request.h"

/* Enters a store into the engine's list, takes it out; nothing of it may be under way then. */
enum zb_code zb__io_enter(zb__remote *store, zb_error *err);
void zb__io_leave(zb__remote *store);

/* Begins the requests of a list (by `next`), all of one store, in their order. An error: none was
   begun. */
enum zb_code zb__io_submit(zb__request *list, zb_error *err);

/* Lets the body of a request that is_held go on to its end. It may be done already, by an error. */
void zb__io_release(zb__request *request);

/* Ends all requests of the store and the group: when it returns, each has been given to `done`. Not
   for `done` itself. */
void zb__io_cancel(zb__remote *store, const void *group);

#endif
