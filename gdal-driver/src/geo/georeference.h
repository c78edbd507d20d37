/* SPDX-License-Identifier: MIT */
/* Writing where a raster lies, in all forms that readers look for. */
#ifndef ZARR3_GEOREFERENCE_H
#define ZARR3_GEOREFERENCE_H

#include <optional>

#include "array/attribute_changes.h"
#include "array/place.h"
#include "geo/crs.h"
#include "geo/geotransform.h"

namespace zarr3 {

/* Collects the attributes of the array, and writes the arrays beside it (grid mapping, coordinates)
   where its group lets us. */
enum zb_code write_georeference(const NodePtr &array, const Layout &layout,
                                const Georeference &georeference, AttributeChanges *changes,
                                zb_error *err);

/* The same for a raster of which only a part may have been set. Without a transform, coordinate
   arrays may still be there, of any spacing: they go only where the transform has been `unset`. */
enum zb_code write_changed_georeference(const NodePtr &array, const Layout &layout,
                                        const Georeference &georeference, bool unset,
                                        AttributeChanges *changes, zb_error *err);

/* The same for the CRS alone, without a word about the place: for arrays that are more than
   rasters. Without a CRS its forms go. */
enum zb_code write_crs(const NodePtr &array, const std::optional<OGRSpatialReference> &srs,
                       AttributeChanges *changes, zb_error *err);

/* What the array's own attributes say of its place, for an array that gets other numbers of rows
   and columns at its ends (`width`, `height`). What did not hold for the old ones goes. */
void resize_place(const zb_node *array, const Layout &layout, int width, int height,
                  AttributeChanges *changes);

/* Takes away a place that states other rows and columns than the array has. */
void drop_foreign_place(const zb_node *array, const Layout &layout, AttributeChanges *changes);

} // namespace zarr3

#endif
