/* SPDX-License-Identifier: MIT */
/* Many documents of a store at once: of one that takes requests, all are under way together. */
#ifndef ZB_NODE_DOCUMENTS_H
#define ZB_NODE_DOCUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "hierarchy/prefetched.h"
#include "util/names.h"
#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

/* True if reading documents ahead saves time. */
bool zb__documents_pay(const zb_hierarchy *hierarchy);

/* Reads the documents of the nodes at the paths, and keeps them as prefetched. changes: of the
   store, before the paths were found. */
void zb__documents_fetch(zb_hierarchy *hierarchy, const char *const *paths, size_t count,
                         uint64_t changes);

/* The documents of a group's children on the way of a visit to one after the other: as many as are
   worth it are read together, when the visit comes to the first of them. An error is a lack of
   memory, or of the store as a whole. The caller sets the first four members, and the rest to
   zeros. */
typedef struct zb__prefetched_children {
    zb_hierarchy *hierarchy;
    const char *path;       /* of the group */
    const zb__names *names; /* of the children that are visited; paths below the group do as well */
    bool is_own; /* those of the store itself, as they are now, for changes; else those that are
                    served (consolidated_cache.h), or were prefetched (prefetch.h), are not asked
                    for */
    zb__prefetched_document *documents;
    size_t first, count; /* the names whose documents are there */
} zb__prefetched_children;

/* The document of name number i, borrowed until the next call; its text may be taken out of it.
   NULL of a local store. */
enum zb_code zb__prefetched_children_at(zb__prefetched_children *prefetched, size_t i,
                                        zb__prefetched_document **out, zb_error *err);

void zb__prefetched_children_free(zb__prefetched_children *prefetched);

#endif
