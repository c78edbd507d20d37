/* SPDX-License-Identifier: MIT */
/* Storing the changes of attributes that wait. */
#ifndef ZARRBRIDGE_HDF5_VOL_TREE_WAITING_STORE_H
#define ZARRBRIDGE_HDF5_VOL_TREE_WAITING_STORE_H

#include "tree/waiting.h"

/* Stores what waits for a node. */
enum zb_code vol_waiting_flush(vol_node *node, zb_error *err);

#endif
