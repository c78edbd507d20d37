/* SPDX-License-Identifier: MIT */
/* Tasks: leaves of one stored chunk that lie close together, and so are read with one request. */
#ifndef ZB_READ_TASK_H
#define ZB_READ_TASK_H

#include "base/scratch.h"
#include "read/leaf.h"
#include "zarrbridge/error.h"

typedef struct zb__task {
    zb__stored_chunk *chunk;
    zb__leaf *first;
    size_t count;
    uint64_t offset, size; /* of the request; size 0 when nothing is to be read for the task */
    uint64_t unwanted;     /* bytes of the request between the leaves */
} zb__task;

typedef struct zb__task_list {
    zb__task *items;
    size_t count, capacity;
} zb__task_list;

/* How leaves are put together. */
typedef struct zb__task_rule {
    uint64_t gap;   /* bytes that may lie between two leaves of one request */
    uint64_t reach; /* bytes between two requests that may become one, where most of it is wanted;
                       0: none do */
    uint64_t most;  /* of one request; a single leaf may have more */
    bool looks_up;  /* in the cache of decoded chunks: the stored chunk's version is known */
    bool joins_raw; /* raw leaves, too, which are else read straight to their destination */
} zb__task_rule;

/* Adds the tasks of a stored chunk's leaves, which are in the order of their bytes. */
enum zb_code zb__tasks_add(zb__task_list *list, zb__stored_chunk *chunk, const zb__task_rule *rule,
                           zb_error *err);

/* The reach for a store that answers later: as many bytes as come in the time of a round trip, as
   far as the store knows them. */
uint64_t zb__store_reach(zb_store *store);

/* Runs a leaf and releases the cached chunk that it held: once evicted from the table, the chunk
   would take room besides those that replaced it. stored: as zb__leaf_run; a leaf whose bytes are
   held needs none. */
enum zb_code zb__task_run_leaf(zb__leaf *leaf, const uint8_t *stored, zb__scratch *scratch,
                               zb_error *err);

/* Runs all leaves of a task. bytes: of its request, NULL where it has none. */
enum zb_code zb__task_run(const zb__task *task, const uint8_t *bytes, zb__scratch *scratch,
                          zb_error *err);

#endif
