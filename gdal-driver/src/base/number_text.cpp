/* SPDX-License-Identifier: MIT */
#include "base/number_text.h"

#include "cpl_conv.h"
#include "cpl_string.h"

namespace zarr3 {

/* 15 digits show 0.1 as it was written, 17 always suffice. */
std::string number_text(double value) {
    std::string text;
    for (int digits = 15; digits <= 17; digits++) {
        text = CPLSPrintf("%.*g", digits, value);
        if (CPLAtof(text.c_str()) == value)
            break;
    }
    return text;
}

} // namespace zarr3
