/* SPDX-License-Identifier: MIT */
/* Datasets of a name: see namesakes.h. */
#include "scales/namesakes.h"

#include "objects/paths.h"

vol_node *vol_namesake_at(const vol_node *array, unsigned level, const char *name) {
    vol_node *group = array->parent;
    for (; group && level > 0; level--)
        group = group->parent;
    vol_node *node = group ? vol_node_find(group, name, NULL) : NULL;
    return node && node->kind == VOL_DATASET ? node : NULL;
}

vol_node *vol_namesake(const vol_node *dataset, const char *name) {
    vol_node *found = NULL;
    unsigned level = 0;
    for (const vol_node *group = dataset->parent; group && !found; group = group->parent)
        found = vol_namesake_at(dataset, level++, name);
    return found;
}

bool vol_namesake_hides(const vol_node *dataset, const vol_node *scale) {
    unsigned level = 0;
    for (const vol_node *group = dataset->parent; group; group = group->parent) {
        const vol_node *seen = vol_namesake_at(dataset, level++, scale->name);
        if (seen == scale)
            return false;
        if (seen && zb_node_array(seen->zarr)->ndim == 1)
            return true;
    }
    return false;
}
