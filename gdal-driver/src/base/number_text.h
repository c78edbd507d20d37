/* SPDX-License-Identifier: MIT */
/* Numbers as people and JSON write them. */
#ifndef ZARR3_NUMBER_TEXT_H
#define ZARR3_NUMBER_TEXT_H

#include <string>

namespace zarr3 {

/* A number as text, with the fewest digits that read back as the same double. */
std::string number_text(double value);

} // namespace zarr3

#endif
