/* SPDX-License-Identifier: MIT */
/*
 * Links of an HDF5 file that a copy expands once all that hard links lead to has been copied. An
 * object so has its place in the store where its hard link is, whichever link comes first by name:
 * programs that know nothing of second hard links see it there alone.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_PUT_OFF_H
#define ZARRBRIDGE_HDF5_VOL_COPY_PUT_OFF_H

#include "hdf5/library.h"
#include "tree/node.h"

typedef struct vol_put_off {
    struct vol_put_off *next;
    hid_t source;    /* the group that holds the link; owned */
    vol_node *group; /* of the target; pinned */
    char name[];
} vol_put_off;

/* A queue; all zeros when empty. */
typedef struct vol_put_offs {
    vol_put_off *first, *last;
} vol_put_offs;

/* Adds a link as the last one. False when memory runs out. */
bool vol_put_off_add(h5_lib *lib, vol_put_offs *queue, hid_t source, vol_node *group,
                     const char *name);

/* Takes the first one, for vol_put_off_free; NULL when there is none. */
vol_put_off *vol_put_off_take(vol_put_offs *queue);

/* Moves all of `rest` behind those of a queue. */
void vol_put_off_append(vol_put_offs *queue, vol_put_offs *rest);

/* NULL: none. An error that was pushed stays. */
void vol_put_off_free(h5_lib *lib, vol_put_off *link);

#endif
