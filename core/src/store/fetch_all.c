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
    zb__latch_begin(&answered, count);
    enum zb_code code = count ? zb_store_submit(store, list, note_answer, &answered, err) : ZB_OK;
    if (!code)
        zb__latch_wait(&answered);
    zb__latch_end(&answered);
    return code;
}
