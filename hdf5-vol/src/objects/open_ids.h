/* SPDX-License-Identifier: MIT */
/*
 * Ids and the objects behind them: the class by which HDF5 wraps and unwraps objects, the ids that
 * are open, and closing them when HDF5 shuts down.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_OBJECTS_OPEN_IDS_H
#define ZARRBRIDGE_HDF5_VOL_OBJECTS_OPEN_IDS_H

#include "objects/object.h"

/* Prepares the library (h5_lib_start), or only watches it (h5_lib_watch), with our shutdown
   routine. */
void vol_start(h5_lib *lib);
void vol_watch(h5_lib *lib);

/* Our object behind an id, which may be one of an ordinary file; NULL for others. Changes the error
   stack. */
const vol_object *vol_object_of_id(h5_lib *lib, hid_t id);

/* Counts the open ids of the object's file whose type is in `types` (H5F_OBJ_...), and stores up
   to max of them when ids is not NULL. */
size_t vol_object_ids(const vol_object *object, unsigned types, size_t max, hid_t *ids);

/* Whether the program has another file open, of a store or not, into which it can write. */
bool vol_object_another_is_written(const vol_object *object);

/* Closes the ids of the object's handle but those of files: H5F_CLOSE_STRONG. */
void vol_object_close_all(const vol_object *object);

extern const H5VL_wrap_class_t vol_wrap_class;

#endif
