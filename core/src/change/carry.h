/* SPDX-License-Identifier: MIT */
/* Objects from one store to another, as they are. */
#ifndef ZB_CHANGE_CARRY_H
#define ZB_CHANGE_CARRY_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "zarrbridge/hierarchy.h"

/* From any number of threads at once. */
typedef struct zb__carrier {
    zb_hierarchy *from, *to; /* not owned */
    pthread_mutex_t lock;    /* guards all below */
    pthread_cond_t ended;
    size_t under_way; /* objects in memory */
    uint64_t largest; /* of all that were, in bytes; 0: none yet */
} zb__carrier;

void zb__carrier_init(zb__carrier *carrier, zb_hierarchy *from, zb_hierarchy *to);
void zb__carrier_end(zb__carrier *carrier);

/* How many objects at once are worth while: 0 where neither store is on a network. */
size_t zb__carrier_width(const zb__carrier *carrier);

/* Makes the object at `target` a copy of that at key: by the store itself where it can, else
   through memory, whole. */
enum zb_code zb__carry(zb__carrier *carrier, const char *key, const char *target, zb_error *err);

#endif
