/* SPDX-License-Identifier: MIT */
/*
 * A list of changes of named JSON values: what is set or removed, the last change of each name. A
 * name is found in the same time in long lists as in short ones.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_TREE_CHANGES_H
#define ZARRBRIDGE_HDF5_VOL_TREE_CHANGES_H

#include "zarrbridge/zarrbridge.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct vol_change {
    const char *name;     /* NULL: of no use any more, as a later one has its name */
    const zb_json *value; /* a member called `name`; NULL: removed */
    bool anew;            /* was removed before it was set: it stands at the end */
    zb_json *object;      /* the owner of both; {"name": value} */
} vol_change;

/* All zeros is an empty list. */
typedef struct vol_changes {
    size_t count, capacity;
    vol_change *change; /* in their order */
    size_t *slot;       /* [4 * capacity]: 1 + a change whose name has that hash, or one before */
} vol_changes;

/* NULL when there is no change of that name. */
const vol_change *vol_changes_find(const vol_changes *changes, const char *name);

/* Sets a name to a value (JSON text), or removes it (NULL). ZB_EINVAL for a name that is no UTF-8,
   or a text that is no JSON. */
enum zb_code vol_changes_set(vol_changes *changes, const char *name, const char *json,
                             zb_error *err);

/* A copy of what a list says of a name, if it says anything: to take a later change back. */
typedef struct vol_former {
    bool is_change, anew;
    char *json; /* NULL: removed */
} vol_former;

/* False when memory runs out. */
bool vol_changes_remember(const vol_changes *changes, const char *name, vol_former *out);
void vol_changes_restore(vol_changes *changes, const char *name, const vol_former *former);

void vol_changes_clear(vol_changes *changes);

#endif
