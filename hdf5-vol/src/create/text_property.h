/* SPDX-License-Identifier: MIT */
/* Properties of creation lists that are JSON text, with or without a NUL at its end. */
#ifndef ZARRBRIDGE_HDF5_VOL_CREATE_TEXT_PROPERTY_H
#define ZARRBRIDGE_HDF5_VOL_CREATE_TEXT_PROPERTY_H

#include "hdf5/library.h"
#include "zarrbridge/zarrbridge.h"

/* The text, malloc'ed; *out is NULL where the list has none. */
enum zb_code vol_text_property_read(h5_lib *lib, hid_t dcpl, const char *name, char **out,
                                    zb_error *err);

void vol_text_property_add(h5_lib *lib, hid_t dcpl, const char *name, char *text);

#endif
