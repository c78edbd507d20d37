/* SPDX-License-Identifier: MIT */
/* Comments of objects, between stores and HDF5 files. Both push errors. */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_COMMENTS_H
#define ZARRBRIDGE_HDF5_VOL_COPY_COMMENTS_H

#include "tree/tree.h"

/* To a native object of that type. */
herr_t vol_comment_to_hdf5(vol_node *node, void *object, H5I_type_t type, hid_t dxpl);

/* From an object of an HDF5 file. Refuses text that is not UTF-8. */
herr_t vol_comment_from_hdf5(hid_t source, vol_node *node);

#endif
