/* SPDX-License-Identifier: MIT */
/* H5Dflush, H5Gflush and H5Oflush are one; so are the calls that refresh. All push errors. */
#ifndef ZARRBRIDGE_HDF5_VOL_CALLBACKS_FLUSH_H
#define ZARRBRIDGE_HDF5_VOL_CALLBACKS_FLUSH_H

#include "model/tree.h"

/* Stores the waiting data of a node and all below it. */
herr_t vol_flush_node(vol_node *node);

/* Shows the changes of other programs (vol_edit_refresh). */
herr_t vol_refresh_node(vol_node *node);

#endif
