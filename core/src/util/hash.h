/* SPDX-License-Identifier: MIT */
/* A quick hash of 64-bit words for tables that compare the items themselves as well. Each step can
   be inverted, so that whoever chooses the words can make them collide: no hash stands for an item,
   and tables of untrusted keys use map.h. */
#ifndef ZB_UTIL_HASH_H
#define ZB_UTIL_HASH_H

#include <stdint.h>

/* The hash of what came before, and a further word. */
static inline uint64_t zb__hash_add(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

#endif
