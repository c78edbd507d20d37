/* SPDX-License-Identifier: MIT */
#include "data/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { UNASKED, ASKING, WATCHES, SHARES, /* the watch of a call around it */ PASSES };

/* Written before our handler is set, and not while it is: by whoever has `is_watched`. */
static struct sigaction program;
static atomic_bool is_watched;
static atomic_uint interrupts; /* that have come while our handler was set */

static _Thread_local vol_interrupt *innermost; /* call of this thread */

static void on_interrupt(int number, siginfo_t *info, void *context) {
    const int saved = errno;
    atomic_fetch_add(&interrupts, 1);
    if (program.sa_flags & SA_SIGINFO)
        program.sa_sigaction(number, info, context);
    else
        program.sa_handler(number);
    errno = saved;
}

static bool is_ours(const struct sigaction *action) {
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == on_interrupt;
}

/* The two members are one union, so that SIG_DFL and SIG_IGN are found in either. */
static bool is_handler(const struct sigaction *action) {
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN &&
           !(action->sa_flags & (int)SA_RESETHAND);
}

static bool is_same(const struct sigaction *a, const struct sigaction *b) {
    return a->sa_handler == b->sa_handler && a->sa_flags == b->sa_flags;
}

static bool is_allowed(void) {
    const char *text = getenv("ZARRBRIDGE_INTERRUPT");
    return !text || strcmp(text, "no") != 0;
}

/* Another thread may set a handler between the two calls: that one stays. */
static bool set_handler(void) {
    struct sigaction now, replaced;
    if (sigaction(SIGINT, NULL, &now) != 0)
        return false;
    if (is_ours(&now))
        return true; /* somebody has kept it and set it again */
    if (!is_handler(&now))
        return false;
    if (!is_same(&program, &now)) /* our handler may still run in a thread */
        program = now;
    struct sigaction ours = now;
    ours.sa_flags |= SA_SIGINFO;
    ours.sa_sigaction = on_interrupt;
    if (sigaction(SIGINT, &ours, &replaced) != 0)
        return false;
    if (is_same(&replaced, &now))
        return true;
    sigaction(SIGINT, &replaced, NULL);
    return false;
}

static bool is_watching(const vol_interrupt *call) {
    const int state = call ? atomic_load(&call->state) : PASSES;
    return state == WATCHES || state == SHARES;
}

static int begin_watch(const vol_interrupt *call) {
    for (const vol_interrupt *at = call->around; at; at = at->around) {
        if (is_watching(at))
            return SHARES;
    }
    if (!is_allowed() || atomic_exchange(&is_watched, true))
        return PASSES;
    if (set_handler())
        return WATCHES;
    atomic_store(&is_watched, false);
    return PASSES;
}

void vol_interrupt_watch(vol_interrupt *call) {
    int unasked = UNASKED;
    if (!atomic_compare_exchange_strong(&call->state, &unasked, ASKING))
        return;
    call->seen = atomic_load(&interrupts);
    atomic_store(&call->state, begin_watch(call));
}

/* By the thread of the call, and by those of the core that wait in its place. */
static int has_come(void *context) {
    vol_interrupt *call = context;
    vol_interrupt_watch(call);
    if (!is_watching(call) || atomic_load(&interrupts) == call->seen)
        return 0;
    atomic_store(&call->has_come, true);
    return 1;
}

void vol_interrupt_begin(vol_interrupt *call, bool ends) {
    const zb_stop stop = {.fn = ends ? has_come : NULL, .context = call};
    *call = (vol_interrupt){.around = innermost, .before = zb_thread_may_stop(stop)};
    innermost = call;
}

bool vol_interrupt_end(vol_interrupt *call) {
    struct sigaction now;
    zb_thread_may_stop(call->before);
    innermost = call->around;
    if (atomic_load(&call->state) == WATCHES) {
        if (sigaction(SIGINT, NULL, &now) == 0 && is_ours(&now))
            sigaction(SIGINT, &program, NULL);
        atomic_store(&is_watched, false);
    }
    return atomic_load(&call->has_come);
}

static int has_come_meanwhile(void *call, double done) {
    (void)done;
    return has_come(call);
}

enum zb_code vol_array_read(const zb_read *reads, size_t count, zb_error *err) {
    if (!is_watching(innermost))
        return zb_array_read(reads, count, err);
    const enum zb_code code = zb_array_read_with(reads, count, has_come_meanwhile, innermost, err);
    return code == ZB_ECANCELLED ? zb_fail(err, code, "the read was interrupted by SIGINT") : code;
}
