/* SPDX-License-Identifier: MIT */
#include "store/fetch_all.h"

#include "base/latch.h"

/* Called by the store's threads. */
static void note_answer(void *context, zb_fetch *fetch) {
    (void)fetch;
    zb__latch_count_down(context);
}

enum zb_code zb__fetch_all(zb_store *store, zb_fetch *list, size_t count, zb_error *err) {
    zb__latch answered;
    if (count == 0)
        return ZB_OK;
    zb__latch_begin(&answered, count);
    for (zb_fetch *fetch = list; fetch; fetch = fetch->next)
        fetch->code = zb__fail_stopped(&fetch->error); /* unless it is answered */
    enum zb_code code = zb_store_submit(store, list, note_answer, &answered, err);
    if (!code && !zb__latch_wait(&answered, zb__stopper_mine()))
        zb_store_cancel(store, &answered);
    zb__latch_end(&answered);
    return code;
}
