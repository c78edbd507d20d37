/* SPDX-License-Identifier: MIT */
/*
 * From datasets and attributes to the named datatype with which they were made: its path is kept
 * beside their type, and follows it (objects/named_paths.h). A link counts while there is a named
 * datatype of the same type at that path.
 *
 * A named datatype that has no path yet (H5Tcommit_anon, as h5repack makes them) is kept as ":" and
 * its token, until it gets one.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_OBJECTS_NAMED_TYPES_H
#define ZARRBRIDGE_HDF5_VOL_OBJECTS_NAMED_TYPES_H

#include "objects/named_paths.h"
#include "objects/object.h"

/* The path of a type that is a named one of this file; malloc'ed. NULL for others. */
char *vol_named_path(const vol_file *file, hid_t type);

/* Likewise of a node that is a named type. NULL when memory runs out. */
char *vol_named_path_of(const vol_node *type);

/* A copy of a type that is a named one of a store, for the caller to drop; -1 for others. HDF5's
   own connector takes the object behind such a type for its own. */
hid_t vol_named_copy(h5_lib *lib, hid_t type);

/* An id of the named datatype at that path (NULL: of none), if it is the same as `type`; else a
   copy of `type`. -1 on failure. */
hid_t vol_named_type(vol_handle *handle, const char *path, hid_t type);

/* Gives what was made with a datatype that had this token, and no path, the path that it has
   got. */
enum zb_code vol_named_rename(vol_node *type, uint64_t token, zb_error *err);

#endif
