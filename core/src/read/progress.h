/* SPDX-License-Identifier: MIT */
/* What the caller of a read hears of it, in its own thread: how far it has come. */
#ifndef ZB_READ_PROGRESS_H
#define ZB_READ_PROGRESS_H

#include <stdint.h>

#include "zarrbridge/read.h"

/* The time between two calls. Nanoseconds. */
#define ZB__PROGRESS_NS 200000000

/* Of one read; NULL stands for a caller that does not listen. */
typedef struct zb__progress {
    zb_progress_fn fn;
    void *context;
    uint64_t total, done; /* elements; those that are done count by whole bundles */
    double told;          /* no caller hears of less than before */
    int64_t next;         /* of the monotonic clock: when it is time to tell */
} zb__progress;

zb__progress zb__progress_begin(zb_progress_fn fn, void *context);

/* True if it is time to tell. The function may take as long as it likes: the next time is counted
   from its end. */
bool zb__progress_is_due(const zb__progress *progress);

/* True in a thread that is in such a function. A read that it makes there must not wait for the
   read that called it. */
bool zb__progress_is_calling(void);

/* Calls the function: `done` elements, and so many more of which a part may be there. ZB_ECANCELLED
   where it wants no more. */
enum zb_code zb__progress_tell(zb__progress *progress, double more, zb_error *err);

/* The same for the end of the read. */
enum zb_code zb__progress_end(zb__progress *progress, zb_error *err);

/* For the waits of the read, as a zb_stop_fn: calls the function when it is time, with what it was
   told last. */
int zb__progress_ask(void *progress);

#endif
