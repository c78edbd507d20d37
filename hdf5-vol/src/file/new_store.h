/* SPDX-License-Identifier: MIT */
/* Creating and deleting stores by the names of files. */
#ifndef ZARRBRIDGE_HDF5_VOL_FILE_NEW_STORE_H
#define ZARRBRIDGE_HDF5_VOL_FILE_NEW_STORE_H

#include "file/handle.h"

/* Creates a store with an empty root group, or a group inside a store. Anything at the path already
   is an error, unless `truncate` is set and it is a Zarr node or, in the place of a store, an empty
   file, which go, or an empty directory. attributes: those of the group, a JSON object as text, or
   NULL. */
enum zb_code vol_store_create(h5_lib *lib, const char *path, const vol_options *options,
                              bool truncate, const char *attributes, vol_handle **out,
                              zb_error *err);

/* Erases the Zarr node at path, with all below it; a directory in which nothing is left goes,
   too. */
enum zb_code vol_store_delete(h5_lib *lib, const char *path, const vol_options *options,
                              zb_error *err);

#endif
