/* SPDX-License-Identifier: MIT */
/*
 * Sequences (H5T_VLEN) whose items are of one type in the store and of another in memory: HDF5
 * converts the items of each element. Where both types are the same, nothing is done here.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_DATA_ITEMS_H
#define ZARRBRIDGE_HDF5_VOL_DATA_ITEMS_H

#include "data/transfer.h"

/* Converts the items of `count` elements (hvl_t, of malloc'ed memory, which may move). After a
   failure each element still owns its memory. Both push errors. */
herr_t vol_items_to_memory(h5_lib *lib, const vol_request *request, void *elements, size_t count);

/* Puts slices of converted items in place of the program's. To be freed with vol_items_free, also
   after a failure. */
herr_t vol_items_to_store(h5_lib *lib, const vol_request *request, zb_slice *slices, size_t count);
void vol_items_free(const vol_request *request, zb_slice *slices, size_t count);

#endif
