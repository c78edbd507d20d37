/* SPDX-License-Identifier: MIT */
/* When an object was changed last: its document, since Zarr keeps no times. */
#ifndef ZARRBRIDGE_HDF5_VOL_MODEL_CHANGED_H
#define ZARRBRIDGE_HDF5_VOL_MODEL_CHANGED_H

#include "model/node.h"

#include <time.h>

/* In seconds, as time(); 0 where the store does not tell, or the node is in no store. */
time_t vol_node_changed(const vol_node *node);

#endif
