/* SPDX-License-Identifier: MIT */
/* Hidden arrays of attributes: see large_attributes.h. */
#include "attributes/large_attributes.h"

#include "objects/tokens.h"
#include "tree/side.h"
#include "waiting/waiting.h"

#include "zarrbridge/change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *vol_large_array(const zb_json *entry) {
    return zb_json_string(zb_json_get(entry, VOL_LARGE_ARRAY));
}

/* The process, the time and a count make it one of its own; HDF5 calls us under its lock. */
char *vol_large_new_name(void) {
    static uint64_t last;
    struct {
        struct timespec now;
        uint64_t process, count;
    } seed = {.process = (uint64_t)getpid(), .count = ++last};
    char *name;
    clock_gettime(CLOCK_REALTIME, &seed.now);
    const uint64_t hash = vol_hash(VOL_HASH_START, &seed, sizeof seed);
    return asprintf(&name, "__attribute.%016llx", (unsigned long long)hash) < 0 ? NULL : name;
}

bool vol_large_any(const vol_node *node) {
    vol_attribute_walk walk = {.document = NULL};
    const zb_json *value;
    while ((value = vol_attribute_next(node, &walk)))
        if (vol_large_array(vol_side_entry((vol_node *)(uintptr_t)node, zb_json_name(value))))
            return true;
    return false;
}

enum zb_code vol_large_note(vol_node *node, const char *array, zb_error *err) {
    vol_waiting *waiting = array ? vol_waiting_get(node) : NULL;
    if (!array)
        return ZB_OK;
    char *copy = strdup(array);
    char **arrays = waiting && copy
                        ? realloc(waiting->arrays, (waiting->array_count + 1) * sizeof *arrays)
                        : NULL;
    if (!arrays) {
        free(copy);
        return zb_fail(err, ZB_ENOMEM, "no memory for the attributes of %s", node->path);
    }
    arrays[waiting->array_count++] = copy;
    waiting->arrays = arrays;
    return ZB_OK;
}

/* Nothing waits: what the entries say is stored. */
void vol_large_sweep(vol_node *node, char *const *arrays, size_t count) {
    for (size_t i = 0; i < count; i++) {
        vol_attribute_walk walk = {.document = NULL};
        const zb_json *value;
        bool used = false;
        while (!used && (value = vol_attribute_next(node, &walk))) {
            const char *named = vol_large_array(vol_side_entry(node, zb_json_name(value)));
            used = named && strcmp(named, arrays[i]) == 0;
        }
        if (!used)
            (void)zb_hidden_delete(node->zarr, arrays[i], NULL);
    }
}
