/* SPDX-License-Identifier: MIT */
#include "base/number_text.h"

#include "zarrbridge/conventions.h"

namespace zarr3 {

std::string number_text(double value) {
    char text[ZB_NUMBER_TEXT_SIZE];
    return zb_number_text(value, text);
}

} // namespace zarr3
