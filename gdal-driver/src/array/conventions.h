/* SPDX-License-Identifier: MIT */
/* The Zarr conventions that hold for a node, by the list `zarr_conventions`. */
#ifndef ZARR3_CONVENTIONS_H
#define ZARR3_CONVENTIONS_H

#include "array/nearby_nodes.h"

namespace zarr3 {

struct Convention {
    const char *uuid;
    const char *repository; /* of its specification; the older one has "geo-" before it */
};

extern const Convention kProj, kSpatial, kMultiscales;

/* True if the node, or a group above it, declares the convention. `around` may be those of any node
   of the same store. False for NULL. */
bool follows(const zb_node *node, const Convention &convention, NearbyNodes &around);

} // namespace zarr3

#endif
