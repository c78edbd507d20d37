/* SPDX-License-Identifier: MIT */
/* The arrays below a group, sorted by what a raster program can do with them. Only metadata are
 * read. */
#ifndef ZARR3_SUBDATASETS_H
#define ZARR3_SUBDATASETS_H

#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "dataset/node_dataset.h"
#include "store/node.h"

namespace zarr3 {

struct Listing {
    std::vector<NodePtr> rasters; /* two dimensions and more */
    std::vector<NodePtr> helpers; /* the same, but coordinates or bounds of other arrays */
    std::vector<NodePtr> small;   /* scalars and one dimension */
    std::vector<std::pair<std::string, std::string>> unreadable; /* path and reason */
    bool cut = false; /* there are more nodes than are looked at */
};

/* Looks through the group and the groups below it. Of a pyramid only the finest level is listed. */
enum zb_code list_arrays(const NodePtr &group, Listing *listing, zb_error *err);

/* SUBDATASETS for what was listed, `small` only on request, and the reasons for the rest in the
   domain ZARR3_UNREADABLE. */
void describe_listing(const Hierarchy &hierarchy, const Listing &listing, bool with_small,
                      MetadataDomains *metadata);

/* The domain ZARR3_UNREADABLE alone. */
void describe_unreadable(const Listing &listing, MetadataDomains *metadata);

/* SUBDATASETS for the slices of one array, at most kMaxBands, each with its place along the extra
   dimensions. False, with *reason set, when none of them can be a raster. */
bool describe_slices(const Hierarchy &hierarchy, const NodePtr &array, const ArrayOptions &options,
                     MetadataDomains *metadata, std::string *reason);

} // namespace zarr3

#endif
