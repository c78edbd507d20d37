/* SPDX-License-Identifier: MIT */
/* The arrays beside a raster that CF puts its place on the map into. */
#ifndef ZARR3_CF_GROUP_H
#define ZARR3_CF_GROUP_H

#include <vector>

#include "array/attribute_changes.h"
#include "geo/affine.h"
#include "geo/uses_below.h"
#include "ogr_spatialref.h"
#include "raster/layout.h"

namespace zarr3 {

/* The names of arrays that are written beside an array: those that no other array has a use for,
   and those that the first array that needs them brings along. */
std::vector<std::string> own_helpers(const std::string &array);
std::vector<std::string> shared_helpers();

/* Upright rasters have coordinates of columns ('X') and rows ('Y'). */
bool has_coordinates(const GeoTransform &transform);
std::vector<double> axis_values(char axis, uint64_t extent, const GeoTransform &transform);

/* True if the array only says where rows or columns lie. */
bool is_coordinate(const zb_node *node, const std::string &name);

/* True if a coordinate array holds these values, in the unit that the CRS (or NULL) would give
   them. */
bool says_same(const zb_node *coordinate, const std::vector<double> &values,
               const OGRSpatialReference *srs);

/* The group that holds a raster's array. */
class CfGroup {
  public:
    /* Looks at the arrays of the group. */
    enum zb_code open(const NodePtr &array, zb_error *err);

    /* The variable with the CRS and the geotransform (either may be null), and the array's
       attribute that names it. Without both of them neither is kept. */
    enum zb_code write_grid_mapping(const OGRSpatialReference *srs, const GeoTransform *transform,
                                    AttributeChanges *changes, zb_error *err);

    /* The coordinates of rows and columns. Without a transform, or with a rotated one, they go. */
    enum zb_code write_coordinates(const Layout &layout, const OGRSpatialReference *srs,
                                   const GeoTransform *transform, zb_error *err);

    /* An error where the raster would keep its place without a geotransform, by coordinates that
       serve other arrays, too. */
    enum zb_code may_unset(const Layout &layout, zb_error *err) const;

    /* True if other arrays of the group, or below it, depend on the array of this name. */
    bool serves_others(const std::string &name) const;

  private:
    struct Neighbour {
        NodePtr node;
        std::string name;
    };
    const Neighbour *find(const std::string &name) const;
    enum zb_code write_no_grid_mapping(const std::string &before, AttributeChanges *changes,
                                       zb_error *err);
    static bool defines(const Neighbour *there, const std::string &attributes);
    bool is_used_below(const Neighbour &other, const ArrayTest &uses) const;
    bool has_other_rasters() const;
    bool is_own(const std::string &name) const;
    bool is_shared_mapping(const std::string &name) const;
    bool is_shared_dimension(const std::string &name) const;
    enum zb_code remove(const std::string &name, zb_error *err);
    enum zb_code put(const std::string &name, const std::vector<double> *values,
                     const std::string &attributes, zb_error *err);

    NodePtr array_;
    std::string path_; /* of the group */
    std::vector<Neighbour> others_;
    std::vector<std::string> levels_; /* paths, of the array's pyramid */
};

} // namespace zarr3

#endif
