/* SPDX-License-Identifier: MIT */
/*
 * What the name of a file leads to: a store, by itself or through a door (zarrbridge/door.h), or a
 * file of HDF5's own. Opening, creating, deleting and following links all ask here.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_FILE_FIND_STORE_H
#define ZARRBRIDGE_HDF5_VOL_FILE_FIND_STORE_H

#include "file/options.h"

#include "zarrbridge/conventions.h"

/* The name of the store that a file is, or leads to, in the form of vol_filename_plain: *store,
   malloc'ed; NULL where the file is none of ours. A door that is a copy gets a store of its own
   when it is opened for writing (zb_door_own). Errors of zb_door_read and zb_door_own. */
enum zb_code vol_filename_follow(const char *name, const vol_options *options, bool writes,
                                 char **store, zb_error *err);

/* Is the name that of a store, or of a door? */
bool vol_filename_leads(const char *name);

/* Whither the options let doors lead, and the name by which the connector opens what one leads to
   (malloc'ed). */
enum zb_doors vol_doors_followed(const vol_options *options);
enum zb_code vol_door_store(const zb_door *door, char **store, zb_error *err);

#endif
