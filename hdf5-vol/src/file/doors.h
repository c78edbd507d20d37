/* SPDX-License-Identifier: MIT */
/*
 * What the name of a file leads to: a store, by itself or through a door (zarrbridge/door.h), or a
 * file of HDF5's own. Opening, creating, deleting and following links all ask here.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_FILE_DOORS_H
#define ZARRBRIDGE_HDF5_VOL_FILE_DOORS_H

#include "file/options.h"

/* The name of the store that a file is, or leads to, in the form of vol_filename_plain: *store,
   malloc'ed; NULL where the file is none of ours. A door that is a copy gets a store of its own
   when it is opened for writing (zb_door_own). Errors of zb_door_read and zb_door_own. */
enum zb_code vol_filename_follow(const char *name, const vol_options *options, bool writes,
                                 char **store, zb_error *err);

/* Is the name that of a store, or of a door? */
bool vol_filename_leads(const char *name);

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
