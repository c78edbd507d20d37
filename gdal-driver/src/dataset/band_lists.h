/* SPDX-License-Identifier: MIT */
/* Attributes of an array that list an item for each of its bands. */
#ifndef ZARR3_BAND_LISTS_H
#define ZARR3_BAND_LISTS_H

#include <map>
#include <string>
#include <vector>

#include "raster/layout.h"
#include "store/node.h"

namespace zarr3 {

class BandLists {
  public:
    /* The item of a band, of which `number` is the number among all of the array's bands; null
       without such a list. Valid as long as the node. */
    const zb_json *item(const NodePtr &array, const Layout &layout, const char *name,
                        uint64_t number);

  private:
    NodePtr array_; /* whose lists these are; a change of an attribute gives another node */
    std::map<std::string, std::vector<const zb_json *>> lists_;
};

} // namespace zarr3

#endif
