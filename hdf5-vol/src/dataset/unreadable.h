/* SPDX-License-Identifier: MIT */
/*
 * Nodes that cannot be read. HDF5 programs do not expect that of a link: h5netcdf stops at one that
 * leads nowhere, and h5repack copies nothing. So each is shown as a dataset that all of them can
 * read: a scalar, which is a text, the reason. For those who look: a copy that has the text in the
 * place of the data has lost these, and is an error, unless the option `unreadable` asks for it.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_DATASET_UNREADABLE_H
#define ZARRBRIDGE_HDF5_VOL_DATASET_UNREADABLE_H

#include "tree/node.h"

/* The array behind such a dataset, in memory: one element of bytes, which vol_node_type shows as a
   text, and the attribute `zarr:unreadable`. */
enum zb_code vol_unreadable_new(const char *reason, zb_node **out, zb_error *err);

/* Fails with the reason when the node is such a dataset: nothing of it can be changed. */
enum zb_code vol_unreadable_refuse(const vol_node *node, zb_error *err);

/* Fails when it is one, and copies are not to have the text. */
enum zb_code vol_unreadable_refuse_copy(const vol_node *node, zb_error *err);

#endif
