/* SPDX-License-Identifier: MIT */
/* The requests of one call. */
#ifndef ZARRBRIDGE_HDF5_VOL_DATA_REQUESTS_H
#define ZARRBRIDGE_HDF5_VOL_DATA_REQUESTS_H

#include "data/transfer.h"

/* All of a call, for which nothing is moved when one of them is not valid. Pushes errors; a failure
   leaves none to be ended. */
herr_t vol_requests_make(h5_lib *lib, const vol_transfer *args, size_t count, const vol_dxpl *list,
                         bool writing, vol_request *out);
void vol_requests_end(h5_lib *lib, vol_request *requests, size_t count);

#endif
