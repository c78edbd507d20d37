/* SPDX-License-Identifier: MIT */
/* The session over a store, which the nodes of one hierarchy share. */
#ifndef ZB_HIERARCHY_HIERARCHY_H
#define ZB_HIERARCHY_HIERARCHY_H

#include <stdatomic.h>

#include "hierarchy/metadata.h"
#include "util/thread.h"
#include "zarrbridge/sys/hierarchy.h"

/* Work on documents that is left to zb_hierarchy_write_back, or to the end. Its owner embeds this.
   */
typedef struct zb__write_back zb__write_back;
struct zb__write_back {
    enum zb_code (*run)(zb_hierarchy *hierarchy, zb_error *err); /* what fails is left again */
    void (*free)(zb__write_back *write_back);
};

struct zb_hierarchy {
    atomic_int refs;
    zb_store *store;             /* one reference */
    uint64_t number;             /* unique in the process */
    unsigned kinds;              /* of elements that arrays may have: see zb_hierarchy_set_kinds */
    bool trusts_list;            /* see zb_hierarchy_trust_list */
    zb_chunk_done_fn chunk_done; /* or NULL: see zb_hierarchy_tell_chunks */
    void *chunk_context;
    zb_commit *commit;         /* or NULL; set before other threads use the hierarchy */
    struct zb__staged *staged; /* the commit's, where documents are staged (staged.h); else NULL */
    zb__metadata metadata;
    _Atomic(zb__write_back *) write_back; /* NULL: nothing is left; stays when there is something
                                             once */
    atomic_int sync;                      /* enum zb_sync: see zb_hierarchy_set_sync */
    atomic_bool has_older;                /* a node of version 2 was found */
    atomic_uint_fast64_t lock_scope; /* the thread that has a lock scope, by its number; 0: none
                                        (lock_scope.h) */
};

/* How safe documents are. */
static inline enum zb_sync zb__hierarchy_sync(const zb_hierarchy *hierarchy) {
    return (enum zb_sync)atomic_load(&hierarchy->sync);
}

/* A long call has done with a chunk. */
static inline void zb__hierarchy_chunk_done(const zb_hierarchy *hierarchy) {
    if (hierarchy->chunk_done)
        hierarchy->chunk_done(hierarchy->chunk_context);
}

/* True if an array's elements may be of this kind. */
static inline bool zb__hierarchy_takes(const zb_hierarchy *hierarchy, zb_dtype dtype) {
    return hierarchy->kinds >> dtype.kind & 1;
}

#endif
