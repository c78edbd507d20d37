/* SPDX-License-Identifier: MIT */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_TO_HDF5_H
#define ZARRBRIDGE_HDF5_VOL_COPY_TO_HDF5_H

#include "copy/walk.h"

/* H5Ocopy of a node, with what is below it, into a native file. Pushes errors. */
herr_t vol_export_node(vol_node *node, const vol_copy_request *request);

#endif
