/* SPDX-License-Identifier: MIT */
/*
 * Threads that put encoded chunks into a store on the network. A put waits for the network for most
 * of its time; the threads that encode go on meanwhile, of which there are no more than cores.
 */
#ifndef ZB_WRITE_SENDERS_H
#define ZB_WRITE_SENDERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"
#include "zarrbridge/sys/store.h"

typedef struct zb__senders zb__senders;

/* The number of threads for chunks of that many bytes: those of some MiB together keep a link busy.
   0 for a store whose puts wait for nothing. */
size_t zb__sender_count(const zb_store *store, uint64_t bytes);

/* fn is called with the number of each item that was given, in one of `count` threads, which start
   as they are needed. NULL when count is 0, or memory runs out. */
zb__senders *zb__senders_open(zb__task_fn fn, void *context, size_t count);

/* Waits while as many items are under way as there may be threads. After a failure it returns that;
   then fn is not called for this item any more. Any thread. */
enum zb_code zb__senders_give(zb__senders *senders, size_t item, zb_error *err);

/* Waits for all items, and returns the first failure. NULL is allowed. */
enum zb_code zb__senders_close(zb__senders *senders, zb_error *err);

#endif
