/* SPDX-License-Identifier: MIT */
/* From properties that a program has set to the array's attributes that say so. */
#ifndef ZARR3_EDITS_H
#define ZARR3_EDITS_H

#include <map>
#include <string>

#include "array/attribute_changes.h"
#include "dataset/metadata.h"

class Zarr3Dataset;

namespace zarr3 {

/* The kinds of properties that a program has changed and that the store does not have yet. */
struct Edits {
    bool place = false;       /* CRS or geotransform */
    bool transform = false;   /* the geotransform, which place says, too */
    bool nodata = false;      /* of all bands */
    bool band_nodata = false; /* of bands that differ */
    bool metadata = false;    /* the default domain's items of the dataset */
    bool descriptions = false, units = false, scales = false, colours = false; /* of bands */
    bool band_metadata = false;
    bool side_properties = false; /* side_properties.h */

    bool any() const {
        return place || nodata || band_nodata || metadata || descriptions || units || scales ||
               colours || band_metadata || side_properties;
    }
};

/* Metadata items that have a place in the store, by name. */
using Items = std::map<std::string, std::string>;
Items items_of(const zb_node *node, MetadataDomains *metadata);

/* From the items that were `known` to those that are there `now`. Items that other programs have
   written since stay. New ones are text, unless they are numbers in `source` (NULL: none), an array
   from which they have been copied. */
void collect_items(const zb_node *node, const zb_node *source, const Items &known, const Items &now,
                   AttributeChanges *changes);

/* The properties of bands, and only those that its edits have: an array may have 65536 bands. */
void collect_bands(Zarr3Dataset *raster, AttributeChanges *changes);

} // namespace zarr3

#endif
