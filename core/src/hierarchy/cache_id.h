/* SPDX-License-Identifier: MIT */
/*
 * What caches call an array. A document comes from outside: no hash of it is a name, since one that
 * nobody chooses to collide has to be secret. Names are counted, and those given last are kept with
 * what they were given for, which is compared byte by byte.
 */
#ifndef ZB_NODE_CACHE_ID_H
#define ZB_NODE_CACHE_ID_H

#include <stddef.h>
#include <stdint.h>

#include "zarrbridge/hierarchy.h"

/* A number that no array of another store, path or document ever has. It is the one that was given
   to the same three before, where that is still known: so what is opened again finds what is
   cached. Any thread. */
uint64_t zb__cache_id(const zb_hierarchy *hierarchy, const char *path, const char *document,
                      size_t size);

/* Forgets which numbers were given: the same array gets a new one. */
void zb__cache_id_clear(void);

#endif
