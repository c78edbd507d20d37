/* SPDX-License-Identifier: MIT */
/* Objects that have been copied: see imported.h. */
#include "copy/imported.h"

#include "objects/object.h"

#include <stdlib.h>

vol_node *vol_imported_get(const vol_imported *first, const H5O_info2_t *info) {
    for (const vol_imported *one = first; one; one = one->next)
        if (one->file == info->fileno)
            return vol_map_get(&one->by_address, vol_token_get(&info->token));
    return NULL;
}

bool vol_imported_set(vol_imported *first, const H5O_info2_t *info, vol_node *node) {
    vol_imported *of = first;
    while (of->file != info->fileno && of->next)
        of = of->next;
    if (of->file != info->fileno) {
        of->next = calloc(1, sizeof *of);
        if (!of->next)
            return false;
        of = of->next;
        of->file = info->fileno;
    }
    return vol_map_set(&of->by_address, vol_token_get(&info->token), node);
}

void vol_imported_clear(vol_imported *first) {
    for (vol_imported *one = first->next, *next; one; one = next) {
        next = one->next;
        vol_map_clear(&one->by_address);
        free(one);
    }
    vol_map_clear(&first->by_address);
    first->next = NULL;
}
