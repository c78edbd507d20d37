/* SPDX-License-Identifier: MIT */
#include "create/multidim_copy.h"

#include "cpl_string.h"
#include "store/location.h"

namespace zarr3 {

bool is_multidimensional(GDALDataset *source) {
    return source->GetRasterCount() == 0 && source->GetRootGroup() != nullptr;
}

GDALDataset *copy_multidimensional(const char *name, GDALDataset *source, int strict,
                                   CSLConstList options, GDALProgressFunc progress,
                                   void *progress_data) {
    GDALDriver *own = GetGDALDriverManager()->GetDriverByName("Zarr");
    if (own == nullptr || has_prefix(name)) {
        CPLError(CE_Failure, CPLE_NotSupported,
                 "%s cannot be created: multidimensional datasets are copied by GDAL's own driver "
                 "Zarr, %s",
                 name, own == nullptr ? "which is not there" : "which takes plain paths");
        return nullptr;
    }
    /* The dataset enters GDAL's list of open ones when our own caller gets it. */
    CPLStringList all(CSLDuplicate(options), TRUE);
    all.SetNameValue("_INTERNAL_DATASET", "YES");
    return own->CreateCopy(name, source, strict, all.List(), progress, progress_data);
}

} // namespace zarr3
