/* SPDX-License-Identifier: MIT */
/*
 * GDAL says of a directory that it is not recognized, whatever is in it. A name that is claimed
 * here is shown to no other driver, so that only those are that speak for Zarr.
 */
#include "dataset/wrong_names.h"

#include "dataset/own_driver.h"
#include "options/option_names.h"
#include "store/location.h"
#include "store/network.h"
#include "store/open_store.h"

#include "zarrbridge/conventions.h"

namespace zarr3 {

/* "zarr:https://..." is a name for HDF5 programs. In upper case it would be GDAL's own driver's. */
static bool is_for_hdf5(const char *name) {
    return STARTS_WITH(name, "zarr:") && zb_name_is_url(name + strlen("zarr:"));
}

bool is_wrong_name(GDALOpenInfo *info, zb_error *err) {
    const char *name = info->pszFilename;
    if (is_for_hdf5(name)) {
        zb_fail(err, ZB_EUNSUPPORTED,
                "zarr: stands before URLs in names for HDF5 programs: for GDAL, write %s",
                shown_name(name + strlen("zarr:")).c_str());
        return true;
    }
    if (has_prefix(name) || STARTS_WITH_CI(name, "ZARR:") || !is_on_disk(name) ||
        !zb_name_explain(name, err))
        return false;
    return !own_driver_knows(info);
}

/* GDAL's own options for all drivers, and those that it takes for itself. */
static bool is_for_all(const std::string &name) {
    return name[0] == '@' || EQUAL(name.c_str(), "OVERVIEW_LEVEL") ||
           EQUAL(name.c_str(), "NATIVE_DATA");
}

void check_open_options(GDALOpenInfo *info) {
    GDALDriver *driver = GetGDALDriverManager()->GetDriverByName("Zarr3");
    const char *declared =
        driver != nullptr ? driver->GetMetadataItem(GDAL_DMD_OPENOPTIONLIST) : nullptr;
    for (CSLConstList list = info->papszOpenOptions; declared && list != nullptr && *list; list++) {
        const std::string item = *list, name = item.substr(0, item.find_first_of("=:"));
        if (!is_for_all(name) && !declares_option(declared, name))
            tell_options("open", name, declared);
    }
}

} // namespace zarr3
