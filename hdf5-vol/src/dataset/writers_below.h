/* SPDX-License-Identifier: MIT */
/* What waits of a node and of all below it: data (writers.h), and attributes (waiting.h). */
#ifndef ZARRBRIDGE_HDF5_VOL_DATASET_WRITERS_BELOW_H
#define ZARRBRIDGE_HDF5_VOL_DATASET_WRITERS_BELOW_H

#include "tree/node.h"

/* Stores it. */
enum zb_code vol_writer_flush_below(vol_node *node, zb_error *err);

/* Stores it, and frees the writers on success. */
enum zb_code vol_writer_close_below(vol_node *node, zb_error *err);

/* Forgets it. */
void vol_writer_abandon_below(vol_node *node);

#endif
