/* SPDX-License-Identifier: MIT */
/*
 * From datasets and attributes to the committed datatype with which they were made: its name is
 * kept beside their type, and leads to it wherever it moves (tree/moved.h). It counts while it
 * leads to a committed datatype of the same type.
 *
 * A committed datatype that has no path yet (H5Tcommit_anon, as h5repack makes them) is kept as ":"
 * and its token, until it gets one.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_OBJECTS_COMMITTED_TYPES_H
#define ZARRBRIDGE_HDF5_VOL_OBJECTS_COMMITTED_TYPES_H

#include "objects/committed_paths.h"
#include "objects/object.h"

/* The name of a type that is a committed one of this file; malloc'ed. *out is NULL for others. */
enum zb_code vol_committed_refer(const vol_file *file, hid_t type, char **out, zb_error *err);

/* The name of a node that is a committed datatype, as far as it has one. NULL also when memory runs
   out. */
char *vol_committed_name(const vol_node *type);

/* A copy of a type that is a committed one of a store, for the caller to drop; -1 for others.
   HDF5's own connector takes the object behind such a type for its own. */
hid_t vol_committed_copy(h5_lib *lib, hid_t type);

/* An id of the committed datatype of that name (NULL: of none), if it is the same as `type`; else a
   copy of `type`. -1 on failure. */
hid_t vol_committed_type(vol_handle *handle, const char *name, hid_t type);

/* Gives what was made with a datatype that had this token, and no path, the name that it has
   got. */
enum zb_code vol_committed_rename(vol_node *type, uint64_t token, zb_error *err);

#endif
