/* SPDX-License-Identifier: MIT */
/*
 * Setters of a band whose dataset is open for update. A property that is set is kept here and noted
 * in the dataset's `edits`; dataset_update.cpp writes it into the array's attributes. Statistics
 * are side properties (dataset_pam.cpp).
 */
#include "array/attributes.h"
#include "base/name_values.h"
#include "dataset/band.h"
#include "dataset/pam_items.h"
#include "side/side_properties.h"

using namespace zarr3;

CPLErr Zarr3RasterBand::SetNoDataValue(double value) {
    if (!owner()->updates())
        return GDALPamRasterBand::SetNoDataValue(value);
    return owner()->set_nodata(nodata_from_double(value, pixel_dtype(owner()->node())),
                               CPLSPrintf("%.17g", value), nBand);
}

CPLErr Zarr3RasterBand::SetNoDataValueAsInt64(int64_t value) {
    if (!owner()->updates())
        return GDALPamRasterBand::SetNoDataValueAsInt64(value);
    return owner()->set_nodata(nodata_from_int64(value, pixel_dtype(owner()->node())),
                               std::to_string(value).c_str(), nBand);
}

CPLErr Zarr3RasterBand::SetNoDataValueAsUInt64(uint64_t value) {
    if (!owner()->updates())
        return GDALPamRasterBand::SetNoDataValueAsUInt64(value);
    return owner()->set_nodata(nodata_from_uint64(value, pixel_dtype(owner()->node())),
                               std::to_string(value).c_str(), nBand);
}

void Zarr3RasterBand::set_own_nodata(const NoData &nodata) {
    new_nodata_ = nodata;
    owner()->edits.band_nodata = true;
}

CPLErr Zarr3RasterBand::DeleteNoDataValue() {
    return owner()->updates() ? owner()->delete_nodata() : GDALPamRasterBand::DeleteNoDataValue();
}

CPLErr Zarr3RasterBand::SetScale(double value) {
    if (!owner()->updates())
        return GDALPamRasterBand::SetScale(value);
    if (!owner()->may_edit_bands())
        return CE_Failure;
    new_scale_ = value;
    owner()->edits.scales = true;
    return CE_None;
}

CPLErr Zarr3RasterBand::SetOffset(double value) {
    if (!owner()->updates())
        return GDALPamRasterBand::SetOffset(value);
    if (!owner()->may_edit_bands())
        return CE_Failure;
    new_offset_ = value;
    owner()->edits.scales = true;
    return CE_None;
}

CPLErr Zarr3RasterBand::SetUnitType(const char *unit) {
    if (!owner()->updates())
        return GDALPamRasterBand::SetUnitType(unit);
    if (!owner()->may_edit_bands())
        return CE_Failure;
    unit_ = unit == nullptr ? "" : unit;
    owner()->edits.units = true;
    return CE_None;
}

CPLErr Zarr3RasterBand::SetColorInterpretation(GDALColorInterp colour) {
    if (!owner()->updates())
        return GDALPamRasterBand::SetColorInterpretation(colour);
    if (!owner()->may_edit_bands())
        return CE_Failure;
    new_colour_ = colour;
    owner()->edits.colours = true;
    return CE_None;
}

void Zarr3RasterBand::SetDescription(const char *description) {
    if (!owner()->updates()) {
        GDALPamRasterBand::SetDescription(description);
        return;
    }
    if (!owner()->may_edit_bands())
        return;
    new_description_ = description;
    description_.reset();
    owner()->edits.descriptions = true;
}

/* The band's place along other dimensions is derived from the array, not stored with it. */
CPLErr Zarr3RasterBand::SetMetadata(MetadataList items, const char *domain) {
    if (!owner()->updates() || !is_default_domain(domain))
        return GDALPamRasterBand::SetMetadata(items, domain);
    CPLStringList own, statistics;
    for (const auto &[name, value] : name_values(items)) {
        if (is_statistic(name.c_str()))
            statistics.AddNameValue(name.c_str(), value.c_str());
        else if (item_value(position().List(), name.c_str()) == nullptr)
            own.AddNameValue(name.c_str(), value.c_str());
    }
    if (!own.empty() && !owner()->may_edit_bands())
        return CE_Failure;
    own_metadata_.emplace(own); /* "=" does not assign an empty list */
    shown_ = false;
    owner()->edits.band_metadata = true;
    if (!statistics.empty() && !owner()->keep_statistics())
        return CE_Failure;
    return GDALPamRasterBand::SetMetadata(statistics.List(), domain);
}

CPLErr Zarr3RasterBand::SetMetadataItem(const char *name, const char *value, const char *domain) {
    const bool statistic = is_default_domain(domain) && is_statistic(name);
    if (statistic && value != nullptr && !owner()->keep_statistics())
        return CE_Failure;
    const bool in_pam = is_default_domain(domain) && (statistic || !owner()->updates());
    if (is_own_domain(domain) || in_pam)
        return set_pam_item<GDALPamRasterBand>(this, name, value, domain);
    if (!is_default_domain(domain))
        return GDALPamRasterBand::SetMetadataItem(name, value, domain);
    if (item_value(position().List(), name) != nullptr)
        return CE_None;
    if (!owner()->may_edit_bands())
        return CE_Failure;
    own_metadata();
    set_item(&*own_metadata_, name, value);
    shown_ = false;
    owner()->edits.band_metadata = true;
    return drop_pam_item<GDALPamRasterBand>(this, name, domain);
}

CPLErr Zarr3RasterBand::SetDefaultHistogram(double low, double high, int buckets,
                                            GUIntBig *counts) {
    if (!owner()->keep_statistics())
        return CE_Failure;
    return GDALPamRasterBand::SetDefaultHistogram(low, high, buckets, counts);
}
