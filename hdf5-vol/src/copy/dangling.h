/* SPDX-License-Identifier: MIT */
/* Links of HDF5 files that lead nowhere, told from those whose target is there and cannot be
   opened: HDF5's answer is the same for both where a file of an external link fails. */
#ifndef ZARRBRIDGE_HDF5_VOL_COPY_DANGLING_H
#define ZARRBRIDGE_HDF5_VOL_COPY_DANGLING_H

#include "hdf5/library.h"

/* Whether a soft or external link in a group, which could not be followed, leads nowhere: a part of
   its path, or its file, is missing. Circles and what cannot be read do not count as that. */
bool vol_link_dangles(h5_lib *lib, hid_t group, const char *name);

#endif
