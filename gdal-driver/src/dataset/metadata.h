/* SPDX-License-Identifier: MIT */
/*
 * Metadata that comes from the store, kept apart from what GDAL's own sidecar (PAM) adds: the
 * sidecar then never holds a copy of attributes that could go stale.
 */
#ifndef ZARR3_METADATA_H
#define ZARR3_METADATA_H

#include <map>
#include <string>

#include "base/compat.h"
#include "base/name_values.h"
#include "raster/layout.h"

namespace zarr3 {

/* Items keep their order, that of the document. (GDAL's own class for this sorts them.) */
class MetadataDomains {
  public:
    /* Replaces all items of the domain; NULL removes it. */
    void set(const char *domain, CSLConstList items);
    void set(const char *domain, const char *name, const char *value) {
        set_item(&own_[domain], name, value);
    }

    /* NULL where the domain has none. */
    MetadataList items(const char *domain);
    const char *item(const char *domain, const char *name);

    /* Our items of the domain under those of `other`, which win. Valid until the next call for the
       same domain. */
    MetadataList merged(const char *domain, CSLConstList other);

    /* Adds our domains to a list that is consumed; the caller frees the result. */
    char **add_names(char **names) const;

  private:
    std::map<std::string, CPLStringList> own_, merged_;
};

/* The default domain has no name. */
inline bool is_default_domain(const char *domain) {
    return domain == nullptr || domain[0] == '\0';
}

/* False for names that lists of NAME=VALUE cannot hold. */
inline bool can_name_item(const std::string &name) {
    return name.find('=') == std::string::npos;
}

/* True if an attribute of this name can be a metadata item: one for which GDAL has no better place,
   and without a "=". */
bool is_item_name(const std::string &name);

/* True if this attribute of a node is shown as a metadata item. */
bool is_item(const zb_node *node, const zb_json *member);

/* Attributes as items of the domain, those left out that GDAL has a better place for. */
void add_attributes(const zb_node *node, const char *domain, MetadataDomains *metadata);

/* COMPRESSION, INTERLEAVE and the shape of shards, in IMAGE_STRUCTURE. */
void add_image_structure(const zb_array_info *info, const Layout &layout,
                         MetadataDomains *metadata);

/* A band's colour without an attribute that names it: red, green, blue, alpha for three or four
   interleaved bands of bytes, grey for a single band. */
GDALColorInterp default_colour(const zb_node *array, const Layout &layout, int band);

} // namespace zarr3

#endif
