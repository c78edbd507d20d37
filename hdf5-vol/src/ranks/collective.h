/* SPDX-License-Identifier: MIT */
/*
 * The callbacks that all ranks of a file call together (hdf5/mpi.h), between watched.h and
 * classes.h. Each is one turn: what all need is stored, rank 0 acts, all hear of its success or
 * its error, the others look at what it has made (tree/follow.h), and all agree on one verdict,
 * so that a call succeeds on all ranks or fails on all with the same error. Files that are open by
 * one process, and native ones, pass through.
 *
 * HDF5 has programs make these calls on all ranks. A rank that does not make one leaves the others
 * waiting, as with HDF5's own files. All other callbacks are each rank's own: reading and writing
 * elements, and questions. Attributes are changed by all ranks in memory. vol_may_change (object.h)
 * fails on a rank that follows, so that a change of the store which is not among these is found.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_RANKS_COLLECTIVE_H
#define ZARRBRIDGE_HDF5_VOL_RANKS_COLLECTIVE_H

#include "callbacks/classes.h"

void *vol_collective_file_create(h5_lib *lib, const char *name, unsigned flags, hid_t fcpl,
                                 hid_t fapl, hid_t dxpl, void **req);
void *vol_collective_file_open(h5_lib *lib, const char *name, unsigned flags, hid_t fapl,
                               hid_t dxpl, void **req);
/* Flushing is a barrier: afterwards each rank sees what the others have written. */
herr_t vol_collective_file_specific(h5_lib *lib, void *obj, H5VL_file_specific_args_t *args,
                                    hid_t dxpl, void **req);
/* So is closing. Where it fails on one rank the id is left over on all, to be closed alone. */
herr_t vol_collective_file_close(void *obj, hid_t dxpl, void **req);

void *vol_collective_dataset_create(void *obj, const H5VL_loc_params_t *loc, const char *name,
                                    hid_t lcpl, hid_t type, hid_t space, hid_t dcpl, hid_t dapl,
                                    hid_t dxpl, void **req);
herr_t vol_collective_dataset_specific(void *obj, H5VL_dataset_specific_args_t *args, hid_t dxpl,
                                       void **req);
void *vol_collective_group_create(void *obj, const H5VL_loc_params_t *loc, const char *name,
                                  hid_t lcpl, hid_t gcpl, hid_t gapl, hid_t dxpl, void **req);
void *vol_collective_datatype_commit(void *obj, const H5VL_loc_params_t *loc, const char *name,
                                     hid_t type, hid_t lcpl, hid_t tcpl, hid_t tapl, hid_t dxpl,
                                     void **req);
herr_t vol_collective_link_create(H5VL_link_create_args_t *args, void *obj,
                                  const H5VL_loc_params_t *loc, hid_t lcpl, hid_t lapl, hid_t dxpl,
                                  void **req);
herr_t vol_collective_link_copy(void *source, const H5VL_loc_params_t *source_loc, void *target,
                                const H5VL_loc_params_t *target_loc, hid_t lcpl, hid_t lapl,
                                hid_t dxpl, void **req);
herr_t vol_collective_link_move(void *source, const H5VL_loc_params_t *source_loc, void *target,
                                const H5VL_loc_params_t *target_loc, hid_t lcpl, hid_t lapl,
                                hid_t dxpl, void **req);
herr_t vol_collective_link_specific(void *obj, const H5VL_loc_params_t *loc,
                                    H5VL_link_specific_args_t *args, hid_t dxpl, void **req);
herr_t vol_collective_object_copy(void *source, const H5VL_loc_params_t *source_loc,
                                  const char *source_name, void *target,
                                  const H5VL_loc_params_t *target_loc, const char *target_name,
                                  hid_t ocpypl, hid_t lcpl, hid_t dxpl, void **req);

#endif
