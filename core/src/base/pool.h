/* SPDX-License-Identifier: MIT */
/*
 * One pool of worker threads per process, started at the first use that pays for it. The caller of
 * zb__pool_run works too, so that a pool of one thread has no workers.
 */
#ifndef ZB_BASE_POOL_H
#define ZB_BASE_POOL_H

#include <stddef.h>

#include "base/scratch.h"
#include "zarrbridge/error.h"

/* Runs task number i. Fills *err when it fails. The scratch is the task's alone while it runs. */
typedef enum zb_code (*zb__task_fn)(void *context, size_t i, zb__scratch *scratch, zb_error *err);

/* Runs tasks 0..count-1 in order of start, on at most `width` threads, the caller's included
   (0: as many as zb_limits allows). Returns the first error by time; tasks not begun by then are
   not run. Tasks must not call zb__pool_run. Safe from any number of threads at once. */
enum zb_code zb__pool_run(zb__task_fn fn, void *context, size_t count, size_t width, zb_error *err);

/* Threads that a run may use. */
size_t zb__pool_width(void);

#endif
