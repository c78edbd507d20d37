/* SPDX-License-Identifier: MIT */
/* GDAL's own driver for Zarr, and what it reads. */
#ifndef ZARR3_OWN_DRIVER_H
#define ZARR3_OWN_DRIVER_H

#include <memory>

#include "base/compat.h"
#include "store/node.h"

namespace zarr3 {

/* A driver of this plugin under the name of GDAL's own, which it keeps; null where there is
   none. */
class StandIn : public GDALDriver {
  public:
    explicit StandIn(std::unique_ptr<GDALDriver> own) : own_(std::move(own)) {
    }
    GDALDriver *own() const {
        return own_.get();
    }

  private:
    std::unique_ptr<GDALDriver> own_;
};

/* GDAL's own driver, be it registered or kept; null where there is none. */
GDALDriver *own_driver();

/* It, where a program asks for version 2 by FORMAT=ZARR_V2, else null. */
GDALDriver *driver_of_v2(const char *name, CSLConstList options);

/* True if GDAL's own driver is there and may open this name. Of what is no directory, documents and
   names on a server, its versions know more and more. */
bool has_own_driver(GDALOpenInfo *info);

/* The same of directories, too, by that driver's own look at them. Before 3.11 it takes documents
   of references for stores, and opens none of these. */
bool own_driver_knows(GDALOpenInfo *info);

/* True if that driver decodes this array, or all arrays that are children of this group, as far as
   their codecs tell. */
bool own_driver_decodes(const zb_node *node);

} // namespace zarr3

#endif
