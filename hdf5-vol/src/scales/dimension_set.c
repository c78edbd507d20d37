/* SPDX-License-Identifier: MIT */
/* Names and lengths of dimensions: see dimension_set.h. */
#include "scales/dimension_set.h"

#include "objects/tokens.h"

#include <stdlib.h>
#include <string.h>

typedef struct dimension {
    struct dimension *next; /* of another name or length, and the same hash */
    uint64_t length;
    char name[];
} dimension;

static uint64_t key_of(const char *name, uint64_t length) {
    uint64_t hash = vol_hash(VOL_HASH_START, name, strlen(name));
    hash = vol_hash(hash, &length, sizeof length);
    return hash ? hash : 1;
}

static const dimension *find(const vol_dimension_set *set, const char *name, uint64_t length) {
    const dimension *one = vol_map_get(&set->by_hash, key_of(name, length));
    while (one && (one->length != length || strcmp(one->name, name) != 0))
        one = one->next;
    return one;
}

static bool add(vol_dimension_set *set, const char *name, uint64_t length) {
    const uint64_t key = key_of(name, length);
    if (find(set, name, length))
        return true;
    dimension *one = malloc(sizeof *one + strlen(name) + 1);
    if (!one)
        return false;
    one->next = vol_map_get(&set->by_hash, key);
    one->length = length;
    strcpy(one->name, name);
    if (vol_map_set(&set->by_hash, key, one))
        return true;
    free(one);
    return false;
}

bool vol_dimension_set_has(const vol_dimension_set *set, const char *name, uint64_t length) {
    return find(set, name, length) != NULL;
}

bool vol_dimension_set_add(vol_dimension_set *set, const zb_array_info *array) {
    bool added = true;
    for (uint32_t d = 0; array && array->dimension_names && d < array->ndim && added; d++)
        if (array->dimension_names[d])
            added = add(set, array->dimension_names[d], array->shape[d]);
    return added;
}

void vol_dimension_set_free(vol_dimension_set *set) {
    if (!set)
        return;
    for (size_t i = 0; i < set->by_hash.capacity; i++)
        for (dimension *one = set->by_hash.entry[i].value, *next; one; one = next) {
            next = one->next;
            free(one);
        }
    vol_map_clear(&set->by_hash);
    free(set);
}
