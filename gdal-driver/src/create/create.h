/* SPDX-License-Identifier: MIT */
/* New rasters: empty ones, and copies of others. */
#ifndef ZARR3_CREATE_H
#define ZARR3_CREATE_H

#include <memory>

#include "create/array_plan.h"
#include "create/destination.h"
#include "dataset/dataset.h"

namespace zarr3 {

/* Looks whether the options' array may be made under the name; nothing is touched. */
bool find_destination(const char *name, const CreationOptions &options, Destination *destination,
                      std::string *reason);

/* A group with one array in it, or one more array in a group, open for update, at a destination
   that has been found. Null after an error has been reported. */
std::unique_ptr<Zarr3Dataset> create_raster(Destination *destination, bool aside,
                                            const RasterShape &raster,
                                            const CreationOptions &options);

/* Consolidated metadata of the hierarchy that the destination is in, where the options ask for them;
   later changes keep them current. False after an error has been reported. */
bool consolidate(const Destination &destination, const CreationOptions &options);

/* The driver's Create(). */
GDALDataset *create(const char *name, int width, int height, int bands, GDALDataType type,
                    OptionList options);

/* Reports that a raster cannot be created under the name. */
void refuse_creation(const char *name, const std::string &reason);

} // namespace zarr3

#endif
