/* SPDX-License-Identifier: MIT */
#include "util/thread.h"

#include <signal.h>
#include <stdatomic.h>

int zb__thread_start(pthread_t *out, void *(*run)(void *), void *context) {
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed)
        return failed;
    if (out)
        *out = thread;
    else
        pthread_detach(thread);
    return 0;
}

uint64_t zb__thread_id(void) {
    static atomic_uint_fast64_t last;
    static _Thread_local uint64_t own;
    if (own == 0)
        own = atomic_fetch_add(&last, 1) + 1;
    return own;
}
