/* SPDX-License-Identifier: MIT */
/*
 * Looking after stores: finding damaged objects and leftovers, and mending all that can be mended
 * without judgement.
 */
#ifndef ZARRBRIDGE_CHECK_H
#define ZARRBRIDGE_CHECK_H

#include <stdint.h>

#include "zarrbridge/hierarchy.h"

#ifdef __cplusplus
extern "C" {
#endif

enum zb_finding_kind {
    ZB_FINDING_DAMAGED,   /* breaks a checksum or a rule of the format, or is a zarr.json that is
                             missing in a directory above nodes */
    ZB_FINDING_TRUNCATED, /* too short for its content */
    ZB_FINDING_ORPHANED,  /* nothing leads to it: a chunk beyond the grid, or of no array */
    ZB_FINDING_STALE,     /* left by a writer that was killed, or out of date: temporary files,
                            journals, consolidated metadata. zb_hierarchy_repair sees to it */
    ZB_FINDING_UNCHECKED, /* this version cannot read it, this user may not, or it could not be had
                             from the network; the message says why */
    ZB_FINDING_FOREIGN    /* a file that is no part of a store and cannot become one, by its name: a
                             README, .DS_Store. Told where a node is in a directory above, and no
                             fault of the store */
};

typedef struct zb_finding {
    enum zb_finding_kind kind;
    const char *key;     /* in the store; of a node: of its zarr.json, which may not be there; of a
                            directory that could not be looked into: its name */
    const char *message; /* one line; names inner chunks, too */
} zb_finding;

/* Called for one finding at a time, from any thread; the strings last as long as the call. Anything
   but 0 ends the walk. */
typedef int (*zb_finding_fn)(void *context, const zb_finding *finding);

typedef struct zb_verify_summary {
    uint64_t nodes, objects, inner_chunks; /* looked at; objects are chunks and shards */
    uint64_t bytes;                        /* of the objects */
    uint64_t findings;                     /* but for foreign files */
    uint64_t foreign;
} zb_verify_summary;

/* "damaged", "truncated", ... Static storage. */
ZB_API const char *zb_finding_name(enum zb_finding_kind kind);

/* Walks a store, decodes every chunk of every array in parallel, and reports all that is wrong. The
   content of chunks is checked by their checksums and sizes: a damaged chunk without either cannot
   be recognised. Nothing is changed. Memory: one encoded and one decoded inner chunk a thread, and
   the names in one directory at each level. Writers at work meanwhile can cause findings where
   nothing is wrong. Of a store that cannot list, the nodes that consolidated metadata name are
   checked, with all chunks of their grids. Objects on the network that cannot be had (a server that
   is busy, or denies access) are ZB_FINDING_UNCHECKED. Returns ZB_OK when the walk got through,
   with findings or without; ZB_ENOTFOUND where nothing is at the store's name. summary may be
   NULL. */
ZB_API enum zb_code zb_hierarchy_verify(zb_hierarchy *hierarchy, zb_finding_fn fn, void *context,
                                        zb_verify_summary *summary, zb_error *err);

/* Removes temporary files that killed writers left, undoes their unfinished changes by their
   journals, finishes shrinking arrays, deletes hidden arrays that no attribute has named for a day,
   and brings consolidated metadata up to date; reports each. Damaged chunks and orphans are left as
   they are. Writers may be at work meanwhile. ZB_ENOTFOUND where nothing is at the store's name;
   ZB_EUNSUPPORTED for a store that cannot be written; errors of reading and of changes. Any thread.
   */
ZB_API enum zb_code zb_hierarchy_repair(zb_hierarchy *hierarchy, zb_finding_fn fn, void *context,
                                        zb_error *err);

#ifdef __cplusplus
}
#endif
#endif
