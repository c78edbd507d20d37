/* SPDX-License-Identifier: MIT */
/* New multidimensional datasets: empty ones, and copies. */
#ifndef ZARR3_MD_CREATE_H
#define ZARR3_MD_CREATE_H

#include "base/compat.h"

namespace zarr3 {

/* For pfnCreateMultiDimensional. */
GDALDataset *create_multidimensional(const char *name, CSLConstList root_group_options,
                                     CSLConstList options);

/* Opened by the multidimensional API, without bands. */
bool is_multidimensional(GDALDataset *source);

/* CreateCopy() of such a dataset. A store that is there is replaced when the copy is complete. */
GDALDataset *copy_multidimensional(const char *name, GDALDataset *source, int strict,
                                   CSLConstList options, GDALProgressFunc progress,
                                   void *progress_data);

} // namespace zarr3

#endif
