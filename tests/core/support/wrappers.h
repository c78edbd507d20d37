/* SPDX-License-Identifier: MIT */
/* Wrappers around another store, for tests (each keeps its own reference to `inner`). */
#ifndef ZB_TEST_WRAPPERS_H
#define ZB_TEST_WRAPPERS_H

#include <stdint.h>

#include "zarrbridge/sys/hierarchy.h"

/* The calls that the wrapped store got. */
typedef struct zb_store_counts {
    uint64_t opens, reads, ranges, bytes, stats, lists;
    uint64_t puts, put_bytes, erases, flushes, locks; /* erases: those of prefixes, too */
    uint64_t changes, change_bytes;                   /* of live objects; bytes written */
    uint64_t renames, copies;
} zb_store_counts;
enum zb_code zb_store_new_count(zb_store *inner, zb_store **out, zb_error *err);
zb_store_counts zb_store_count_take(zb_store *count); /* returns and resets the counts */

/* Fails the call number `nth` with EIO, 0 for none. From 1; each open, read, stat, list, put,
   erase, erase_below, flush, lock, change, rename, copy and sweep counts. The failed
   call does not reach the inner store. */
enum zb_code zb_store_new_fault(zb_store *inner, zb_store **out, zb_error *err);
void zb_store_fault_set(zb_store *fault, uint64_t nth);
/* True once the call has failed that zb_store_fault_set named. */
bool zb_store_fault_is_struck(zb_store *fault);
/* Fails this call and all that follow: the store is left as by a killed process. */
void zb_store_fault_from(zb_store *fault, uint64_t nth);

/* Sleeps before each of these calls, as a distant server would make one wait. Requests are
   submitted by threads (zb_store_submit_by_threads), and objects are not changed in place. */
enum zb_code zb_store_new_delay(zb_store *inner, unsigned microseconds, zb_store **out,
                                zb_error *err);
typedef enum zb_code (*wrap_fn)(zb_store *inner, zb_store **out, zb_error *err);

/* A hierarchy over a wrapper (zb_store_new_count, zb_store_new_fault) around another one's store.
   */
static inline enum zb_code wrap(wrap_fn fn, zb_hierarchy *inner, zb_hierarchy **out,
                                zb_error *err) {
    zb_store *store;
    enum zb_code code = fn(zb_hierarchy_store(inner), &store, err);
    return code ? code : zb_hierarchy_over(store, out, err);
}

#endif
