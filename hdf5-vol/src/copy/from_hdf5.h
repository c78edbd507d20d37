/* SPDX-License-Identifier: MIT */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_FROM_HDF5_H
#define ZARRBRIDGE_HDF5_VOL_COPY_FROM_HDF5_H

#include "copy/walk.h"
#include "tree/edit.h"

/* An id for the native object called `name`, seen from `from`; -1 with an error pushed. The caller
   drops it with vol_release_id. */
hid_t vol_import_open(const vol_object *from, const H5VL_loc_params_t *from_loc, const char *name,
                      hid_t dxpl);

/* H5Ocopy of such an object to a place in a store, which has been found for the request. Pushes
   errors. *begun (NULL before) is the copy; after an error it is what there is of it, for
   vol_edit_discard, or NULL. */
herr_t vol_import_object(hid_t source, const vol_place *place, const vol_copy_request *request,
                         vol_node **begun);

#endif
