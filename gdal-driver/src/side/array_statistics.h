/* SPDX-License-Identifier: MIT */
/* Statistics of all elements of an array, among its side properties. */
#ifndef ZARR3_ARRAY_STATISTICS_H
#define ZARR3_ARRAY_STATISTICS_H

#include <cstdint>
#include <optional>

#include "side/xml.h"

namespace zarr3 {

/* The multidimensional API has a call for them. The element is that which GDAL's sidecar files have
   for arrays. */
struct ArrayStatistics {
    bool approximate;
    double minimum, maximum, mean, deviation;
    uint64_t count; /* of valid elements */
};
std::optional<ArrayStatistics> array_statistics(const CPLXMLNode *tree);
/* Makes a tree where there is none. */
void set_array_statistics(XmlTree *tree, const ArrayStatistics &statistics);
/* True if there were any. */
bool drop_array_statistics(CPLXMLNode *tree);

} // namespace zarr3

#endif
