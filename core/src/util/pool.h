/* SPDX-License-Identifier: MIT */
/*
 * One pool of worker threads per process, started at the first use that pays for it. The caller of
 * zb__pool_run works too, so that a pool of one thread has no workers.
 */
#ifndef ZB_UTIL_POOL_H
#define ZB_UTIL_POOL_H

#include <stddef.h>

#include "util/scratch.h"
#include "zarrbridge/error.h"

/* Runs task number i. Fills *err when it fails. The scratch is the task's alone while it runs. */
typedef enum zb_code (*zb__task_fn)(void *context, size_t i, zb__scratch *scratch, zb_error *err);

/* Runs tasks 0..count-1 in order of start, on at most `width` threads, the caller's included
   (0: as many as zb_limits allows). Returns the first error by time; tasks not begun by then are
   not run. Tasks must not call zb__pool_run. Safe from any number of threads at once. */
enum zb_code zb__pool_run(zb__task_fn fn, void *context, size_t count, size_t width, zb_error *err);

/* The same for work that comes bit by bit: fn is called by workers alone, once for each that was
   called and came, with number 0. It returns when it finds nothing to do, and ZB_OK. zb__pool_call
   returns at once; workers that are busy elsewhere come late or never. zb__pool_close waits for
   those inside, and then none comes any more (NULL is allowed). zb__pool_open gives NULL when
   memory runs out. Of a pool of one thread nobody comes. */
typedef struct zb__pool_job zb__pool_job;
zb__pool_job *zb__pool_open(zb__task_fn fn, void *context);
void zb__pool_call(zb__pool_job *open, size_t helpers);
void zb__pool_close(zb__pool_job *open);

/* Threads that a run may use. */
size_t zb__pool_width(void);

#endif
