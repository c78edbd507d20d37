/* SPDX-License-Identifier: MIT */
/* New rasters: empty ones, and copies of others. */
#ifndef ZARR3_CREATE_H
#define ZARR3_CREATE_H

#include <memory>

#include "create/array_plan.h"
#include "create/destination.h"
#include "dataset/dataset.h"
#include "store/complete.h"

namespace zarr3 {

/* Looks whether the options' array may be made under the name; nothing is touched. */
bool find_destination(const char *name, const CreationOptions &options, Destination *destination,
                      std::string *reason);

/* A group with one array in it, or one more array in a group, open for update, at a destination
   that has been found. Null after an error has been reported. */
std::unique_ptr<Zarr3Dataset> create_raster(Destination *destination, bool staging,
                                            const RasterShape &raster,
                                            const CreationOptions &options);

/* The name that opens the new raster and no others of its store. */
std::string name_in_store(const Destination &destination, const CreationOptions &options);

/* What the options say of consolidated metadata; where they say nothing, a hierarchy that has other
   nodes stays as it is. */
Consolidate consolidation(const Destination &destination, const CreationOptions &options);

/* The driver's Create(). */
GDALDataset *create(const char *name, int width, int height, int bands, GDALDataType type,
                    OptionList options);

/* Reports that a raster cannot be created under the name. */
void refuse_creation(const char *name, const std::string &reason);

} // namespace zarr3

#endif
