/* SPDX-License-Identifier: MIT */
#include "read/progress.h"

#include "util/clock.h"

zb__progress zb__progress_begin(zb_progress_fn fn, void *context) {
    return (zb__progress){.fn = fn, .context = context, .next = zb__now() + ZB__PROGRESS_NS};
}

bool zb__progress_is_due(const zb__progress *progress) {
    return progress && zb__now() >= progress->next;
}

static _Thread_local unsigned calls; /* of such functions that this thread is in */

bool zb__progress_is_calling(void) {
    return calls != 0;
}

static int call(zb__progress *progress) {
    calls++;
    const int answer = progress->fn(progress->context, progress->told);
    calls--;
    progress->next = zb__now() + ZB__PROGRESS_NS;
    return answer;
}

static enum zb_code tell(zb__progress *progress, double done, zb_error *err) {
    if (done > progress->told)
        progress->told = done < 1 ? done : 1;
    return call(progress) ? zb_fail(err, ZB_ECANCELLED, "the read was cancelled") : ZB_OK;
}

enum zb_code zb__progress_tell(zb__progress *progress, double more, zb_error *err) {
    return tell(progress, ((double)progress->done + more) / (double)progress->total, err);
}

enum zb_code zb__progress_end(zb__progress *progress, zb_error *err) {
    return tell(progress, 1, err);
}

int zb__progress_ask(void *progress) {
    return zb__progress_is_due(progress) ? call(progress) : 0;
}
