/* SPDX-License-Identifier: MIT */
/*
 * Before a driver creates a raster, GDAL deletes the dataset that has its name, by that dataset's
 * driver. GDAL 3.10 spares directories; 3.13 does not, and the old store would be lost when the
 * copy that replaces it fails, or when the program is killed. So such a deletion is left to the
 * driver that creates: ours lets the stores change places at the end (destination.cpp), others
 * refuse a directory.
 *
 * GDAL does not tell its own deletions from a program's, but they take other steps: right after
 * GDAL has identified the name it asks for the function twice. A program's deletion asks once.
 */
#include "dataset/gdal_deletions.h"

namespace zarr3 {

namespace {
struct Steps {
    std::string identified;
    int asked = 0;
};
} // namespace

static thread_local Steps steps;

void note_identified(const char *name) {
    steps.identified = name;
    steps.asked = 0;
}

void note_asked_to_delete() {
    steps.asked++;
}

bool clears_the_way(const char *name) {
    const bool clears = steps.asked == 2 && steps.identified == name;
    steps = Steps();
    return clears;
}

} // namespace zarr3
