/* SPDX-License-Identifier: MIT */
/* The encoding of chunk keys as a property of a creation list: JSON text, as
   zb_array_spec.key_encoding takes it. Lists of opened arrays have it where it is not the usual
   one. */
#ifndef ZARRBRIDGE_HDF5_VOL_CREATE_CHUNK_KEYS_H
#define ZARRBRIDGE_HDF5_VOL_CREATE_CHUNK_KEYS_H

#include "create/spec.h"

#define VOL_KEYS_PROPERTY "zarr:chunk_key_encoding"

enum zb_code vol_keys_take(h5_lib *lib, hid_t dcpl, const vol_options *options, vol_spec *out,
                           zb_error *err);
void vol_keys_add(h5_lib *lib, hid_t dcpl, const zb_node *array);

#endif
