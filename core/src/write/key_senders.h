/* SPDX-License-Identifier: MIT */
/* Senders whose items are keys of objects: work on many objects of a store on the network at
   once. */
#ifndef ZB_WRITE_KEY_SENDERS_H
#define ZB_WRITE_KEY_SENDERS_H

#include <stddef.h>

#include "node/walk.h"

typedef struct zb__key_senders zb__key_senders;

/* fn is called for each key that was given, in one of `count` threads, which start as they are
   needed. NULL when count is 0, or memory runs out. */
zb__key_senders *zb__key_senders_open(zb__key_fn fn, void *context, size_t count);

/* As zb__senders_give. Any thread. */
enum zb_code zb__key_senders_give(zb__key_senders *senders, const char *key, zb_error *err);

/* Waits for all keys, and returns the first failure. NULL is allowed. */
enum zb_code zb__key_senders_close(zb__key_senders *senders, zb_error *err);

#endif
