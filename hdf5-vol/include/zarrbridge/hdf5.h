/* SPDX-License-Identifier: MIT */
/*
 * What the HDF5 connector offers beyond HDF5's own functions: optional operations, as HDF5 calls
 * them. A program includes this header and links to HDF5 alone.
 *
 * H5Dclose promises what HDF5 promises: written data belong to the file, and are stored, or an
 * error is told, by H5Fflush and H5Fclose at the latest.
 */
#ifndef ZARRBRIDGE_HDF5_H
#define ZARRBRIDGE_HDF5_H

#include <hdf5.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An operation on a dataset of a store: makes it, and the datasets `with`, longer by `count`
   elements, each along its dimension, as zb_array_append does: in one step, behind all that any
   program has appended. All belong to one file. The datasets show their new shape then, and the
   program writes the elements from `start` on, with H5Dwrite; until then they are fill values. What
   other programs append meanwhile is in nobody's way.

       int op;
       zb_hdf5_append append = {.dim = 0, .count = 10};
       H5VL_optional_args_t args = {.args = &append};
       H5VLfind_opt_operation(H5VL_SUBCLS_DATASET, ZB_HDF5_APPEND, &op);
       args.op_type = op;
       H5VLdataset_optional_op(dataset, &args, H5P_DEFAULT, H5ES_NONE);

   (H5VLconnector.h and H5VLconnector_passthru.h declare these functions.) HDF5 knows the operation
   once a store has been opened. Fails, with nothing changed, for files that are no stores, datasets
   without chunks, and beyond a maximal size. */
#define ZB_HDF5_APPEND "zarr:append"

typedef struct zb_hdf5_append {
    hsize_t count;
    hsize_t start; /* the answer: index of the first new element, along the dimension of each */
    unsigned dim;
    unsigned with_count;
    const hid_t *with;        /* [with_count]: further datasets that grow by the same count */
    const unsigned *with_dim; /* [with_count]: their dimensions; NULL: the first of each */
} zb_hdf5_append;

#ifdef __cplusplus
}
#endif
#endif
