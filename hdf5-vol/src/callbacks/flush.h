/* SPDX-License-Identifier: MIT */
/* H5Dflush, H5Gflush and H5Oflush are one; so are the calls that refresh. All push errors. */
#ifndef ZARRBRIDGE_HDF5_VOL_CALLBACKS_FLUSH_H
#define ZARRBRIDGE_HDF5_VOL_CALLBACKS_FLUSH_H

#include "objects/object.h"

/* Stores the waiting data of a node and all below it, and then calls the function of the object's
   access list (H5Pset_object_flush_cb) with the id that the program has flushed. */
herr_t vol_flush_object(const vol_object *object, vol_node *node, hid_t id);

/* Shows the changes of other programs (vol_edit_refresh). */
herr_t vol_refresh_node(vol_node *node);

#endif
