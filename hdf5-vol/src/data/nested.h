/* SPDX-License-Identifier: MIT */
/*
 * H5Dread and H5Dwrite of elements that point at others or hold references, which are texts in the
 * store (attributes/elements.h). All elements of a call are in memory at once: then they are
 * elements of the dataset's own type, and HDF5 converts these from and to the program's.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_DATA_NESTED_H
#define ZARRBRIDGE_HDF5_VOL_DATA_NESTED_H

#include "data/transfer.h"

/* Serve a request on a dataset of such elements, of some elements. They push errors; a read that
   fails leaves nothing for the program to free. */
herr_t vol_read_nested(h5_lib *lib, const vol_request *request);
herr_t vol_write_nested(h5_lib *lib, const vol_request *request);

/* Whether the types of a request of no elements convert. Pushes errors. */
herr_t vol_nested_check(h5_lib *lib, const vol_request *request);

/* Adds the bytes at which the elements of a read point (H5Dvlen_get_buf_size). Pushes errors. */
herr_t vol_nested_size(h5_lib *lib, const vol_request *request, hsize_t *bytes);

#endif
