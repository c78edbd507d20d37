/* SPDX-License-Identifier: MIT */
/* Standing in for GDAL's own driver under its name. */
#ifndef ZARR3_TAKE_OVER_H
#define ZARR3_TAKE_OVER_H

namespace zarr3 {

/* With the configuration option GDAL_ZARR3_TAKE_OVER=YES: registers a driver "Zarr" that is this
   one, and leaves to GDAL's own what only that can. False without the option. */
bool take_over();

} // namespace zarr3

#endif
