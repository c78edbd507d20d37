/* SPDX-License-Identifier: MIT */
/* Hierarchies whose stores are counted, or fail. */
#ifndef TESTS_CORE_WRAP_H
#define TESTS_CORE_WRAP_H

#include "zarrbridge/sys/hierarchy.h"
#include "zarrbridge/sys/wrappers.h"

typedef enum zb_code (*wrap_fn)(zb_store *inner, zb_store **out, zb_error *err);

/* A hierarchy over a wrapper (zb_store_new_count, zb_store_new_fault) around another one's store. */
static inline enum zb_code wrap(wrap_fn fn, zb_hierarchy *inner, zb_hierarchy **out,
                                zb_error *err) {
    zb_store *store;
    enum zb_code code = fn(zb_hierarchy_store(inner), &store, err);
    return code ? code : zb_hierarchy_over(store, out, err);
}

#endif
