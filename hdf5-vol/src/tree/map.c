/* SPDX-License-Identifier: MIT */
#include "tree/map.h"

#include <stdlib.h>

/* The entry of a key, or the free one where it would go; at most half of the entries are taken.
   Addresses of HDF5's files are multiples of 8, hence the multiplication. */
static struct vol_map_entry *entry_of(const vol_map *map, uint64_t key) {
    size_t at = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
    while (map->entry[at & (map->capacity - 1)].key != 0 &&
           map->entry[at & (map->capacity - 1)].key != key)
        at++;
    return &map->entry[at & (map->capacity - 1)];
}

void *vol_map_get(const vol_map *map, uint64_t key) {
    return map->capacity > 0 ? entry_of(map, key)->value : NULL;
}

static bool grow(vol_map *map) {
    vol_map larger = {.count = map->count, .capacity = map->capacity ? 2 * map->capacity : 64};
    larger.entry = calloc(larger.capacity, sizeof *larger.entry);
    if (!larger.entry)
        return false;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->entry[i].key != 0)
            *entry_of(&larger, map->entry[i].key) = map->entry[i];
    free(map->entry);
    *map = larger;
    return true;
}

bool vol_map_set(vol_map *map, uint64_t key, void *value) {
    if (2 * (map->count + 1) > map->capacity && !grow(map))
        return false;
    struct vol_map_entry *entry = entry_of(map, key);
    map->count += entry->key == 0;
    *entry = (struct vol_map_entry){.key = key, .value = value};
    return true;
}

void vol_map_clear(vol_map *map) {
    free(map->entry);
    *map = (vol_map){.entry = NULL};
}
