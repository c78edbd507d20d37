/* SPDX-License-Identifier: MIT */
/* New rasters: empty ones, and copies of others. */
#ifndef ZARR3_CREATE_H
#define ZARR3_CREATE_H

#include <memory>

#include "dataset.h"
#include "target.h"

namespace zarr3 {

/* Looks whether the options' array may be made under the name; nothing is touched. */
bool find_target(const char *name, const CreationOptions &options, Target *target,
                 std::string *reason);

/* A group with one array in it, or one more array in a group, open for update, at a target that has
   been found. Null after an error has been reported. */
std::unique_ptr<Zarr3Dataset> create_raster(Target *target, bool aside, const RasterShape &raster,
                                            const CreationOptions &options);

/* The driver's Create(). */
GDALDataset *create(const char *name, int width, int height, int bands, GDALDataType type,
                    OptionList options);

/* The driver's CreateCopy(). copy.cpp */
GDALDataset *create_copy(const char *name, GDALDataset *source, int strict, OptionList options,
                         GDALProgressFunc progress, void *progress_data);

/* Reports that a raster cannot be created under the name. */
void refuse_creation(const char *name, const std::string &reason);

} // namespace zarr3

#endif
