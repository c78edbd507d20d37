/* SPDX-License-Identifier: MIT */
/*
 * Datasets and committed datatypes that are deleted while they have ids. HDF5 keeps them until the
 * last id goes, Zarr has no place for them: a copy in memory takes the node's place, arrays chunk
 * by chunk as they were stored. Those of one file take at most the limit write_cache_bytes; ids of
 * other datasets give errors.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_DATASET_DELETED_H
#define ZARRBRIDGE_HDF5_VOL_DATASET_DELETED_H

#include "tree/tree.h"

typedef struct vol_deleted vol_deleted;

/* Copies the datasets and types that have ids, of a node that is about to be deleted and all below
   it. NULL when there are none. Waiting data and attributes of those are stored. What cannot be
   copied is left out. */
vol_deleted *vol_deleted_keep(vol_node *top);

/* Ends that: the node has been deleted, and the copies take their places; or it has not, and they
   go. */
void vol_deleted_end(vol_deleted *list, bool deleted);

/* The last id of a dataset is going: memory that only it could reach is given back. */
void vol_deleted_forget(vol_node *dataset);

/* Whether another program has replaced a dataset, by which a read or write has failed: it gives its
   name up then, so that opening it again, which is what the errors say to do, leads to the new one.
   Its ids go on leading to what has gone; data that wait for it are lost, which is told. */
bool vol_dataset_gives_way(vol_node *dataset);

#endif
