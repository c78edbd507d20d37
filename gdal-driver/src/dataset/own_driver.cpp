/* SPDX-License-Identifier: MIT */
/*
 * Stores of version 2 belong to GDAL's own driver, as far as it decodes them: GDAL knows its
 * decompressors by the names that version 2 gives to codecs.
 */
#include "dataset/own_driver.h"

#include <algorithm>
#include <cstring>

#include "cpl_compressor.h"
#include "cpl_string.h"
#include "gdal_priv.h"
#include "store/location.h"

namespace zarr3 {

GDALDriver *own_driver() {
    GDALDriver *driver = GetGDALDriverManager()->GetDriverByName("Zarr");
    const auto *stand_in = dynamic_cast<const StandIn *>(driver);
    return stand_in != nullptr ? stand_in->own() : driver;
}

GDALDriver *driver_of_v2(const char *name, CSLConstList options) {
    const char *format = CSLFetchNameValue(options, "FORMAT");
    const bool is_v2 = format != nullptr && EQUAL(format, "ZARR_V2") && !has_prefix(name);
    return is_v2 ? own_driver() : nullptr;
}

static bool identifies(GDALDriver *driver, GDALOpenInfo *info) {
    return driver->pfnIdentify == nullptr || driver->pfnIdentify(info) != FALSE;
}

/* Null where the program names drivers, and not this one. */
static GDALDriver *allowed_own_driver(const GDALOpenInfo *info) {
    const bool allowed = info->papszAllowedDrivers == nullptr ||
                         CSLFindString(info->papszAllowedDrivers, "Zarr") >= 0;
    return allowed ? own_driver() : nullptr;
}

bool own_driver_knows(GDALOpenInfo *info) {
    GDALDriver *driver = allowed_own_driver(info);
    return driver != nullptr && kOwnDriverReadsReferences && identifies(driver, info);
}

bool has_own_driver(GDALOpenInfo *info) {
    GDALDriver *driver = allowed_own_driver(info);
    return driver != nullptr && (info->bIsDirectory || identifies(driver, info));
}

static bool decodes(const char *codec) {
    static constexpr char kPrefix[] = "numcodecs.";
    for (const char *plain : {"bytes", "transpose", "vlen-utf8"}) {
        if (strcmp(codec, plain) == 0)
            return true;
    }
    const bool prefixed = STARTS_WITH(codec, kPrefix);
    return CPLGetDecompressor(codec + (prefixed ? strlen(kPrefix) : 0)) != nullptr;
}

static bool decodes_array(const zb_array_info *info) {
    return std::all_of(info->codecs, info->codecs + info->codec_count,
                       [](const zb_codec_info &codec) { return decodes(codec.name); });
}

bool own_driver_decodes(const zb_node *node) {
    const zb_array_info *info = zb_node_array(node);
    if (info != nullptr)
        return decodes_array(info);
    Children children;
    if (children.list(node, nullptr) != ZB_OK)
        return true;
    return std::all_of(children.begin(), children.end(), [](const zb_child &child) {
        const zb_array_info *array = child.node != nullptr ? zb_node_array(child.node) : nullptr;
        return array == nullptr || decodes_array(array);
    });
}

} // namespace zarr3
