/* SPDX-License-Identifier: MIT */
/* Hierarchies and their stores: for authors of backends, and for programs that look at objects. */
#ifndef ZARRBRIDGE_SYS_HIERARCHY_H
#define ZARRBRIDGE_SYS_HIERARCHY_H

#include <stdbool.h>

#include "zarrbridge/hierarchy.h"
#include "zarrbridge/sys/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A hierarchy over a store, whose reference it takes over, after an error, too. Only ZB_ENOMEM. */
ZB_API enum zb_code zb_hierarchy_over(zb_store *store, zb_hierarchy **out, zb_error *err);

/* Borrowed. It lacks the documents of a new store that are held until zb_hierarchy_commit. */
ZB_API zb_store *zb_hierarchy_store(const zb_hierarchy *hierarchy);

/* The store to ask for an object, borrowed: that of the hierarchy, or the one in memory that holds
   the documents of a new store. */
ZB_API zb_store *zb_hierarchy_place(const zb_hierarchy *hierarchy, const char *key);

/* As zb_store_is_absent, of the hierarchy's store and of what is held. */
ZB_API bool zb_hierarchy_is_absent(const zb_hierarchy *hierarchy, const char *prefix);

/* Brings what was put into a store to its place, all at once, where that is not the store itself:
   see zb_hierarchy_commit. Its owner embeds this. */
typedef struct zb_commit {
    enum zb_code (*run)(struct zb_commit *commit, zb_hierarchy *hierarchy, zb_error *err);
    void (*end)(struct zb_commit *commit); /* with the last reference; frees this */
    bool comes_at_once;                    /* run, too, as soon as a node has been made */
} zb_commit;

/* Before other threads use the hierarchy. */
ZB_API void zb_hierarchy_set_commit(zb_hierarchy *hierarchy, zb_commit *commit);

#ifdef __cplusplus
}
#endif
#endif
