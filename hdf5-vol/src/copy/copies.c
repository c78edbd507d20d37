/* SPDX-License-Identifier: MIT */
/* See copies.h. */
#include "copy/copies.h"

#include "hdf5/errors.h"
#include "objects/locate.h"
#include "objects/tokens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const vol_copied *vol_copies_add(vol_copies *copies, vol_node *node, const char *above,
                                 const char *name) {
    const bool is_top = node == copies->top, below_top = strcmp(above, ".") == 0;
    vol_copied *copied = malloc(sizeof *copied + strlen(above) + strlen(name) + 2);
    if (!copied)
        return NULL;
    copied->node = node;
    if (is_top)
        strcpy(copied->path, ".");
    else
        sprintf(copied->path, "%s%s%s", below_top ? "" : above, below_top ? "" : "/", name);
    if (vol_map_set(&copies->all, node->token, copied))
        return copied;
    free(copied);
    return NULL;
}

/* NULL when there is none. */
static const char *path_of(const vol_copies *copies, const vol_node *node) {
    const vol_copied *copied = vol_map_get(&copies->all, node->token);
    return copied ? copied->path : NULL;
}

uint64_t vol_copies_address(const vol_copies *copies, const vol_node *node) {
    h5_lib *lib = copies->lib;
    const char *path = node ? path_of(copies, node) : NULL;
    H5O_token_t token = {{0}};
    if (!path)
        return 0;
    const H5VL_loc_params_t loc = vol_loc_by_name(lib, copies->top_type, path);
    H5VL_object_specific_args_t args = {.op_type = H5VL_OBJECT_LOOKUP,
                                        .args.lookup.token_ptr = &token};
    return lib->H5VLobject_specific(copies->new_top, &loc, lib->native, &args, copies->dxpl, NULL) <
                   0
               ? 0
               : vol_token_get(&token);
}

void *vol_copies_open(const vol_copies *copies, const vol_node *node, H5I_type_t *type) {
    h5_lib *lib = copies->lib;
    const H5VL_loc_params_t loc = vol_loc_by_name(lib, copies->top_type, path_of(copies, node));
    return lib->H5VLobject_open(copies->new_top, &loc, lib->native, type, copies->dxpl, NULL);
}

void vol_copies_end(vol_copies *copies) {
    if (copies->new_top)
        vol_native_close(copies->lib, copies->new_top, copies->top_type, copies->dxpl);
    for (size_t i = 0; i < copies->all.capacity; i++)
        free(copies->all.entry[i].value);
    vol_map_clear(&copies->all);
}
