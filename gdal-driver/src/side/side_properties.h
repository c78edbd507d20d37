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
#include <string>
#include <vector>

#include "array/attribute_changes.h"
#include "array/attributes.h"
#include "base/compat.h"
#include "side/xml.h"

namespace zarr3 {

/* The element of a tree for statistics of the whole array: array_statistics.h. */
constexpr char kArrayStatistics[] = "Statistics";

/* Those of an array; null where there are none. */
XmlTree side_properties_of(const zb_node *array);

/* fn changes those that the store has when the change is made (null: none), and may be called more
   than once; without content the array then has none. False from fn: they stay as they are. */
void change_side_properties(AttributeChanges *changes, const std::function<bool(XmlTree *)> &fn);

/* A tree without any. */
XmlTree no_side_properties();

/* The element of a band, and its number, from 1. */
bool is_band(const CPLXMLNode *node);
uint64_t band_of(const CPLXMLNode *node);

/* Lists of items that are a program's own; texts (xml:, json:) have no items. */
bool is_item_list(const CPLXMLNode *node);

/* True if the items of a metadata domain are a raster's own, and neither derived from its source
   nor kept elsewhere. Not for the default domain. */
bool is_own_domain(const char *domain);

/* True if an item of the default domain tells of the pixels' distribution. Programs may give no
   name. */
bool is_statistic(const char *item);

/* The text of an attribute as a tree <PAMDataset>, with the properties above and no others: what
   the store has a form for (CRS, nodata, ...) is not taken from here. Null where there are none. */
XmlTree parse_side_properties(const std::string &text);

/* Takes away what is not one of the properties above, or (with `others`) what is one. */
void keep_side_properties(CPLXMLNode *tree, bool others);

/* GDAL writes ground control points with four decimals of a pixel, ends names of items at colons,
   and reads no value that is empty or begins with blanks. Here points get all of their digits, and
   items their names and, in the attribute "value", such values. All texts become UTF-8. */
void write_exact(CPLXMLNode *tree, GDALDataset *dataset);

/* Items as write_exact() has written them, which GDAL has read in its way. */
void read_exact(const CPLXMLNode *tree, GDALDataset *dataset);

/* Leaves the properties of these bands (from 1, ascending), which get numbers from 1 on, and those
   of the dataset. */
void keep_bands(CPLXMLNode *tree, const std::vector<uint64_t> &bands);

/* Takes away the array's statistics, and statistics and histograms of these bands (from 1,
   ascending) or, where none is given, of all. True if there were any. No tree has none. */
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

/* "" for a tree without content. */
std::string side_properties_text(const CPLXMLNode *tree);

} // namespace zarr3

#endif
