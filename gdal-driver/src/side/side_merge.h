/* SPDX-License-Identifier: MIT */
/*
 * Side properties (side_properties.h) that two programs have changed at once. Each stores what it
 * has changed itself, and leaves the rest as the store has it. Of one that both have changed, the
 * last one stored counts.
 *
 * One property is: the ground control points; of a band its colour table, its names of categories,
 * its attribute table, its histograms; an item of a metadata domain, or a domain that is one text.
 * Items that mean something only together are one property: the statistics of a band, and the
 * domains RPC and GEOLOCATION. Parts of two such sets would be a third one that is nobody's.
 */
#ifndef ZARR3_SIDE_MERGE_H
#define ZARR3_SIDE_MERGE_H

#include "side/xml.h"

namespace zarr3 {

/* Changes *stored by what has changed from `before` to `after`. Trees are <PAMDataset>, and may be
   null: without properties. False, and *stored is left alone, when nothing has changed. */
bool merge_side_properties(const CPLXMLNode *before, const CPLXMLNode *after, XmlTree *stored);

} // namespace zarr3

#endif
