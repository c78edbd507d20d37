/* SPDX-License-Identifier: MIT */
/* The colours of a new raster's bands, as the creation options PHOTOMETRIC and ALPHA name them. */
#ifndef ZARR3_COLOURS_H
#define ZARR3_COLOURS_H

#include "base/compat.h"
#include "options/creation_options.h"

namespace zarr3 {

/* Sets the colour interpretations that the options name, and leaves the others as they are. Warns
   where there are too few bands. */
void set_colours(GDALDataset *raster, const CreationOptions &options);

} // namespace zarr3

#endif
