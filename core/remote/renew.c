/* SPDX-License-Identifier: MIT */
#include "renew.h"

#include "base/thread.h"
#include "io.h"
#include "remote.h"

static void *renew(void *context) {
    zb__remote *store = context;
    store->protocol->renew(store);
    zb__io_renewed(store);
    return NULL;
}

bool zb__renew_start(zb__remote *store) {
    return zb__thread_start(NULL, renew, store) == 0;
}
