/* SPDX-License-Identifier: MIT */
/* Property lists that programs pass. HDF5 hands their ids to connectors unchecked. */
#ifndef ZARRBRIDGE_HDF5_VOL_HDF5_PROPERTY_LISTS_H
#define ZARRBRIDGE_HDF5_VOL_HDF5_PROPERTY_LISTS_H

#include "hdf5/library.h"

/* Whether an id is a property list of the class, or stands for the default one. Pushes an error and
   returns false otherwise. */
bool vol_list_check(h5_lib *lib, hid_t list, hid_t class);

#endif
