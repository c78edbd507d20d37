/* SPDX-License-Identifier: MIT */
/* New rasters from datasets of any driver. */
#ifndef ZARR3_CREATE_COPY_H
#define ZARR3_CREATE_COPY_H

#include "base/compat.h"

namespace zarr3 {

/* The driver's CreateCopy(). */
GDALDataset *create_copy(const char *name, GDALDataset *source, int strict, OptionList options,
                         GDALProgressFunc progress, void *progress_data);

} // namespace zarr3

#endif
