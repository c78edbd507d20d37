/* SPDX-License-Identifier: MIT */
/* Telling the deletions by which GDAL clears the way for a new raster from those of a program. */
#ifndef ZARR3_GDAL_DELETIONS_H
#define ZARR3_GDAL_DELETIONS_H

#include <string>

namespace zarr3 {

/* To be called for each name that is identified as ours, and each time that GDAL asks for the
   function that deletes. */
void note_identified(const char *name);
void note_asked_to_delete();

/* True if GDAL clears the way for a new raster of this name. To be called once for each
   deletion. */
bool clears_the_way(const char *name);

} // namespace zarr3

#endif
