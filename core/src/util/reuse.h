/* SPDX-License-Identifier: MIT */
/*
 * Large buffers that have been used, for the next ones: the system clears each page that it hands
 * out, which takes the thread that fills a buffer from the network longer than the filling does.
 * What is kept is bounded, the oldest goes first.
 */
#ifndef ZB_UTIL_REUSE_H
#define ZB_UTIL_REUSE_H

#include <stddef.h>
#include <stdint.h>

/* A buffer of at least `size` bytes, of any content: for zb__reuse_give, or free(). NULL when
   memory runs out. Any thread. */
void *zb__reuse_take(size_t size);

/* Gives up a buffer: of zb__reuse_take, or any other that free() takes. NULL is allowed. */
void zb__reuse_give(void *buffer);

/* The bytes that are kept. */
uint64_t zb__reuse_kept(void);

/* Frees what is kept. */
void zb__reuse_clear(void);

#endif
