/* SPDX-License-Identifier: MIT */
/* Opening stores: from the name of a file (names.h) to a vol_handle. */
#ifndef ZARRBRIDGE_HDF5_VOL_FILE_HANDLE_H
#define ZARRBRIDGE_HDF5_VOL_FILE_HANDLE_H

#include "tree/tree.h"

/* Opens a store, or a node inside one, as a file. Closed with vol_handle_release. */
enum zb_code vol_handle_open(h5_lib *lib, const char *path, const vol_options *options,
                             bool writable, vol_handle **out, zb_error *err);

/* The same for a node of a store that is open and prepared, for writing; the store is retained. The
   path is the one that the node will have. */
enum zb_code vol_handle_adopt(h5_lib *lib, const char *path, const vol_options *options,
                              zb_hierarchy *hierarchy, const char *node, vol_handle **out,
                              zb_error *err);

/* Another handle of the same kind on the same file. */
enum zb_code vol_handle_again(const vol_handle *handle, vol_handle **out, zb_error *err);

/* The handle is one that all of these ranks have; fapl: the access list that the program has given.
   Takes the ranks over, also after an error. Collective. */
enum zb_code vol_handle_join(vol_handle *handle, h5_ranks *ranks, hid_t fapl, zb_error *err);

vol_handle *vol_handle_retain(vol_handle *handle);
void vol_handle_release(vol_handle *handle);

#endif
