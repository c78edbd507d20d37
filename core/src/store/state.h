/* SPDX-License-Identifier: MIT */
/*
 * What changes of a store while threads use it. The fields are plain ones, because C and C++ see
 * one struct (zarrbridge/sys/store.h), and are touched by these functions alone.
 */
#ifndef ZB_STORE_STATE_H
#define ZB_STORE_STATE_H

#include "base/thread.h"
#include "zarrbridge/sys/store.h"

/* How safe documents are: see zb_store_set_sync. */
static inline enum zb_sync zb__store_sync(const zb_store *store) {
    return (enum zb_sync)__atomic_load_n(&store->sync, __ATOMIC_SEQ_CST);
}

/* Never less safe than before. */
static inline void zb__store_raise_sync(zb_store *store, enum zb_sync sync) {
    int now = __atomic_load_n(&store->sync, __ATOMIC_SEQ_CST);
    while ((int)sync > now && !__atomic_compare_exchange_n(&store->sync, &now, (int)sync, true,
                                                           __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
}

static inline zb_later *zb__store_later(const zb_store *store) {
    return __atomic_load_n(&store->later, __ATOMIC_SEQ_CST);
}

/* False where another thread has left something first. */
static inline bool zb__store_set_later(zb_store *store, zb_later *later) {
    zb_later *none = NULL;
    return __atomic_compare_exchange_n(&store->later, &none, later, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

/* Whether the calling thread has a turn (zb_turn_begin): it holds the hierarchy's lock. Only the
   holder sets it. In a child the turn of a thread that is not there stays noted, as nobody's. */
static inline bool zb__store_has_turn(const zb_store *store) {
    return __atomic_load_n(&store->turn, __ATOMIC_SEQ_CST) == zb__thread_id();
}

static inline void zb__store_set_turn(zb_store *store, bool has) {
    __atomic_store_n(&store->turn, has ? zb__thread_id() : 0, __ATOMIC_SEQ_CST);
}

/* ZB_EUNSUPPORTED, for a store that has no way to put objects. */
enum zb_code zb__store_fail_read_only(const zb_store *store, zb_error *err);

/* Whether a node of version 2 was found in it. */
static inline bool zb__store_has_older(const zb_store *store) {
    return __atomic_load_n(&store->has_older, __ATOMIC_SEQ_CST);
}

static inline void zb__store_note_older(zb_store *store) {
    __atomic_store_n(&store->has_older, true, __ATOMIC_SEQ_CST);
}

#endif
