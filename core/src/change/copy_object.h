/* SPDX-License-Identifier: MIT */
/* Objects from one store to another, as they are. */
#ifndef ZB_CHANGE_COPY_OBJECT_H
#define ZB_CHANGE_COPY_OBJECT_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "zarrbridge/hierarchy.h"
#include "zarrbridge/sys/store.h"

/* From any number of threads at once. */
typedef struct zb__object_copier {
    zb_hierarchy *from, *to; /* not owned */
    pthread_mutex_t lock;    /* guards all below */
    pthread_cond_t ended;
    size_t under_way; /* objects in memory */
    uint64_t largest; /* of all that were, in bytes; 0: none yet */
    zb_batch batch;   /* of objects that wait for zb__object_copier_flush */
} zb__object_copier;

void zb__object_copier_init(zb__object_copier *copier, zb_hierarchy *from, zb_hierarchy *to);
void zb__object_copier_end(zb__object_copier *copier);

/* How many objects at once are worth while: 0 where neither store is on a network. */
size_t zb__object_copier_width(const zb__object_copier *copier);

/* Makes what was copied visible, and as durable as the hierarchy's documents are. Files are made
   durable together. To be called before a document leads to the objects. */
enum zb_code zb__object_copier_flush(zb__object_copier *copier, zb_error *err);

/* Makes the object at `target` a copy of that at key: by the store itself where it can, else
   through memory, whole. */
enum zb_code zb__copy_object(zb__object_copier *copier, const char *key, const char *target,
                             zb_error *err);

#endif
