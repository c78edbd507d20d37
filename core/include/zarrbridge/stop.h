/* SPDX-License-Identifier: MIT */
/*
 * Ending the waits of a thread: for programs whose user may lose patience, and whose signal handler
 * can only note that.
 *
 * A call waits where a server has not answered yet, or where another writer holds a lock. While it
 * does, it asks a function of the calling thread, every 200 ms, whether to go on; where that says
 * no, the call ends with ZB_ECANCELLED. Requests of that thread alone are taken back; those that
 * other threads wait for go on for them, and no answer is remembered that has not come.
 *
 * What has been begun is done to its end: from the first change of a store on, and from the
 * beginning of a flush or close, the function is no longer asked. And where it has said no, no
 * change is begun any more.
 */
#ifndef ZARRBRIDGE_STOP_H
#define ZARRBRIDGE_STOP_H

#include "zarrbridge/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns 0 to go on waiting. Called at the first wait, before it begins, and every 200 ms; with no
   lock of the library held. Threads that the core lets wait for the caller may call it at the same
   time. Having said no, it is not asked again. */
typedef int (*zb_stop_fn)(void *context);

typedef struct zb_stop {
    zb_stop_fn fn; /* NULL: waits are not ended */
    void *context;
} zb_stop;

/* Sets what the waits of the calling thread ask from now on. Returns what they have asked before:
   nothing where a change has been begun since. During zb_array_read_with the function of that read
   takes its place. */
ZB_API zb_stop zb_thread_may_stop(zb_stop stop);

#ifdef __cplusplus
}
#endif

#endif
