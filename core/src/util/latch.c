/* SPDX-License-Identifier: MIT */
#include "util/latch.h"

void zb__latch_begin(zb__latch *latch, size_t count) {
    *latch = (zb__latch){.left = count};
    pthread_mutex_init(&latch->lock, NULL);
    pthread_cond_init(&latch->all_done, NULL);
}

/* The latch may go as soon as the last one has let go of the lock. */
void zb__latch_count_down(zb__latch *latch) {
    pthread_mutex_lock(&latch->lock);
    if (--latch->left == 0)
        pthread_cond_signal(&latch->all_done);
    pthread_mutex_unlock(&latch->lock);
}

bool zb__latch_wait(zb__latch *latch, zb__stopper *stopper) {
    bool goes_on = true;
    pthread_mutex_lock(&latch->lock);
    while (latch->left && goes_on)
        goes_on = zb__wait(stopper, &latch->all_done, &latch->lock, ZB__FOR_EVER) != ZB__STOPPED;
    pthread_mutex_unlock(&latch->lock);
    return goes_on;
}

void zb__latch_end(zb__latch *latch) {
    pthread_cond_destroy(&latch->all_done);
    pthread_mutex_destroy(&latch->lock);
}
