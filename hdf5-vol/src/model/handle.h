/* SPDX-License-Identifier: MIT */
/* Opening and creating stores: from a path to a vol_handle. */
#ifndef ZARRBRIDGE_HDF5_VOL_MODEL_HANDLE_H
#define ZARRBRIDGE_HDF5_VOL_MODEL_HANDLE_H

#include "model/tree.h"

/* True when path names a Zarr node: a directory with a zarr.json (one system call), or with a
   document of version 2. */
bool vol_path_is_zarr(const char *path);

/* The path of the node whose document a path names, as x.zarr of x.zarr/zarr.json: the document is a
   regular file, for programs that insist on one. Any other path as it is. malloc'ed; NULL without
   memory. */
char *vol_path_without_document(const char *path);

/* Tries to open what is there as a store, for the error. */
enum zb_code vol_path_look(const char *path, zb_error *err);

/* Whether a file of this name becomes a store when it is created: its name ends in ".zarr", or it
   would lie inside a store. */
bool vol_path_becomes_zarr(const char *path);

/* Opens a store, or a node inside one, as a file. Closed with vol_handle_release. */
enum zb_code vol_handle_open(h5_lib *lib, const char *path, const vol_options *options,
                             bool writable, vol_handle **out, zb_error *err);

/* Creates a store with an empty root group, or a group inside a store. Anything at the path already
   is an error, unless `truncate` is set and it is a Zarr node or an empty file, which go, or an
   empty directory. attributes: those of the group, a JSON object as text, or NULL. */
enum zb_code vol_handle_create(h5_lib *lib, const char *path, const vol_options *options,
                               bool truncate, const char *attributes, vol_handle **out,
                               zb_error *err);

/* Erases the Zarr node at path, with all below it; a directory in which nothing is left goes, too.
 */
enum zb_code vol_path_delete(h5_lib *lib, const char *path, zb_error *err);

/* Another handle of the same kind on the same file. */
enum zb_code vol_handle_again(const vol_handle *handle, vol_handle **out, zb_error *err);

vol_handle *vol_handle_retain(vol_handle *handle);
void vol_handle_release(vol_handle *handle);

#endif
