/* SPDX-License-Identifier: MIT */
/*
 * Native objects that stand in for ours.
 *
 * The native connector walks all ids of a process and casts what get_object returns to its own
 * structs, for example when a link of an ordinary .h5 file is moved. Without something native to
 * look at, it would crash while any of our ids is open. So get_object hands out one native object
 * per kind, all in a private file in memory. Because they are real, HDF5's old calls (which h5py
 * uses for listing) accept our objects too, once get_conn_cls says "native" (native_compat).
 *
 * They live from the first to the last open Zarr object of a library, and are made only inside file
 * open: HDF5 asserts a connector property in the call's context.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_HDF5_SHADOWS_H
#define ZARRBRIDGE_HDF5_VOL_HDF5_SHADOWS_H

#include "hdf5/library.h"

/* Makes the library's shadows if there are none; -1 with HDF5's own errors pushed. */
herr_t vol_shadows_make(h5_lib *lib);

void vol_shadows_drop(h5_lib *lib);

/* The stand-in for an object of this type; NULL when there is none (any more). */
void *vol_shadow_of(const h5_lib *lib, H5I_type_t type);

#endif
