/* SPDX-License-Identifier: MIT */
/* A version of an object on the network, by which its ranges are read. */
#ifndef ZB_NET_OBJECT_H
#define ZB_NET_OBJECT_H

#include "reply.h"
#include "util/in_flight.h"
#include "zarrbridge/sys/store.h"

typedef struct zb__remote_object {
    zb_object base;
    zb__answer answer; /* by which several objects share a head */
    zb__answer *owner; /* of the head, where that is another object's */
    char *key;
    zb__version version;
    char *head;       /* the bytes that came with the reply that opened it, or NULL */
    size_t head_size; /* from offset 0 */
} zb__remote_object;

/* Without a version yet. NULL: no memory. */
zb__remote_object *zb__object_new(zb_store *store, const char *key);
/* With the version and head of another one, which it takes over; that of any store. NULL: no
   memory. */
zb__remote_object *zb__object_share(zb_store *store, zb__answer *answer);
void zb__object_free(zb__remote_object *object); /* NULL is allowed */

zb_object_info zb__object_info(const zb__version *version);

/* Fills a range from the head. False: it is not all there. */
bool zb__object_from_head(const zb__remote_object *object, zb_range *range);

#endif
