/* SPDX-License-Identifier: MIT */
/* What the layers above ask of a store besides its objects. */
#ifndef ZB_STORE_STATE_H
#define ZB_STORE_STATE_H

#include "zarrbridge/sys/store.h"

/* ZB_EUNSUPPORTED, for a store that has no way to put objects. */
enum zb_code zb__store_fail_read_only(const zb_store *store, zb_error *err);

/* Counts a change: see zb_store_changes. */
static inline void zb__store_count_change(zb_store *store) {
    __atomic_fetch_add(&store->changes, 1, __ATOMIC_SEQ_CST);
}

#endif
