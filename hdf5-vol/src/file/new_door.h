/* SPDX-License-Identifier: MIT */
/* Doors (zarrbridge/door.h) for stores that are made by the name of a file. */
#ifndef ZARRBRIDGE_HDF5_VOL_FILE_NEW_DOOR_H
#define ZARRBRIDGE_HDF5_VOL_FILE_NEW_DOOR_H

#include "file/options.h"

/* A new store, and the door that is made when the store is there. */
typedef struct vol_new_door {
    char *store; /* its name; malloc'ed; NULL: no door is concerned */
    bool is_new; /* the door is to be made, or made anew; else one leads there already */
} vol_new_door;

/* For a file that is to be created. There may be a door: its store is replaced if `truncate` says
   so, and else ZB_EIO tells of a file that exists. A copy of a door gets a store of its own. Where
   there is none, the options tell whether the name becomes one. ZB_ECONFLICT where a file with a
   content of its own is in the way. Cleared by vol_new_door_clear, also after an error. */
enum zb_code vol_new_door_find(const char *name, const vol_options *options, bool truncate,
                               vol_new_door *out, zb_error *err);

/* Makes the door at `name`, if it is to be made. */
enum zb_code vol_new_door_make(const char *name, const vol_new_door *door, zb_error *err);

void vol_new_door_clear(vol_new_door *door);

#endif
