/* SPDX-License-Identifier: MIT */
#ifndef ZARRBRIDGE_HDF5_VOL_CREATE_CREATION_LIST_H
#define ZARRBRIDGE_HDF5_VOL_CREATE_CREATION_LIST_H

#include "tree/tree.h"

/* Property of a sharded dataset's creation list: hsize_t[ndim], the shape of a shard. Read it
   with H5Pexist, H5Pget_size and H5Pget; set it with H5Pinsert2 for a new dataset (zeros: no
   shards, whatever the option says). */
#define VOL_SHARD_PROPERTY "zarr:shard_shape"

/* The dataset creation property list that describes an array; borrowed from the node. -1 on
   failure. */
hid_t vol_node_dcpl(vol_node *node);

/* A new list that describes a group, or a file by its root: of the class of either. -1 on
   failure. */
hid_t vol_group_list(vol_node *group, hid_t list_class);

#endif
