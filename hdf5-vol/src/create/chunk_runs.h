/* SPDX-License-Identifier: MIT */
/*
 * Chunks of several extents as a property of a creation list, which is a row of hsize_t: for each
 * dimension the number of its runs, then an extent and a count for each run. 0 runs: the chunks of
 * the dimension have one extent.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_CREATE_CHUNK_RUNS_H
#define ZARRBRIDGE_HDF5_VOL_CREATE_CHUNK_RUNS_H

#include "create/spec.h"

#define VOL_RUNS_PROPERTY "zarr:chunk_runs"

/* Takes the property, if the list has one, into the spec. */
enum zb_code vol_runs_take(h5_lib *lib, hid_t dcpl, vol_spec *out, zb_error *err);

/* Adds the property for an existing array that has such chunks. */
void vol_runs_add(h5_lib *lib, hid_t dcpl, const zb_node *array);

#endif
