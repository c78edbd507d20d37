/* SPDX-License-Identifier: MIT */
/* One band: a plane of the array. */
#ifndef ZARR3_BAND_H
#define ZARR3_BAND_H

#include "dataset.h"

class Zarr3RasterBand final : public GDALPamRasterBand {
  public:
    Zarr3RasterBand(Zarr3Dataset *dataset, int number);

    double GetNoDataValue(int *success = nullptr) override;
    int64_t GetNoDataValueAsInt64(int *success = nullptr) override;
    uint64_t GetNoDataValueAsUInt64(int *success = nullptr) override;
    double GetScale(int *success = nullptr) override;
    double GetOffset(int *success = nullptr) override;
    const char *GetUnitType() override;
    GDALColorInterp GetColorInterpretation() override;
    const char *GetDescription() const override;
    zarr3::MetadataList GetMetadata(const char *domain = "") override;
    const char *GetMetadataItem(const char *name, const char *domain = "") override;
    int GetOverviewCount() override;
    GDALRasterBand *GetOverview(int index) override;

  protected:
    CPLErr IReadBlock(int x, int y, void *image) override;
    CPLErr IRasterIO(GDALRWFlag mode, int x, int y, int width, int height, void *data,
                     int buffer_width, int buffer_height, GDALDataType type, GSpacing pixel_space,
                     GSpacing line_space, GDALRasterIOExtraArg *extra) override;

  private:
    Zarr3Dataset *owner() const {
        return static_cast<Zarr3Dataset *>(poDS);
    }
    void find_position();

    std::string unit_;
    mutable std::optional<std::string> description_; /* found at the first question */
    bool positioned_ = false;
    zarr3::MetadataDomains metadata_;
};

#endif
