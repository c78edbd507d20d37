/* SPDX-License-Identifier: MIT */
/*
 * Datasets of HDF5 files that stay where they are: the array of the copy has one shard, and that is
 * the file, with an index of the dataset's chunks at its end (zarrbridge/file_shard.h). So asks the
 * option shards=file of a store; `zarrbridge index` is a program for it.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_ENCODED_INDEXED_H
#define ZARRBRIDGE_HDF5_VOL_ENCODED_INDEXED_H

#include "create/spec.h"
#include "tree/node.h"

/* Gives the array that was described for a dataset of this type and creation list the chunks of
   the file. ZB_EUNSUPPORTED, with the reason, where they are no inner chunks of Zarr. */
enum zb_code vol_indexed_describe(h5_lib *lib, hid_t type, hid_t dcpl, vol_spec *spec,
                                  zb_error *err);

/* Lets the file of the open dataset be the shard of the node's array. Pushes errors. */
herr_t vol_indexed_take(h5_lib *lib, hid_t dxpl, hid_t source, vol_node *node);

#endif
