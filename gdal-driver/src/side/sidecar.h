/* SPDX-License-Identifier: MIT */
/* The sidecar file in which GDAL keeps side properties of stores that it may not change. */
#ifndef ZARR3_SIDECAR_H
#define ZARR3_SIDECAR_H

#include <string>

namespace zarr3 {

/* Both report a warning where the file cannot be changed: it would go on saying what the store does
   not say any more. */

/* Takes what is said of pixels that were, of an array and of its slices, out of a sidecar file. */
void take_statistics_out_of_sidecar(const std::string &file, const std::string &array);

/* Takes the properties of one subdataset out of a sidecar file, since the store has them. What else
   the file says stays; a file that then says nothing is deleted. */
void take_out_of_sidecar(const std::string &file, const std::string &subdataset);

} // namespace zarr3

#endif
