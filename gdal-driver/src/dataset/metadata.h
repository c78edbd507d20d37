/* SPDX-License-Identifier: MIT */
/*
 * Metadata that comes from the store, kept apart from what GDAL's own sidecar (PAM) adds: the
 * sidecar then never holds a copy of attributes that could go stale.
 */
#ifndef ZARR3_METADATA_H
#define ZARR3_METADATA_H

#include <map>
#include <string>

#include "array/nearby_nodes.h"
#include "base/compat.h"
#include "raster/layout.h"

namespace zarr3 {

class MetadataDomains {
  public:
    void set(const std::string &domain, const std::string &name, const std::string &value);
    bool has(const std::string &domain) const;
    const char *item(const std::string &domain, const char *name) const;

    /* Our items of the domain under those of `other`, which win. Valid until the next call for the
       same domain. */
    MetadataList merged(const std::string &domain, CSLConstList other);

    /* Adds our domains to a list that is consumed; the caller frees the result. */
    char **add_names(char **names) const;

    void clear(const std::string &domain) {
        own_.erase(domain);
    }

    CPLStringList &list(const std::string &domain) {
        return own_[domain];
    }

  private:
    std::map<std::string, CPLStringList> own_, merged_;
};

/* Can an attribute of this name be a metadata item? Not where GDAL has a better place for it, and
   not with a ":" or "=" in it. */
bool is_item_name(const std::string &name);

/* Is this attribute of a node shown as a metadata item? */
bool is_item(const zb_node *node, const zb_json *member);

/* Attributes as items of the domain, those left out that GDAL has a better place for. */
void add_attributes(const zb_node *node, const std::string &domain, MetadataDomains *metadata);

/* COMPRESSION, INTERLEAVE and the shape of shards, in IMAGE_STRUCTURE. */
void add_image_structure(const zb_array_info *info, const Layout &layout,
                         MetadataDomains *metadata);

/* DIM_<name>_INDEX, _VALUE, _UNIT and (for CF times) _TIME of one band. */
void add_band_position(const zb_node *array, const Layout &layout, int band, NearbyNodes &around,
                       MetadataDomains *metadata);

/* The band's description: its channel label in OME-NGFF, its place along the extra dimensions, or
   the array's long_name. */
std::string band_description(const zb_node *array, const Layout &layout, int band,
                             NearbyNodes &around);

/* What a band's colour is when no attribute says so: red, green, blue, alpha for three or four
   interleaved bands of bytes, grey for a single band. */
GDALColorInterp default_colour(const zb_node *array, const Layout &layout, int band);

} // namespace zarr3

#endif
