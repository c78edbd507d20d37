/* SPDX-License-Identifier: MIT */
/* New arrays of GDAL's multidimensional API. */
#ifndef ZARR3_NEW_MD_ARRAY_H
#define ZARR3_NEW_MD_ARRAY_H

#include "multidim/tree.h"

namespace zarr3 {

/* For GDAL_DMD_MULTIDIM_ARRAY_CREATIONOPTIONLIST and ..._DATASET_...: the options of rasters. */
const char *array_option_list();
const char *dataset_option_list();

/* Null, with an error reported, when the array cannot be had. */
std::shared_ptr<GDALMDArray>
create_md_array(const std::shared_ptr<Tree> &tree, const std::string &group,
                const std::string &name,
                const std::vector<std::shared_ptr<GDALDimension>> &dimensions,
                const GDALExtendedDataType &type, CSLConstList options);

} // namespace zarr3

#endif
