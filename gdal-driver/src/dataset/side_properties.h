/* SPDX-License-Identifier: MIT */
/*
 * Properties that GDAL knows and Zarr has no form for: ground control points, colour tables, names
 * of categories, attribute tables, statistics, histograms, metadata of other domains than the
 * default one. GDAL keeps them as XML (PAM) in a sidecar file. An array keeps the same XML in an
 * attribute, so that they go where the store goes.
 */
#ifndef ZARR3_SIDE_PROPERTIES_H
#define ZARR3_SIDE_PROPERTIES_H

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cpl_minixml.h"
#include "gdal.h"

namespace zarr3 {

/* The array's attribute: a string. */
constexpr char kSideProperties[] = "zarrbridge:gdal";

using XmlTree = CPLXMLTreeCloser;

/* True if the items of a metadata domain are a raster's own, and neither derived from its source
   nor kept elsewhere. Not for the default domain. */
bool is_own_domain(const char *domain);

/* True if an item of the default domain tells of the pixels' distribution. */
bool is_statistic(const char *item);

/* The text of an attribute as a tree <PAMDataset>, with the properties above and no others: what
   the store has a form for (CRS, nodata, ...) is not taken from here. Null where there are none. */
XmlTree parse_side_properties(const std::string &text);

/* Takes away what is not one of the properties above, or (with `others`) what is one. */
void keep_side_properties(CPLXMLNode *tree, bool others);

/* GDAL writes ground control points with four decimals of a pixel. Here they get all of their
   digits. */
void write_exact(CPLXMLNode *tree, const GDAL_GCP *points, int count);

/* Leaves the properties of these bands (from 1, ascending), which get numbers from 1 on, and those
   of the dataset. */
void keep_bands(CPLXMLNode *tree, const std::vector<uint64_t> &bands);

/* Takes away the array's statistics, and statistics and histograms of these bands (from 1,
   ascending) or, where none is given, of all. True if there were any. */
bool drop_statistics(CPLXMLNode *tree, const std::vector<uint64_t> &bands);

/* Takes away what puts the rows and columns of a raster on the map: ground control points, rational
   polynomials, geolocation arrays. */
void drop_places(CPLXMLNode *tree);

/* Leaves what explains the values of pixels: colour tables, names of categories and attribute
   tables of bands. That is all that holds for another size of the raster, too. */
void keep_meanings(CPLXMLNode *tree);

/* Takes away the descriptions of bands (from 1) of which `drop` is true. */
void drop_descriptions(CPLXMLNode *tree, const std::function<bool(int)> &drop);

/* Takes away what `known` says, too, word by word. */
void drop_known(CPLXMLNode *tree, const CPLXMLNode *known);

/* True if the tree has elements. */
bool has_content(const CPLXMLNode *tree);

/* "" for a tree without content. */
std::string side_properties_text(const CPLXMLNode *tree);

/* Statistics of all elements of an array, for which the multidimensional API has a call. The
   element is that which GDAL's sidecar files have for arrays. */
struct ArrayStatistics {
    bool approximate;
    double minimum, maximum, mean, deviation;
    uint64_t count; /* of valid elements */
};
std::optional<ArrayStatistics> array_statistics(const CPLXMLNode *tree);
void set_array_statistics(CPLXMLNode *tree, const ArrayStatistics &statistics);
/* True if there were any. */
bool drop_array_statistics(CPLXMLNode *tree);

/* Takes what is said of pixels that were, of an array and of its slices, out of a sidecar file. */
void take_statistics_out_of_sidecar(const std::string &file, const std::string &array);

/* Takes the properties of one subdataset out of a sidecar file, since the store has them. What else
   the file says stays; a file that then says nothing is deleted. */
void take_out_of_sidecar(const std::string &file, const std::string &subdataset);

} // namespace zarr3

#endif
