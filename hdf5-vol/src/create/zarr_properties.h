/* SPDX-License-Identifier: MIT */
/*
 * What HDF5 has no property for and Zarr needs: properties of our own in creation lists, "zarr:..."
 * by name, which programs set with H5Pinsert2 and read with H5Pexist, H5Pget_size and H5Pget. The
 * one of codecs is in pipeline.h.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_CREATE_ZARR_PROPERTIES_H
#define ZARRBRIDGE_HDF5_VOL_CREATE_ZARR_PROPERTIES_H

#include "create/spec.h"
#include "hdf5/library.h"

#include "zarrbridge/zarrbridge.h"

/* ---- Properties that are JSON text, with or without a NUL at its end ---- */

/* The text, malloc'ed; *out is NULL where the list has none. */
enum zb_code vol_text_property_read(h5_lib *lib, hid_t dcpl, const char *name, char **out,
                                    zb_error *err);

void vol_text_property_add(h5_lib *lib, hid_t dcpl, const char *name, char *text);

/* ---- Shards ---- */

/* hsize_t[ndim], the shape of a shard (for a new dataset also zeros: no shards, whatever the option
   says). */
#define VOL_SHARD_PROPERTY "zarr:shard_shape"

/* Takes the property, which the list has, into the spec; *sharded tells whether it asks for
   shards. */
enum zb_code vol_shards_take(h5_lib *lib, hid_t dcpl, vol_spec *out, bool *sharded, zb_error *err);

/* Adds the property for an existing array that has shards. */
void vol_shards_add(h5_lib *lib, hid_t dcpl, const zb_array_info *info);

/* ---- Keys of chunks ---- */

/* JSON text, as zb_array_spec.key_encoding takes it. Lists of opened arrays have it where it is not
   the usual one. */
#define VOL_KEYS_PROPERTY "zarr:chunk_key_encoding"

enum zb_code vol_keys_take(h5_lib *lib, hid_t dcpl, const vol_options *options, vol_spec *out,
                           zb_error *err);
void vol_keys_add(h5_lib *lib, hid_t dcpl, const zb_node *array);

/* ---- Chunks of several extents ---- */

/* A row of hsize_t: for each dimension the number of its runs, then an extent and a count for each
   run. 0 runs: the chunks of the dimension have one extent. */
#define VOL_RUNS_PROPERTY "zarr:chunk_runs"

/* Takes the property, if the list has one, into the spec. */
enum zb_code vol_runs_take(h5_lib *lib, hid_t dcpl, vol_spec *out, zb_error *err);

/* Adds the property for an existing array that has such chunks. */
void vol_runs_add(h5_lib *lib, hid_t dcpl, const zb_node *array);

#endif
