/* SPDX-License-Identifier: MIT */
/*
 * H5Dread and H5Dwrite of strings, and of bytes of any number, which are texts here. Each piece is
 * read with its bytes in memory of ours, and put into HDF5's form; or taken from HDF5's form where
 * it lies, which the core copies.
 *
 * With a transfer list of the program's own, the elements in HDF5's form go through HDF5 once more
 * (transfer_list.h): that is how its memory manager, and whatever else is in the list, acts.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_DATA_STRINGS_H
#define ZARRBRIDGE_HDF5_VOL_DATA_STRINGS_H

#include "data/transfer.h"

/* Serve a request on a dataset of strings, of some elements. They push errors; a read that fails
   leaves no text for the program to free. */
herr_t vol_read_strings(h5_lib *lib, const vol_request *request);
herr_t vol_write_strings(h5_lib *lib, const vol_request *request);

/* Looks at all text of a write that becomes code points (code_points.h). Pushes an error for what
   the store does not take. */
herr_t vol_look_at_strings(h5_lib *lib, const vol_request *request);

/* Adds the bytes at which the elements of a read point (H5Dvlen_get_buf_size). Pushes errors. */
herr_t vol_strings_size(h5_lib *lib, const vol_request *request, hsize_t *bytes);

#endif
