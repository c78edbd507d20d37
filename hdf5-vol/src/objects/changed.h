/* SPDX-License-Identifier: MIT */
/* What the file of an object's document tells: its size, and when the object was changed last,
   since Zarr keeps no times. */
#ifndef ZARRBRIDGE_HDF5_VOL_OBJECTS_CHANGED_H
#define ZARRBRIDGE_HDF5_VOL_OBJECTS_CHANGED_H

#include "tree/node.h"

#include "zarrbridge/sys/store.h"

#include <stdbool.h>
#include <time.h>

/* Of a document by its name, as "zarr.json". False where it is not there. For local stores: a
   server would be asked. */
bool vol_document_info(const vol_node *node, const char *document, zb_object_info *out);

/* In seconds, as time(); 0 where the store does not tell, or the node is in no store. */
time_t vol_node_changed(const vol_node *node);

#endif
