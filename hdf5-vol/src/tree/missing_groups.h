/* SPDX-License-Identifier: MIT */
/* Groups that are missing on the way to a new object. */
#ifndef ZARRBRIDGE_HDF5_VOL_TREE_MISSING_GROUPS_H
#define ZARRBRIDGE_HDF5_VOL_TREE_MISSING_GROUPS_H

#include "tree/tree.h"
#include "waiting/waiting.h"

/* What becomes of them. */
typedef struct vol_missing {
    bool make;
    const vol_changes *members; /* of side.h, which the object will have; NULL: what HDF5's default
                                   list says. Borrowed */
} vol_missing;

/* As a link creation list asks for it. path: of the new object, which may be on no way; NULL for
   one without a name. */
vol_missing vol_missing_groups(h5_lib *lib, hid_t lcpl, const char *path,
                               const vol_changes *members);

/* The attributes of one in the group `above`: a JSON object as text (malloc'ed), NULL without
   memory. */
char *vol_missing_attributes(vol_node *above, const vol_changes *members);

#endif
