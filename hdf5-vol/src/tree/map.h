/* SPDX-License-Identifier: MIT */
/* A map from addresses (tokens) to nodes: which objects a walk or a copy has met already. */
#ifndef ZARRBRIDGE_HDF5_VOL_TREE_MAP_H
#define ZARRBRIDGE_HDF5_VOL_TREE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct vol_map {
    struct vol_map_entry {
        uint64_t key; /* 0: free */
        void *value;
    } *entry;
    size_t count, capacity; /* capacity: a power of 2, or 0 */
} vol_map;

/* The value of a key; NULL when it is not there. */
void *vol_map_get(const vol_map *map, uint64_t key);

/* Sets one; key and value are not 0. False when memory runs out. */
bool vol_map_set(vol_map *map, uint64_t key, void *value);

void vol_map_clear(vol_map *map);

#endif
