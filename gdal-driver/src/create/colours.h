/* SPDX-License-Identifier: MIT */
/* The colours of bands, as the creation options PHOTOMETRIC and ALPHA name them. */
#ifndef ZARR3_COLOURS_H
#define ZARR3_COLOURS_H

#include "base/compat.h"
#include "options/creation_options.h"

namespace zarr3 {

/* Both do nothing without the options, and warn where there is no band for what they name. Bands
   behind the colours that PHOTOMETRIC names have none, but may be alpha. */

/* Of a raster without content. With ALPHA alone three or four bands of bytes become red, green and
   blue, too, as in a new GeoTIFF. */
void set_new_colours(GDALDataset *raster, const CreationOptions &options);

/* Of a copy, which has the colours of its source. ALPHA alone changes no band but those that are or
   become alpha. */
void change_copied_colours(GDALDataset *copy, const CreationOptions &options);

} // namespace zarr3

#endif
